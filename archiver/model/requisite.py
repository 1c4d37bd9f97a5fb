"""Page requisites."""

from dataclasses import dataclass
from enum import StrEnum

from archiver.model.failure import Failure

FIRST_ERROR_STATUS = 400
"""Lowest HTTP status of an error (RFC 9110 §15.5)."""


class RequisiteKind(StrEnum):
    """Purpose of a requisite, which determines how it is fetched and replayed."""

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
    """Resource that a page needs, or that is fetched together with the page.

    Attributes:
        url: absolute http(s) URL of the resource, without fragment.
        kind: purpose of the resource.
        area: area of the resource on the page in CSS pixels; 0 if the markup does not state it.
        is_preview_image: whether it is an image for lists of entries only, which the page does not
            show. If such an image is missing, the quality score is not lowered.
    """

    url: str
    kind: RequisiteKind
    area: int = 0
    is_preview_image: bool = False


@dataclass(frozen=True, slots=True)
class RequisiteOutcome:
    """Result of fetching a requisite: the HTTP status, or the reason why there is none.

    ``area`` and ``is_preview_image`` are copied from the requisite.
    """

    url: str
    kind: RequisiteKind
    status: int | None = None
    failure: Failure | None = None
    area: int = 0
    is_preview_image: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether the resource could not be fetched, or the server returned an error."""
        if self.is_preview_image:
            return False
        return self.status is None or self.status >= FIRST_ERROR_STATUS
