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
        page: the archived page that came with the link, if any.
        is_broken: this is not a row, but a place where the file can't be read: links are missing.
    """

    annotation: Annotation
    problem: str = ""
    page: KeptPage | None = None
    is_broken: bool = False


def unreadable(given: str, problem: str) -> Bookmark:
    """Return a row that can't be used, as it stands in the file."""
    return Bookmark(Annotation(given[:500]), problem)


def broken(given: str, problem: str) -> Bookmark:
    """Return a place where links of a file can't be read, with the text it begins with."""
    return Bookmark(Annotation(given[:500]), problem, is_broken=True)
