"""Data derived from a page: metadata, article, outline and comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from archiver.model.capture import Timestamp
from archiver.model.rendering import QualitySignals
from archiver.model.requisite import Requisite

EXTRACTOR_VERSION = "27"
"""Version of the extractor, increased when its results change; stored with every conversion record.

Since version 10 ``Article.words`` excludes permalink symbols of headings and the names of
programming languages above code, and all authors are listed. Since version 20 the article's head is
separate from its text.
"""
MAX_DIGITS = 10
"""Extractor versions have fewer digits than this."""
UNREAD = ""
"""Extractor version of a snapshot with an article that is not extracted yet."""


def supersedes(extractor: str, other: str) -> bool:
    """Return whether an extractor version is newer than the version ``other``.

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
    """Metadata of a page; unknown values are empty.

    ``canonical`` is the canonical URL, if it differs from the URL of the page.
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
        html: sanitised HTML of the article with absolute URLs; empty if no article was found.
        head: sanitised HTML of the title heading and the lead image above the article.
        text: plain text of ``head`` and ``html``, one paragraph per line.
        extractor: version of the extractor; ``UNREAD`` if the article is not extracted yet.
        words: words of ``text`` in the form of the full-text index, separated by spaces.
        is_failed: whether the limits of time or memory ended the extraction.
    """

    metadata: PageMetadata = field(default_factory=PageMetadata)
    html: str = ""
    text: str = ""
    extractor: str = EXTRACTOR_VERSION
    words: str = ""
    head: str = ""
    is_failed: bool = False


@dataclass(frozen=True, slots=True)
class Charset:
    """Encoding with which a page is decoded, and encoding that it declares; empty if unknown."""

    used: str = ""
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Refresh:
    """Redirect by ``<meta http-equiv=refresh>`` or by a ``Refresh`` header field.

    Attributes:
        seconds: delay in seconds.
        url: absolute URL of the target.
        is_fallback: whether it is inside ``<noscript>``, so that it applies only without scripts.
    """

    seconds: int
    url: str
    is_fallback: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """Result of the analysis of a page that finds its requisites.

    Attributes:
        requisites: page requisites in document order, without duplicates.
        charset: encoding of the page.
        metadata: metadata of the page.
        needs_browser: whether the page is empty without JavaScript.
        may_need_browser: whether JavaScript may insert a part of the page.
        wall: vendor of the bot or consent wall that is shown instead of the page; else empty.
        parked: company that offers the domain for sale, if the domain is parked; else empty.
        feed: absolute URL of the first feed; empty if the page names none.
        icons: URLs that may be the favicon, best first.
        covers: URLs that may be the preview image, best first.
        appearance: properties of the page from which the quality score is computed.
        refresh: automatic redirect of the page; None if it has none.
    """

    requisites: tuple[Requisite, ...] = ()
    charset: Charset = field(default_factory=Charset)
    metadata: PageMetadata = field(default_factory=PageMetadata)
    needs_browser: bool = False
    may_need_browser: bool = False
    wall: str = ""
    parked: str = ""
    feed: str = ""
    icons: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    appearance: QualitySignals = field(default_factory=QualitySignals)
    refresh: Refresh | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading of an outline, with its id, text and depth; the outermost depth is 0."""

    id: str
    words: str
    depth: int


@dataclass(frozen=True, slots=True)
class Picture:
    """Media type and content of an image."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Chapter:
    """An article as a chapter of an export.

    Attributes:
        title: title from the user, else the title of the page, else the URL.
        url: URL of the entry.
        captured: time of the snapshot.
        html: sanitised HTML of the article with absolute URLs; empty if there is no article.
        byline, site, published, language: metadata of the page.
        note: note from the user.
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
    """Text of a comparison that contains a piece: the earlier, the later, or both."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece of text, and the side of the comparison that contains it."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Difference of two texts.

    Attributes:
        pieces: pieces of text in order, with one paragraph per line. Pieces of ``BOTH`` and
            ``BEFORE`` make up the earlier text, pieces of ``BOTH`` and ``AFTER`` the later text.
        added_words: number of added words.
        removed_words: number of removed words.
        words: number of words of the longer text.
        is_whole: whether both texts were compared up to their ends.
    """

    pieces: tuple[Piece, ...]
    added_words: int
    removed_words: int
    words: int
    is_whole: bool = True

    @property
    def is_same(self) -> bool:
        """Whether the texts are equal."""
        return all(each.side is Side.BOTH for each in self.pieces)
