"""Page requisites."""

from dataclasses import dataclass
from enum import StrEnum

from archiver.model.failure import Failure

FIRST_ERROR_STATUS = 400
"""Lowest HTTP status of an error (RFC 9110 §15.5)."""
REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
"""HTTP statuses of redirects (RFC 9110 §15.4)."""


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
    """Result of fetching a requisite.

    Attributes:
        status: HTTP status of the stored response; None if there is none.
        failure: why there is no response, or why replay can't show the one that is stored.
        area: as in the requisite.
        is_preview_image: as in the requisite.
    """

    url: str
    kind: RequisiteKind
    status: int | None = None
    failure: Failure | None = None
    area: int = 0
    is_preview_image: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether replay lacks the resource: no response, an error, or one that can't be shown."""
        if self.is_preview_image:
            return False
        return bool(self.failure) or self.status is None or self.status >= FIRST_ERROR_STATUS
