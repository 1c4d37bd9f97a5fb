"""A bookmark: one row of an import, before it is known whether its URL can be used."""

from dataclasses import dataclass

from archiver.model.annotation import Annotation


@dataclass(frozen=True, slots=True)
class Bookmark:
    """What a file says of one link.

    Attributes:
        annotation: ``url_given`` is the URL as it stood there.
        problem: why this row can't be read, in a sentence; empty if it can.
        page: HTML that was kept of it and came with the file; empty if none did.
    """

    annotation: Annotation
    problem: str = ""
    page: str = ""


def unreadable(given: str, problem: str) -> Bookmark:
    """A row that can't be read, as it stood there."""
    return Bookmark(Annotation(given[:500]), problem)
