"""A bookmark: one row of an import, before it is known whether its URL can be used."""

from dataclasses import dataclass

from archiver.model.annotation import Annotation
from archiver.model.kept_page import KeptPage


@dataclass(frozen=True, slots=True)
class Bookmark:
    """What a file says of one link.

    Attributes:
        annotation: ``url_given`` is the URL as it stood there.
        problem: why this row can't be read, in a sentence; empty if it can.
        page: what was kept of it and came with the file, if anything did.
    """

    annotation: Annotation
    problem: str = ""
    page: KeptPage | None = None


def unreadable(given: str, problem: str) -> Bookmark:
    """A row that can't be read, as it stood there."""
    return Bookmark(Annotation(given[:500]), problem)
