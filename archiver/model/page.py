"""Data derived from a page: metadata, article, outline and comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from archiver.model.capture import Timestamp
from archiver.model.rendering import QualitySignals
from archiver.model.requisite import Requisite

EXTRACTOR_VERSION = "23"
"""Version of the extractor, increased when its results change; stored with every conversion record.

Since version 10 words exclude symbols and language names, and all authors are listed. Since version
20 the article's head is separate from its text.
"""
MAX_DIGITS = 10
"""Maximum digits of an extractor version."""
UNREAD = ""
"""Extractor of a snapshot whose article is not extracted yet."""


def supersedes(extractor: str, other: str) -> bool:
    """Return whether an extractor version is newer than another one.

    Every version is newer than ``UNREAD``.
    """
    return _rank(extractor) > _rank(other)


def _rank(extractor: str) -> int:
    if extractor == UNREAD:
        return -1
    is_version = extractor.isascii() and extractor.isdecimal() and len(extractor) < MAX_DIGITS
    return int(extractor) if is_version else 0


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """Metadata of a page; empty strings if unknown.

    ``canonical`` is the canonical URL if it differs from the page's.
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
        metadata: metadata of the page.
        html: sanitised HTML of the article with absolute URLs; empty if none was found.
        head: sanitised HTML of the title heading and the lead image above the article.
        text: plain text of ``head`` and ``html``, one paragraph per line.
        extractor: version of the extractor; ``UNREAD`` if the article is not extracted yet.
        words: words of ``text`` as in the full-text index, separated by spaces.
    """

    metadata: PageMetadata = field(default_factory=PageMetadata)
    html: str = ""
    text: str = ""
    extractor: str = EXTRACTOR_VERSION
    words: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class Charset:
    """Encodings of a page: the one it is decoded with, and the declared one; empty if unknown."""

    used: str = ""
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Refresh:
    """Address that a page leads to by ``<meta http-equiv=refresh>`` or a ``Refresh`` field.

    Attributes:
        seconds: the delay.
        url: the absolute address.
        is_fallback: it is inside ``<noscript>``, so it applies only without scripts.
    """

    seconds: int
    url: str
    is_fallback: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """Result of the first pass over a page.

    Attributes:
        requisites: in document order, without duplicates.
        charset: the page's encoding.
        metadata: of the page.
        needs_browser: whether it is empty without JavaScript.
        wall: vendor of the bot or consent wall shown instead of the page; else empty.
        parked: seller of the domain, if it is parked; else empty.
        feed: absolute URL of its first feed; empty if none.
        icons: candidate URLs of the favicon, best first.
        covers: candidate URLs of the preview image, best first.
        appearance: signals for the quality score.
        refresh: the page's automatic redirect; None if it has none.
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
    refresh: Refresh | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: id, text, and depth; 0 is the outermost."""

    id: str
    words: str
    depth: int


@dataclass(frozen=True, slots=True)
class Picture:
    """An image: media type and bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Chapter:
    """An article as a chapter of an export.

    Attributes:
        title: user-supplied, else the page's, else the URL.
        url: of the entry.
        captured: when the snapshot was taken.
        html: sanitised, with absolute URLs; empty if there is no article.
        byline, site, published, language: metadata of the page.
        note: user-supplied.
        pictures: archived images by URL.
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
    """Which of two compared texts contains a piece."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text, and which of two texts contains it."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Difference of two texts.

    Attributes:
        pieces: pieces in order; those of ``BOTH`` and ``BEFORE`` are the earlier text, those of
            ``BOTH`` and ``AFTER`` the later one, with one paragraph per line.
        put_in: number of added words.
        taken_out: number of removed words.
        words: number of words of the longer text.
        is_whole: whether both texts were compared to their ends.
    """

    pieces: tuple[Piece, ...]
    put_in: int
    taken_out: int
    words: int
    is_whole: bool = True

    @property
    def is_same(self) -> bool:
        """Whether the texts are equal."""
        return all(each.side is Side.BOTH for each in self.pieces)
