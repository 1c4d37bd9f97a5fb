"""Results of rendering a page in a browser: hints, limits, screenshots and capture quality."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from archiver.model.capture import Location, RecordId
from archiver.model.message import Message


class Rendering(StrEnum):
    """How a snapshot's page came to what is read and searched; stored by these names."""

    NONE = ""
    """As it was sent: it has what it has without its scripts."""
    NEEDED = "needed"
    """As it was sent, but it is empty without its scripts, and nobody ran them."""
    DONE = "done"
    """As it stood once a browser had run its scripts."""


class RenderHint(StrEnum):
    """What a plain look at a page told of its host; stored by these names."""

    NONE = ""
    """Nothing that is worth keeping: most hosts never need a browser."""
    EMPTY = "empty"
    """It was empty without its scripts."""
    WALLED = "walled"
    """A wall stood in its place, which a browser came through."""
    WHOLE = "whole"
    """It was whole, at a host whose last page was not."""


class Limit(StrEnum):
    """What kept a browser from showing all of a page; stored by these names.

    Those from ``TIME`` on kept it from being read: it is kept as it was sent.
    """

    LOADING = "loading"
    RESTLESS = "restless"
    SCROLLING = "scrolling"
    REQUESTS = "requests"
    BYTES = "bytes"
    ANSWER = "answer"
    HEIGHT = "height"
    PICTURES = "pictures"
    TIME = "time"
    SIZE = "size"
    TAB = "tab"
    BROWSER = "browser"
    UNREADABLE = "unreadable"

    @property
    def sentence(self) -> Message:
        """A sentence about a page that met it."""
        return _SAID[self]


_SAID = {
    Limit.LOADING: Message("It was still loading when it was read."),
    Limit.RESTLESS: Message("It never came to rest: this is how it stood at one moment."),
    Limit.SCROLLING: Message("It still went on when the time for scrolling was over."),
    Limit.REQUESTS: Message("It asked for more things than are fetched for one page."),
    Limit.BYTES: Message("It loads more bytes than are fetched for one page."),
    Limit.ANSWER: Message("It asked for something that is larger than is fetched."),
    Limit.HEIGHT: Message("It is longer than a picture of it may be."),
    Limit.PICTURES: Message("There was no time to make all pictures of it."),
    Limit.TIME: Message("A browser had no more time for it before it could be read."),
    Limit.SIZE: Message("What its scripts made of it is larger than is kept of one page."),
    Limit.TAB: Message("Its tab in the browser ended, or was ended for the memory it took."),
    Limit.BROWSER: Message("The browser that showed it ended."),
    Limit.UNREADABLE: Message("It could not be read in the browser that showed it."),
}


def known_limits(names: Iterable[object]) -> tuple[Limit, ...]:
    """The limits of these names, each once; names of a later version are passed over.

    >>> known_limits(["time", "rhyme", "time"])
    (<Limit.TIME: 'time'>,)
    """
    every = {each.value: each for each in Limit}
    found = (every.get(name) for name in names if isinstance(name, str))
    return tuple(dict.fromkeys(each for each in found if each))


class RenditionKind(StrEnum):
    """What a likeness shows; stored by these names."""

    PAGE = "page"
    """The page as it stood, as HTML that needs no scripts: what is replayed, read and searched."""
    PICTURE = "picture"
    """All of it, as an image."""
    THUMBNAIL = "thumbnail"
    PRINT = "print"
    """As a PDF."""
    ICON = "icon"
    """The icon of its site, small."""
    COVER = "cover"
    """The picture that it names as its own, small."""


PAGE_TYPE = "text/html; charset=utf-8"
"""Of a page as it stood, as its record states it."""
MEDIA_TYPES: Mapping[RenditionKind, frozenset[str]] = {
    RenditionKind.PAGE: frozenset({"text/html"}),
    RenditionKind.PICTURE: frozenset({"image/webp", "image/jpeg"}),
    RenditionKind.THUMBNAIL: frozenset({"image/webp", "image/jpeg"}),
    RenditionKind.PRINT: frozenset({"application/pdf"}),
    RenditionKind.ICON: frozenset({"image/webp", "image/svg+xml"}),
    RenditionKind.COVER: frozenset({"image/webp"}),
}
"""What each kind may be: a file of somebody else may say anything."""
DRAWN = frozenset({RenditionKind.ICON, RenditionKind.COVER})
"""Made small of what is kept, whenever that is read."""
PREVIEW_KINDS = (RenditionKind.ICON, RenditionKind.COVER, RenditionKind.THUMBNAIL)
"""What lists show a page by; each is asked for by what it holds."""
DIGEST_DIGITS = 32
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class NewRendition:
    """A likeness that was made just now."""

    kind: RenditionKind
    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """What an emblem is asked for by: half of its SHA-256, in hex; empty for what is none."""
        if self.kind not in PREVIEW_KINDS:
            return ""
        return hashlib.sha256(self.content).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True)
class RenditionRef:
    """A likeness whose record is named; ``digest`` as of ``NewRendition``, empty if unknown."""

    kind: RenditionKind
    media_type: str
    record_id: RecordId
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Rendition:
    """A likeness in the archive.

    Attributes:
        kind: what it shows.
        media_type: of its record's block.
        location: of that record.
        digest: what it is asked for by, if it is an emblem.
    """

    kind: RenditionKind
    media_type: str
    location: Location
    digest: str = ""


@dataclass(frozen=True, slots=True)
class PreviewImages:
    """What a list shows a page by: the digests of an icon and of a picture.

    Each is empty where there is none.
    """

    icon: str = ""
    cover: str = ""


NO_PREVIEW_IMAGES = PreviewImages()


def is_digest(given: str) -> bool:
    """Whether that is the digest of an emblem."""
    return len(given) == DIGEST_DIGITS and set(given) <= _HEX


def renditions_of(
    named: Sequence[RenditionRef], places: Mapping[RecordId, Location]
) -> tuple[Rendition, ...]:
    """Those of the likenesses that are named whose records' places are known, one of a kind."""
    found = {
        each.kind: Rendition(each.kind, each.media_type, places[each.record_id], each.digest)
        for each in reversed(named)
        if each.record_id in places
    }
    return tuple(reversed(found.values()))


WHOLE = 100
"""The best score: a score is counted in hundredths."""


@dataclass(frozen=True, slots=True)
class QualitySignals:
    """What tells how whole a page is, beside its requisites.

    Attributes:
        readable: characters that can be read, counted up to 600; None where it is no HTML page.
        source: characters of its source.
        is_error: whether it says that it is an error, whatever its status.
        is_cut: whether it broke off before its end.
        picture: how much of it looks without scripts as in the browser that showed it, in
            hundredths; None where none did, or nobody compared.
        words: how many of its words stand there without scripts, the same way.
        limits: what kept a browser from showing all of it.
    """

    readable: int | None = None
    source: int = 0
    is_error: bool = False
    is_cut: bool = False
    picture: int | None = None
    words: int | None = None
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a snapshot is not whole: a sentence, and what that costs, in hundredths."""

    message: Message
    cost: int

    @property
    def sentence(self) -> str:
        """The sentence in English."""
        return str(self.message)


@dataclass(frozen=True, slots=True)
class Score:
    """How well a page was kept: in percent, and what it lacks to be whole."""

    hundredths: int
    reasons: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        return f"{self.hundredths}%"
