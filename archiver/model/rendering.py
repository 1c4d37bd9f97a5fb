"""Results of rendering a page in a browser: limits, screenshots and capture quality."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from archiver.model.capture import Location, RecordId
from archiver.model.message import Message


class Rendering(StrEnum):
    """Rendering state of a stored page. Values are stored; do not change them."""

    NONE = ""
    """Stored as received; the page needs no scripts."""
    NEEDED = "needed"
    """Stored as received, but the page is empty without its scripts, which were not run."""
    DONE = "done"
    """Stored after its scripts ran in a browser."""


class Limit(StrEnum):
    """Reason why a page is not complete. Values are stored; do not change them.

    ``ARTICLE`` concerns the article; the others are reasons why a browser did not render the whole
    page.
    ``TIME`` and all later members mean that rendering failed, and the page is stored as received.
    """

    LOADING = "loading"
    RESTLESS = "restless"
    SCROLLING = "scrolling"
    REQUESTS = "requests"
    BYTES = "bytes"
    ANSWER = "answer"
    HEIGHT = "height"
    PICTURES = "pictures"
    ARTICLE = "article"
    TIME = "time"
    SIZE = "size"
    TAB = "tab"
    BROWSER = "browser"
    UNREADABLE = "unreadable"

    @property
    def sentence(self) -> Message:
        """Sentence for a page that hit this limit."""
        return _SENTENCES[self]


_SENTENCES = {
    Limit.LOADING: Message("The page was still loading when it was saved."),
    Limit.RESTLESS: Message("The page kept changing, so only one moment of it was saved."),
    Limit.SCROLLING: Message(
        "The page was still loading more content when the time limit for scrolling was reached."
    ),
    Limit.REQUESTS: Message("The page requested more files than the limit allows."),
    Limit.BYTES: Message("The page loaded more data than the limit allows."),
    Limit.ANSWER: Message("The page requested a file that is too large."),
    Limit.HEIGHT: Message("The page is too long for one screenshot."),
    Limit.PICTURES: Message("There was not enough time to take all screenshots."),
    Limit.ARTICLE: Message("The article could not be extracted within the time and memory limits."),
    Limit.TIME: Message("The browser ran out of time before the page could be saved."),
    Limit.SIZE: Message("The page was too large after its scripts had run."),
    Limit.TAB: Message("The browser tab crashed, or was closed because it used too much memory."),
    Limit.BROWSER: Message("The browser quit unexpectedly."),
    Limit.UNREADABLE: Message("The page could not be read from the browser."),
}


def known_limits(names: Iterable[object]) -> tuple[Limit, ...]:
    """Parse names of limits without duplicates; names from later versions are ignored.

    >>> known_limits(["time", "rhyme", "time"])
    (<Limit.TIME: 'time'>,)
    """
    every = {each.value: each for each in Limit}
    limits = (every.get(name) for name in names if isinstance(name, str))
    return tuple(dict.fromkeys(each for each in limits if each))


class RenditionKind(StrEnum):
    """Type of a rendition. Values are stored; do not change them."""

    PAGE = "page"
    """Rendered page as HTML without scripts, used for replay, article extraction and search."""
    PICTURE = "picture"
    """Full-page screenshot."""
    THUMBNAIL = "thumbnail"
    PRINT = "print"
    """PDF of the page."""
    ICON = "icon"
    """Small favicon of the site."""
    COVER = "cover"
    """Small preview image that the page declares."""


PAGE_TYPE = "text/html; charset=utf-8"
"""Content-Type of a rendered page's record."""
MEDIA_TYPES: Mapping[RenditionKind, frozenset[str]] = {
    RenditionKind.PAGE: frozenset({"text/html"}),
    RenditionKind.PICTURE: frozenset({"image/webp", "image/jpeg"}),
    RenditionKind.THUMBNAIL: frozenset({"image/webp", "image/jpeg"}),
    RenditionKind.PRINT: frozenset({"application/pdf"}),
    RenditionKind.ICON: frozenset({"image/webp", "image/svg+xml"}),
    RenditionKind.COVER: frozenset({"image/webp"}),
}
"""Allowed media types of each kind; imported records may declare any other media type."""
DERIVED_KINDS = frozenset({RenditionKind.ICON, RenditionKind.COVER})
"""Kinds that are made from stored images during article extraction."""
PREVIEW_KINDS = (RenditionKind.ICON, RenditionKind.COVER, RenditionKind.THUMBNAIL)
"""Kinds that are shown in lists; their URLs contain the digest."""
DIGEST_DIGITS = 32
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class NewRendition:
    """Rendition of a page, such as a screenshot, that is not stored yet."""

    kind: RenditionKind
    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """Identifier in the URLs of preview images; empty for other kinds.

        The identifier is the first half of the SHA-256 in hex.
        """
        if self.kind not in PREVIEW_KINDS:
            return ""
        return hashlib.sha256(self.content).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True)
class RenditionRef:
    """Reference to a rendition in a snapshot record; ``digest`` is that of ``NewRendition``."""

    kind: RenditionKind
    media_type: str
    record_id: RecordId
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Rendition:
    """Stored rendition of a page.

    Attributes:
        kind: type of the rendition.
        media_type: media type of the rendition.
        location: location of the rendition's record.
        digest: identifier in the URLs of preview images; empty for other kinds.
    """

    kind: RenditionKind
    media_type: str
    location: Location
    digest: str = ""


@dataclass(frozen=True, slots=True)
class PreviewImages:
    """Digests of the favicon and preview image of an entry; empty if none."""

    icon: str = ""
    cover: str = ""


NO_PREVIEW_IMAGES = PreviewImages()


def is_digest(text: str) -> bool:
    """Return whether ``text`` is a well-formed digest of a preview."""
    return len(text) == DIGEST_DIGITS and set(text) <= _HEX


def renditions_of(
    named: Sequence[RenditionRef], places: Mapping[RecordId, Location]
) -> tuple[Rendition, ...]:
    """Return the first rendition of each kind whose record has a known location."""
    by_kind = {
        each.kind: Rendition(each.kind, each.media_type, places[each.record_id], each.digest)
        for each in reversed(named)
        if each.record_id in places
    }
    return tuple(reversed(by_kind.values()))


WHOLE = 100
"""Best quality score, in percent."""


@dataclass(frozen=True, slots=True)
class QualitySignals:
    """Measurements for the quality score of a page; its requisites are counted separately.

    Attributes:
        readable: number of readable characters, counted up to 600; None if the page is not HTML.
        source: number of characters of the page's source.
        is_error: whether the page looks like an error page, regardless of its HTTP status.
        is_cut: whether the page is truncated.
        picture: similarity of screenshots without and with scripts, in percent; None if they were
            not compared.
        words: share of the page's words that are present without scripts, in percent; None if not
            compared.
        limits: limits that kept a browser from rendering all of the page.
    """

    readable: int | None = None
    source: int = 0
    is_error: bool = False
    is_cut: bool = False
    picture: int | None = None
    words: int | None = None
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Deduction:
    """Reason why a snapshot is incomplete, and by how many percent it lowers the score."""

    message: Message
    cost: int

    @property
    def sentence(self) -> str:
        """The sentence in English."""
        return str(self.message)


@dataclass(frozen=True, slots=True)
class Score:
    """Quality score of a snapshot in percent, and the reasons for a score below 100."""

    hundredths: int
    reasons: tuple[Deduction, ...] = ()

    def __str__(self) -> str:
        return f"{self.hundredths}%"
