"""What a list shows of each entry, in as many queries as there are kinds of things."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from archiver.finishing import both
from archiver.index import documents, likenesses
from archiver.index.database import AsyncConnection
from archiver.index.snapshots import ListedSnapshot
from archiver.model.capture import Timestamp
from archiver.model.entry import Entry
from archiver.model.likeness import NO_EMBLEMS, Emblems
from archiver.model.page import PageMetadata
from archiver.query.snippet import Marked


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry in a list.

    Attributes:
        entry: itself.
        excerpt: the stretch of its text where the words were found.
        page: what its newest snapshot says of itself.
        word_count: of its article; 0 where that was not read.
        found_at: the earlier snapshot that the excerpt is of; None if it is of the newest.
        emblems: the icon and the picture that it is recognised by.
    """

    entry: Entry
    excerpt: tuple[Marked, ...] = ()
    page: PageMetadata = field(default_factory=PageMetadata)
    word_count: int = 0
    found_at: Timestamp | None = None
    emblems: Emblems = NO_EMBLEMS


async def shown_of(
    conn: AsyncConnection, known: Mapping[int, Entry], newest: Mapping[int, ListedSnapshot]
) -> dict[int, ListedEntry]:
    """What a list shows of these entries, by row id.

    Args:
        conn: a connection.
        known: the entries.
        newest: what is told of their newest snapshots, of those that have one.
    """
    counts, drawn = await both(
        documents.word_counts(conn, [*known]),
        likenesses.emblems_of(conn, [each.row_id for each in newest.values()]),
    )
    found = {}
    for row, entry in known.items():
        snapshot = newest.get(row)
        found[row] = ListedEntry(
            entry,
            page=snapshot.page if snapshot else PageMetadata(),
            word_count=counts.get(row, 0),
            emblems=drawn.get(snapshot.row_id, NO_EMBLEMS) if snapshot else NO_EMBLEMS,
        )
    return found
