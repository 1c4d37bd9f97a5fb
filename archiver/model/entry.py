"""Entries and snapshots."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, HashUrl, Location, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import State
from archiver.model.page import PageMetadata
from archiver.model.rendering import Limit, Rendering


@dataclass(frozen=True, slots=True)
class Entry:
    """Saved link with its metadata and the state of its captures.

    Attributes:
        hash_url: hash of the URL, which identifies the entry.
        url: serialised URL that is hashed; a fragment is kept only if it is a route (see
            ``http.urls``).
        host: host of the URL, with the port unless it is the default port.
        annotation: user metadata; its tags are sorted.
        title: title from the user, else from the page, else empty.
        state: state of the newest job.
        failure: failure of the last attempt; None if it succeeded.
        latest: timestamp of the newest snapshot; None if there is none.
        snapshot_count: number of snapshots.
        status: HTTP status of the newest snapshot.
        media_type: media type of the newest snapshot.
        rendering: whether the newest snapshot was, or should be, rendered in a browser.
        score: quality of the newest snapshot in percent; None if not computed yet.
        sorted_at: sort key of the order *captured* (aware, UTC): time of the last capture, or of
            saving if the entry was never captured. Comparisons of entries ignore it.
    """

    hash_url: HashUrl
    url: str
    host: str
    annotation: Annotation
    title: str
    state: State
    failure: Failure | None = None
    latest: Timestamp | None = None
    snapshot_count: int = 0
    status: int | None = None
    media_type: str = ""
    rendering: Rendering = Rendering.NONE
    score: int | None = None
    sorted_at: datetime = field(default=datetime.fromtimestamp(0, UTC), compare=False)

    @property
    def changed_at(self) -> datetime:
        """Time of the last capture, or of saving if there is none (aware, UTC)."""
        if self.latest is None:
            return self.annotation.saved_at
        return datetime.strptime(self.latest, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(PageMetadata):
    """Page of an entry as captured at one time, with the metadata of the page.

    Attributes:
        hash_url: identifier of the entry.
        timestamp: time when the entry's URL was requested.
        url: URL of the entry.
        final_url: URL of the page, after redirects.
        capture: capture of the final response.
        article: location of the conversion record with the article; None if there is no article.
        requisite_count: number of requisites.
        missing_count: number of requisites that could not be fetched.
        extractor: version of the extractor that made the article.
        rendering: whether a browser rendered the page, or should have rendered it.
        score: quality in percent; None if not computed yet.
        limits: reasons why a browser did not render all of the page.
    """

    hash_url: HashUrl
    timestamp: Timestamp
    url: str
    final_url: str
    capture: Capture
    article: Location | None = None
    requisite_count: int = 0
    missing_count: int = 0
    extractor: str = ""
    rendering: Rendering = Rendering.NONE
    score: int | None = None
    limits: tuple[Limit, ...] = ()

    @property
    def metadata(self) -> PageMetadata:
        """Metadata of the page."""
        return PageMetadata(*(getattr(self, each.name) for each in fields(PageMetadata)))


@dataclass(frozen=True, slots=True)
class ExportedEntry:
    """Entry with all its snapshots, newest first."""

    entry: Entry
    snapshots: tuple[Snapshot, ...] = ()
