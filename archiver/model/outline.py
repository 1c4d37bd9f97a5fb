"""The headings of an article."""

from archiver.values import frozen


@frozen
class Heading:
    """A heading: its id, its words, and how deep it stands, 0 for the outermost there are."""

    id: str
    words: str
    depth: int
