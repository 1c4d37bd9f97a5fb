"""A seed read from a list of links: what a person wants kept, and what they said about it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One row of an import, before it is known whether its URL can be used.

    Attributes:
        url: as it stood in the file.
        title: the person's or the exporter's title; empty when there is none.
        tags: folders and tags, in order, without duplicates.
        note: free text; empty when there is none.
        added_at: when the person saved it (aware, UTC), if the file says.
    """

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    added_at: datetime | None = None
