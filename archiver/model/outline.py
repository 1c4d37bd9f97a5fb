"""The headings of an article."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its id, its words, and how deep it stands, 0 for the outermost there are."""

    id: str
    words: str
    depth: int
