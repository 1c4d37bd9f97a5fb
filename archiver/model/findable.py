"""What an entry is found by: its words, as the index keeps them, and what it is."""

from dataclasses import dataclass

from archiver.model.kind import Kind

MOST_EARLIER = 8
"""Snapshots before the newest whose words are found."""


@dataclass(frozen=True, slots=True)
class Findable:
    """A document of the search index. ``query.findable`` makes it, so that queries find it.

    Attributes:
        title, url, note, tags, by, text: words, separated by single spaces.
        keys: one word for each thing that it is: of a site, with a tag, of a kind, in a language.
        word_count: of the text.
        language: as BCP 47 has it, lower case; empty if unknown.
        published: when the page says it is from, in Unix seconds; None if unknown.
        kind: what it is; empty if there is nothing yet.
        revision: of the annotation that its note and tags are from.
    """

    title: str = ""
    url: str = ""
    note: str = ""
    tags: str = ""
    by: str = ""
    text: str = ""
    keys: str = ""
    word_count: int = 0
    language: str = ""
    published: int | None = None
    kind: Kind | str = ""
    revision: int = 0
