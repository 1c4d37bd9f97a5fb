"""Entries and references to them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, HashUrl, Location, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import State
from archiver.model.page import PageMetadata
from archiver.model.rendering import Limit, Rendering


@dataclass(frozen=True, slots=True)
class Entry:
    """One link.

    Attributes:
        hash_url: its name everywhere.
        url: serialised, without fragment: what is hashed and fetched.
        host: of the URL, with the port if it is not the scheme's.
        annotation: what the person says of it; its tags are sorted.
        title: the person's title, else the page's, else empty.
        state: of its latest job.
        failure: of its latest attempt, if that failed.
        latest: timestamp of its newest snapshot, if there is one.
        snapshot_count: how many snapshots it has.
        status: HTTP status of the newest snapshot.
        media_type: of the newest snapshot.
        rendering: whether a browser showed the newest snapshot, or should have.
        score: how well that was kept, in percent; None as long as nobody has worked it out.
        sorted_at: what *captured last first* has it by: when that was or, if it never was, when it
            was saved or handed in (aware, UTC); of no account where entries are compared.
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
        """When it was captured last, or saved if it was never captured (aware, UTC)."""
        if self.latest is None:
            return self.annotation.saved_at
        return datetime.strptime(self.latest, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One visit to an entry's URL that brought a page home.

    Attributes:
        hash_url: of its entry.
        timestamp: when the URL was requested.
        url: the entry's URL.
        final_url: after redirects.
        title: the page's own title; empty if it has none.
        byline, site, excerpt, language, published, canonical: what the page says of itself.
        capture: of the final response.
        article: the conversion record of its article, if it has one.
        requisite_count: how many requisites it was found to need.
        missing_count: how many of them could not be had.
        extractor: version of what read the article.
        rendering: whether a browser showed it, or should have.
        score: how well it was kept, in percent; None as long as nobody has worked it out.
        limits: what kept a browser from showing all of it.
    """

    hash_url: HashUrl
    timestamp: Timestamp
    url: str
    final_url: str
    title: str
    byline: str
    site: str
    excerpt: str
    language: str
    published: str
    capture: Capture
    article: Location | None = None
    requisite_count: int = 0
    missing_count: int = 0
    extractor: str = ""
    rendering: Rendering = Rendering.NONE
    score: int | None = None
    canonical: str = ""
    limits: tuple[Limit, ...] = ()

    @property
    def metadata(self) -> PageMetadata:
        """What the page says of itself."""
        return PageMetadata(
            title=self.title,
            byline=self.byline,
            site=self.site,
            excerpt=self.excerpt,
            language=self.language,
            published=self.published,
            canonical=self.canonical,
        )


@dataclass(frozen=True, slots=True)
class ExportedEntry:
    """One entry, and its snapshots, newest first."""

    entry: Entry
    snapshots: tuple[Snapshot, ...] = ()
