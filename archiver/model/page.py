"""Data derived from a page: metadata, article, outline and comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from archiver.model.capture import Timestamp
from archiver.model.rendering import QualitySignals
from archiver.model.requisite import Requisite

EXTRACTOR_VERSION = "21"
"""Raised when the same bytes would give another article; kept with every conversion record.

10 takes signs and names of languages for none of an article's words, and names all its authors.
20 tells the head of an article from its text.
"""
MOST_DIGITS = 10
"""Of the version of an extractor."""
UNREAD = ""
"""The extractor of a snapshot whose article was left for later."""


def supersedes(extractor: str, other: str) -> bool:
    """Whether what one extractor read holds in the place of what another did, by their versions.

    Whatever was read holds in the place of what was left for later.
    """
    return _rank(extractor) > _rank(other)


def _rank(extractor: str) -> int:
    if extractor == UNREAD:
        return -1
    is_version = extractor.isascii() and extractor.isdecimal() and len(extractor) < MOST_DIGITS
    return int(extractor) if is_version else 0


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """What a page says of itself; empty strings where it says nothing.

    ``canonical`` is the address that it names as its own, where that is another.
    """

    title: str = ""
    byline: str = ""
    site: str = ""
    excerpt: str = ""
    language: str = ""
    published: str = ""
    canonical: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """The article of a page.

    Attributes:
        metadata: what the page says of itself.
        html: sanitised HTML with absolute URLs, no document around it; empty if none was found.
        head: likewise, what stands above it: the heading that says the title, the picture that
            leads into it.
        text: the plain text of both, paragraphs separated by newlines.
        extractor: version of what read it; ``UNREAD`` where it was left for later.
        words: of its text, as the search index keeps them, separated by spaces.
    """

    metadata: PageMetadata = field(default_factory=PageMetadata)
    html: str = ""
    text: str = ""
    extractor: str = EXTRACTOR_VERSION
    words: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class Charset:
    """A page's encoding: the one it was read in, and the one it declared; empty where unknown."""

    used: str = ""
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What the first look at a page gives.

    Attributes:
        requisites: in document order, each once.
        charset: the page's encoding.
        metadata: what it says of itself.
        needs_browser: whether it is empty until its scripts have run.
        wall: whose wall it is, where it is one that stands in the page's place.
        parked: who sells the domain, where it is an offer of that.
        feed: the first feed that it names, absolute; empty if it names none.
        icons: where the icon of its site may be, the best first.
        covers: where the picture may be that it names as its own, the best first.
        appearance: what tells how whole it is.
    """

    requisites: tuple[Requisite, ...] = ()
    charset: Charset = field(default_factory=Charset)
    metadata: PageMetadata = field(default_factory=PageMetadata)
    needs_browser: bool = False
    wall: str = ""
    parked: str = ""
    feed: str = ""
    icons: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    appearance: QualitySignals = field(default_factory=QualitySignals)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its id, its words, and how deep it stands, 0 for the outermost there are."""

    id: str
    words: str
    depth: int


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: what it is, and its bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Chapter:
    """An article by itself.

    Attributes:
        title: the person's, else the page's, else the address.
        url: of the entry.
        captured: when the snapshot was taken.
        html: sanitised, with absolute URLs; empty where there is nothing to read.
        byline, site, published, language: what the page says of itself.
        note: the person's.
        pictures: by address, of those that the archive has.
    """

    title: str
    url: str
    captured: Timestamp | None
    html: str
    byline: str = ""
    site: str = ""
    published: str = ""
    language: str = ""
    note: str = ""
    pictures: Mapping[str, Picture] = field(default_factory=dict)


class Side(StrEnum):
    """Which of two texts a piece is of."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and which of two texts has it."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts held against each other.

    Attributes:
        pieces: in order; those of ``BOTH`` and ``BEFORE`` are the earlier text, paragraphs being
            lines.
        put_in, taken_out: how many words.
        words: how many words the longer text has.
        is_whole: whether all of both was compared.
    """

    pieces: tuple[Piece, ...]
    put_in: int
    taken_out: int
    words: int
    is_whole: bool = True

    @property
    def is_same(self) -> bool:
        """Whether the texts say the same."""
        return all(each.side is Side.BOTH for each in self.pieces)
