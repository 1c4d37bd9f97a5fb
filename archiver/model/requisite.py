"""Page requisites."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from archiver.model.failure import Failure

FIRST_ERROR_STATUS = 400
"""First status of errors (RFC 9110 §15.5)."""


class RequisiteKind(StrEnum):
    """Purpose of a requisite; decides how it is fetched and replayed."""

    STYLE = "style"
    IMAGE = "image"
    FONT = "font"
    ICON = "icon"
    FRAME = "frame"
    MEDIA = "media"
    PART = "part"
    """The next page of a multi-page article."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Requisite:
    """A page requisite: absolute http(s) URL without fragment, and its purpose.

    Attributes:
        url: of the resource.
        kind: its purpose.
        area: number of CSS pixels that it covers on the page, if the markup says so; else 0.
        is_preview_image: whether it is an image for entry lists that the page does not show. If it
            is missing, the quality score is not lowered.
    """

    url: str
    kind: RequisiteKind
    area: int = 0
    is_preview_image: bool = False


@dataclass(frozen=True, slots=True)
class RequisiteOutcome:
    """Result of fetching a requisite: its status, or why there is none.

    ``area`` and ``is_preview_image`` are as in the requisite.
    """

    url: str
    kind: RequisiteKind
    status: int | None = None
    failure: Failure | None = None
    area: int = 0
    is_preview_image: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether it could not be fetched, or the server answered with an error."""
        if self.is_preview_image:
            return False
        return self.status is None or self.status >= FIRST_ERROR_STATUS


def needed(outcomes: Iterable[RequisiteOutcome]) -> tuple[RequisiteOutcome, ...]:
    """Drop requisites that are only used as previews in lists."""
    return tuple(each for each in outcomes if not each.is_preview_image)
