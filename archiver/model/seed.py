"""Links on their way into the archive: bookmarks in files, seeds, and pages in files."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl

PLACE = "https://archiver.invalid/part/"
"""Base of URLs for parts that have none; the host can never exist (RFC 2606)."""


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
        content: bytes of the page, or of its article alone.
        media_type: of the content, with the charset for text.
        parts: requisites that came with it.
    """

    content: bytes
    media_type: str = "text/html; charset=utf-8"
    parts: tuple[ArchivedPart, ...] = ()

    @property
    def weight(self) -> int:
        """Total bytes."""
        return len(self.content) + sum(len(each.content) for each in self.parts)


def html_page(text: str) -> ArchivedPage | None:
    """Return a page of HTML without parts; None if it is empty."""
    return ArchivedPage(text.encode("utf-8", "replace")) if text else None


def part_url(content: bytes) -> str:
    """Return the URL for a part without one, derived from its bytes."""
    return PLACE + sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A link in an imported file.

    Attributes:
        annotation: ``url_given`` is the URL as in the file.
        problem: why this row can't be read, in a sentence; else empty.
        page: the archived page that came with the link, if any.
        is_broken: whether this is no row, but a position where the file can't be read.
    """

    annotation: Annotation
    problem: str = ""
    page: ArchivedPage | None = None
    is_broken: bool = False


def unreadable(given: str, problem: str) -> Bookmark:
    """Return a row that can't be imported, with its text in the file."""
    return Bookmark(Annotation(given[:500]), problem)


def broken(given: str, problem: str) -> Bookmark:
    """Return a position where the file can't be read, with the text there."""
    return Bookmark(Annotation(given[:500]), problem, is_broken=True)


@dataclass(frozen=True, slots=True)
class Seed:
    """A link to be queued.

    Attributes:
        hash_url: of ``url``.
        url: serialised, without fragment.
        host: of ``url``.
        annotation: user metadata; ``added_at`` is set.
    """

    hash_url: HashUrl
    url: str
    host: str
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class RevisedSeed:
    """Seed from a record.

    Attributes:
        seed: the seed.
        revision: revision of its annotation.
        is_link: whether it was saved as a link that is not captured.
    """

    seed: Seed
    revision: int
    is_link: bool = False


class Reception(StrEnum):
    """Result of queueing a seed."""

    ADDED = "added"
    KNOWN = "known"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Received:
    """Result for a seed that was queued, with its open job, if any.

    ``ADDED`` means that an entry or a job was created, and ``KNOWN`` that the entry exists.
    ``MERGED`` means that the entry is queued already. In an import it means that the entry exists
    and the seed has new metadata, or that the seed is repeated.
    """

    hash_url: HashUrl
    url: str
    reception: Reception
    job_id: int | None


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A link with the archived page that a file contains.

    Attributes:
        seed: the link.
        page: its archived page.
        is_dated: whether the file says when the link was saved.
    """

    seed: Seed
    page: ArchivedPage
    is_dated: bool
