"""Links to add to the archive: bookmarks and archived pages of imported files, and seeds."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl

PART_BASE_URL = "https://archiver.invalid/part/"
"""Base of the URLs of requisites without a URL; the host can never exist (RFC 2606)."""


@dataclass(frozen=True, slots=True)
class ArchivedPart:
    """Requisite of an archived page in an imported file: URL, media type and bytes."""

    url: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """An archived page from a file.

    Attributes:
        content: bytes of the whole page, or only of its article.
        media_type: media type of ``content``, with the charset for text.
        parts: requisites of the page that the file contains.
    """

    content: bytes
    media_type: str = "text/html; charset=utf-8"
    parts: tuple[ArchivedPart, ...] = ()

    @property
    def weight(self) -> int:
        """Total size of the page and its requisites in bytes."""
        return len(self.content) + sum(len(each.content) for each in self.parts)


def html_page(text: str) -> ArchivedPage | None:
    """Return an HTML page without requisites; None if ``text`` is empty."""
    return ArchivedPage(text.encode("utf-8", "replace")) if text else None


def part_url(content: bytes) -> str:
    """Return the URL of a requisite without a URL, derived from a hash of its content."""
    return PART_BASE_URL + sha256(content).hexdigest()


@dataclass(slots=True)
class Bookmark:
    """A link in an imported file.

    Attributes:
        annotation: user metadata; ``url_given`` is the URL as written in the file.
        problem: why the link can't be imported, as a sentence; empty if it can.
        page: the archived page that the file contains for the link, if any.
        is_broken: whether this marks a position where the file can't be read, instead of a link.
    """

    annotation: Annotation
    problem: str = ""
    page: ArchivedPage | None = None
    is_broken: bool = False


def unreadable(text: str, problem: str) -> Bookmark:
    """Return a bookmark for a row that can't be imported; ``text`` is the text of the row."""
    return Bookmark(Annotation(text[:500]), problem)


def broken(text: str, problem: str) -> Bookmark:
    """Return a marker of a position where the file can't be read; ``text`` is the text there."""
    return Bookmark(Annotation(text[:500]), problem, is_broken=True)


@dataclass(slots=True)
class Seed:
    """A link to be queued.

    Attributes:
        hash_url: lower-case hex MD5 of ``url``, which identifies the entry.
        url: URL serialised as in browsers; a fragment is kept only if it is a route (see
            ``http.urls``).
        host: host of ``url``.
        annotation: user metadata; ``added_at`` is set.
    """

    hash_url: HashUrl
    url: str
    host: str
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class RevisedSeed:
    """Seed that is restored in an index.

    Attributes:
        seed: the seed.
        revision: revision number of the seed's annotation.
        is_link: whether the user saved only a link, which is not captured.
        generation: number of earlier deletions of the entry; None to count those in the
            index.
    """

    seed: Seed
    revision: int
    is_link: bool = False
    generation: int | None = None


class SaveOutcome(StrEnum):
    """Result of queueing a seed."""

    ADDED = "added"
    KNOWN = "known"
    MERGED = "merged"


@dataclass(slots=True)
class QueuedSeed:
    """Result of queueing one seed, with the id of its unfinished job, if any.

    ``ADDED``: an entry or a job was created. ``KNOWN``: the entry exists already.

    ``MERGED`` outside of an import: the entry is queued already. ``MERGED`` in an import: the
    existing entry gets new metadata from the seed, or the import contains the seed more than once.
    """

    hash_url: HashUrl
    url: str
    outcome: SaveOutcome
    job_id: int | None


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A link with the archived page that a file contains.

    Attributes:
        seed: the link.
        page: the archived page of the link.
        is_dated: whether the file contains the time when the link was saved.
    """

    seed: Seed
    page: ArchivedPage
    is_dated: bool
