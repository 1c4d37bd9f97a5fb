"""Likenesses: how a page looked in a browser, kept beside what was sent."""

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


PAGE_TYPE = "text/html; charset=utf-8"
"""Of a page as it stood, as its record states it."""
MEDIA_TYPES: Mapping[LikenessKind, frozenset[str]] = {
    LikenessKind.PAGE: frozenset({"text/html"}),
    LikenessKind.PICTURE: frozenset({"image/webp", "image/jpeg"}),
    LikenessKind.THUMBNAIL: frozenset({"image/webp", "image/jpeg"}),
    LikenessKind.PRINT: frozenset({"application/pdf"}),
}
"""What each kind may be: a file of somebody else may say anything."""


@dataclass(frozen=True, slots=True)
class NewLikeness:
    """A likeness that was made just now."""

    kind: LikenessKind
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class LikenessRef:
    """A likeness whose record is named."""

    kind: LikenessKind
    media_type: str
    record_id: RecordId


@dataclass(frozen=True, slots=True)
class Likeness:
    """A likeness in the archive.

    Attributes:
        kind: what it shows.
        media_type: of its record's block.
        location: of that record.
    """

    kind: LikenessKind
    media_type: str
    location: Location


def likenesses_of(
    named: Sequence[LikenessRef], places: Mapping[RecordId, Location]
) -> tuple[Likeness, ...]:
    """Those of the likenesses that are named whose records' places are known."""
    return tuple(
        Likeness(each.kind, each.media_type, places[each.record_id])
        for each in named
        if each.record_id in places
    )
