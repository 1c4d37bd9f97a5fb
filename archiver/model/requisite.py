"""Page requisites."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from archiver.model.failure import Failure

FIRST_ERROR_STATUS = 400
"""From here on a status says that there is nothing but an error (RFC 9110 §15.5)."""


class RequisiteKind(StrEnum):
    """What a reference is for; decides how it is fetched and replayed."""

    STYLE = "style"
    IMAGE = "image"
    FONT = "font"
    ICON = "icon"
    FRAME = "frame"
    MEDIA = "media"
    PART = "part"
    """The page that goes on with the article of this one."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Requisite:
    """One reference: an absolute http(s) URL without fragment, and what it is for.

    Attributes:
        url: where it leads.
        kind: what it is for.
        area: CSS pixels that it takes of the page, where the markup tells; else 0.
        is_emblem: lists show the page by it; where it can't be had, the page lacks nothing.
    """

    url: str
    kind: RequisiteKind
    area: int = 0
    is_emblem: bool = False


@dataclass(frozen=True, slots=True)
class RequisiteOutcome:
    """What became of a requisite in a snapshot: its status, or why there is none.

    ``area`` and ``is_emblem`` are as the page had them.
    """

    url: str
    kind: RequisiteKind
    status: int | None = None
    failure: Failure | None = None
    area: int = 0
    is_emblem: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether it could not be had, or the server had nothing but an error for it."""
        if self.is_emblem:
            return False
        return self.status is None or self.status >= FIRST_ERROR_STATUS


def needed(outcomes: Iterable[RequisiteOutcome]) -> tuple[RequisiteOutcome, ...]:
    """What a page itself needs of these, without what only lists show it by."""
    return tuple(each for each in outcomes if not each.is_emblem)
