"""Likenesses: how a page looked in a browser, and what it is recognised by, kept beside it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from archiver.model.capture import Location, RecordId


class LikenessKind(StrEnum):
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
MEDIA_TYPES: Mapping[LikenessKind, frozenset[str]] = {
    LikenessKind.PAGE: frozenset({"text/html"}),
    LikenessKind.PICTURE: frozenset({"image/webp", "image/jpeg"}),
    LikenessKind.THUMBNAIL: frozenset({"image/webp", "image/jpeg"}),
    LikenessKind.PRINT: frozenset({"application/pdf"}),
    LikenessKind.ICON: frozenset({"image/webp", "image/svg+xml"}),
    LikenessKind.COVER: frozenset({"image/webp"}),
}
"""What each kind may be: a file of somebody else may say anything."""
DRAWN = frozenset({LikenessKind.ICON, LikenessKind.COVER})
"""Made small of what is kept, whenever that is read."""
EMBLEMS = (LikenessKind.ICON, LikenessKind.COVER, LikenessKind.THUMBNAIL)
"""What lists show a page by; each is asked for by what it holds."""
DIGEST_DIGITS = 32
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class NewLikeness:
    """A likeness that was made just now."""

    kind: LikenessKind
    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """What an emblem is asked for by: half of its SHA-256, in hex; empty for what is none."""
        if self.kind not in EMBLEMS:
            return ""
        return hashlib.sha256(self.content).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True)
class LikenessRef:
    """A likeness whose record is named; ``digest`` as of ``NewLikeness``, empty if unknown."""

    kind: LikenessKind
    media_type: str
    record_id: RecordId
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A likeness in the archive.

    Attributes:
        kind: what it shows.
        media_type: of its record's block.
        location: of that record.
        digest: what it is asked for by, if it is an emblem.
    """

    kind: LikenessKind
    media_type: str
    location: Location
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Emblems:
    """What a list shows a page by: the digests of an icon and of a picture.

    Each is empty where there is none.
    """

    icon: str = ""
    cover: str = ""


NO_EMBLEMS = Emblems()


def is_digest(given: str) -> bool:
    """Whether that is the digest of an emblem."""
    return len(given) == DIGEST_DIGITS and set(given) <= _HEX


def likenesses_of(
    named: Sequence[LikenessRef], places: Mapping[RecordId, Location]
) -> tuple[Likeness, ...]:
    """Those of the likenesses that are named whose records' places are known, one of a kind."""
    found = {
        each.kind: Likeness(each.kind, each.media_type, places[each.record_id], each.digest)
        for each in reversed(named)
        if each.record_id in places
    }
    return tuple(reversed(found.values()))
