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
        is_broken: it is no row at all, but a place at which the file can't be read.
    """

    annotation: Annotation
    problem: str = ""
    page: KeptPage | None = None
    is_broken: bool = False


def unreadable(given: str, problem: str) -> Bookmark:
    """A row that can't be read, as it stood there."""
    return Bookmark(Annotation(given[:500]), problem)


def broken(given: str, problem: str) -> Bookmark:
    """A place at which a file can't be read, as it begins."""
    return Bookmark(Annotation(given[:500]), problem, is_broken=True)
