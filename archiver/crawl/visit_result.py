"""Values that make up a visit: fetched responses, and the result."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from archiver.http.cookies import VisitCookies
from archiver.http.urls import without_route
from archiver.model.capture import CaptureRef, HashUrl, RecordId, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import EntryRef, Lease
from archiver.model.page import Article, Charset
from archiver.model.rendering import NewRendition, QualitySignals, Rendering
from archiver.model.requisite import RequisiteOutcome
from archiver.pages.worker_messages import Document


def replay_urls(
    url: str, final_url: str, requisites: Iterable[RequisiteOutcome]
) -> tuple[str, ...]:
    """Return the URLs that a snapshot is replayed from: of the entry, the page and requisites.

    Args:
        url: URL of the entry.
        final_url: URL of the page, after redirects.
        requisites: outcomes of the page's requisites; those without a response are left out.
    """
    responses = (each.url for each in requisites if each.status is not None)
    return (without_route(url), final_url, *responses)


@dataclass(frozen=True, slots=True)
class UnwantedVisit:
    """Visit whose entry or snapshot was deleted, or whose lease was lost.

    Attributes:
        hash_url: hash_url of the entry.
        timestamp: timestamp of the unwanted snapshot.
        page: id of the page's record.
        needs: URLs that the snapshot would be replayed from.
        excluded_responses: record ids of partial responses (status 206) and responses to methods
            such as POST.
    """

    hash_url: HashUrl
    timestamp: Timestamp
    page: RecordId
    needs: tuple[str, ...]
    excluded_responses: tuple[RecordId, ...] = ()


@dataclass(slots=True)
class Visit:
    """Successful visit of a page.

    Attributes:
        timestamp: when the URL of the job was requested.
        at: the same time as a datetime (aware, UTC).
        page: capture of the final response.
        article: the extracted article.
        requisites: outcome of each requisite.
        charset: charset of the page.
        rendering: whether a browser rendered the page, or would have been needed for it.
        renditions: screenshots and other renderings.
        appearance: measurements of how complete the page is.
        excluded_responses: record ids of partial responses (status 206) and responses to methods
            such as POST.
    """

    timestamp: Timestamp
    at: datetime
    page: CaptureRef
    article: Article
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset = field(default_factory=Charset)
    rendering: Rendering = Rendering.NONE
    renditions: tuple[NewRendition, ...] = ()
    appearance: QualitySignals = field(default_factory=QualitySignals)
    excluded_responses: tuple[RecordId, ...] = ()


@dataclass(slots=True)
class VisitResult:
    """Result of one attempt: a visit, or a failure and possibly a retry time.

    Attributes:
        entry: the entry.
        at: time of the attempt (aware, UTC).
        visit: the visit, if it succeeded.
        failure: the failure, otherwise.
        retry_at: time of the next attempt (aware, UTC), if any.
        is_moved_to_end: whether the next attempt gets the priority ``queue.LAST``, because the host
            does not respond.
        lease: the job that ends or is postponed; None if there was no job.
    """

    entry: EntryRef
    at: datetime
    visit: Visit | None = None
    failure: Failure | None = None
    retry_at: datetime | None = None
    lease: Lease | None = None
    is_moved_to_end: bool = False


@dataclass(slots=True)
class FetchedResponse:
    """Response, fetched now or earlier.

    Attributes:
        ref: capture of the response.
        at: when the response was requested (aware, UTC).
        redirect_to: absolute URL that the response redirects to; None if it is no redirect.
        media_type: effective media type of the payload.
        charset: charset declared in the Content-Type, or empty.
        content: decoded payload if it can be parsed (HTML, CSS, text), else empty.
        retry_after: seconds that the server asked to wait; None if it did not.
        is_truncated: whether the connection closed before the end of the body.
        is_cut: whether the decompressed body is larger than replay shows.
        wall: the bot wall that the headers of the response declare, or empty.
        link_header: ``Link`` fields of the response, joined with commas.
        headers: (name, value) of the headers in order, names in lower case.
        initiators: hosts of the requests that led to the response, from the user's URL to its own;
            empty if it was fetched without user cookies.
        jar: the cookies set during the visit.
        route: fragment of the URL that a browser needs to show the page; empty if none.
    """

    ref: CaptureRef
    at: datetime
    redirect_to: str | None
    media_type: str
    charset: str
    content: bytes
    retry_after: float | None = None
    is_truncated: bool = False
    is_cut: bool = False
    wall: str = ""
    link_header: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    initiators: frozenset[str] = frozenset()
    jar: VisitCookies | None = None
    route: str = ""

    @property
    def address(self) -> str:
        """URL that a browser opens to show the page, with the route as its fragment."""
        return f"{self.ref.url}#{self.route}" if self.route else self.ref.url

    @property
    def document(self) -> Document:
        """Document for parsing and extraction."""
        return Document(self.content, self.media_type, self.charset, self.ref.url, self.link_header)
