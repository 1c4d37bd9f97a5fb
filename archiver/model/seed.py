"""Links on their way into the queue: bookmarks, seeds and the pages that came with them."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl

PLACE = "https://archiver.invalid/part/"
"""Where parts are that had no address of their own; nobody ever has that name (RFC 2606)."""


@dataclass(frozen=True, slots=True)
class ArchivedPart:
    """What a page needs: its address, what it is, and its bytes."""

    url: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page as it was kept.

    Attributes:
        content: its bytes, or those of its article alone.
        media_type: what they are; of text with its charset.
        parts: what the page needs and came with it.
    """

    content: bytes
    media_type: str = "text/html; charset=utf-8"
    parts: tuple[ArchivedPart, ...] = ()

    @property
    def weight(self) -> int:
        """Bytes of all of it."""
        return len(self.content) + sum(len(each.content) for each in self.parts)


def html_page(text: str) -> ArchivedPage | None:
    """A page of HTML without parts; None if it is empty."""
    return ArchivedPage(text.encode("utf-8", "replace")) if text else None


def part_url(content: bytes) -> str:
    """The address of a part that had none: named by its bytes."""
    return PLACE + sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Bookmark:
    """What a file says of one link.

    Attributes:
        annotation: ``url_given`` is the URL as it stood there.
        problem: why this row can't be read, in a sentence; empty if it can.
        page: the archived page that came with the link, if any.
        is_broken: this is not a row, but a place where the file can't be read: links are missing.
    """

    annotation: Annotation
    problem: str = ""
    page: ArchivedPage | None = None
    is_broken: bool = False


def unreadable(given: str, problem: str) -> Bookmark:
    """Return a row that can't be used, as it stands in the file."""
    return Bookmark(Annotation(given[:500]), problem)


def broken(given: str, problem: str) -> Bookmark:
    """Return a place where links of a file can't be read, with the text it begins with."""
    return Bookmark(Annotation(given[:500]), problem, is_broken=True)


@dataclass(frozen=True, slots=True)
class Seed:
    """What is put into the queue.

    Attributes:
        hash_url: of ``url``.
        url: serialised, without fragment.
        host: of ``url``.
        annotation: what the person says of it; it is known when that was.
    """

    hash_url: HashUrl
    url: str
    host: str
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class RevisedSeed:
    """A seed as a record holds it: how often its annotation had been changed by then.

    ``is_link``: it is kept as a link, which nobody is to capture.
    """

    seed: Seed
    revision: int
    is_link: bool = False


class Reception(StrEnum):
    """What became of a seed when it was put into the queue."""

    ADDED = "added"
    KNOWN = "known"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Received:
    """A seed that is safe: its job, where one is open, and how it was received.

    ``ADDED``: an entry or a job was made. ``KNOWN``: it was here. ``MERGED``: so it was, and waits
    already; of an import: and the seed says more than that, or comes again.
    """

    hash_url: HashUrl
    url: str
    reception: Reception
    job_id: int | None


@dataclass(frozen=True, slots=True)
class SavedPage:
    """What a file held of one link.

    Attributes:
        seed: the link.
        page: what was kept of it.
        is_dated: whether the file tells when the link was saved.
    """

    seed: Seed
    page: ArchivedPage
    is_dated: bool
