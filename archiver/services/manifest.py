"""What an export is to hold, fixed in the moment it begins: what happens later moves nothing of it.

A list is ordered by what happened last, so whoever walks it page by page while pages are saved
passes over those that jump to its front. So the rows are noted first, all within one transaction.
"""

from array import array
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from archiver.index import entries, segments, snapshots, tombstones, unrecorded
from archiver.index.database import AsyncConnection, Database
from archiver.model.capture import HashUrl
from archiver.model.listing import ListingQuery
from archiver.services.search import matching_entries

PAGE = 5000


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be exported.

    Attributes:
        query: as for a list; an empty one means everything.
        hash_url: one entry, whatever the query says.
    """

    query: ListingQuery = field(default_factory=ListingQuery)
    hash_url: HashUrl | None = None

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self.hash_url is None and self.query == ListingQuery()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an export holds.

    Attributes:
        selected: what was asked for.
        entries: row ids, in the order of the list; eight bytes each.
        beyond_records: those of them that no record among the exported tells of as they stand.
        last_snapshot: row id; what was added later is not of this export.
        segments: their names, and how many bytes of each were indexed.
        has_whole_segments: they are copied as they lie: nothing is left out, and nothing of what
            was thrown away is still in them.
    """

    selected: Selected
    entries: "array[int]"
    beyond_records: "array[int]"
    last_snapshot: int
    segments: Mapping[str, int]
    has_whole_segments: bool


async def draw_up(db: Database, selected: Selected) -> Manifest:
    """Note what is in the archive of what is asked for.

    Raises:
        InputError: the query is none.
    """
    rows, beyond_records = array("q"), array("q")
    async with db.read() as conn:
        whole = selected.is_everything and await tombstones.is_erased(conn)
        async for some in _entries(conn, selected):
            rows.extend(some)
            left_out = await unrecorded.beyond_records(conn, some, whole_segments=whole)
            beyond_records.extend(left_out)
        return Manifest(
            selected=selected,
            entries=rows,
            beyond_records=beyond_records,
            last_snapshot=await snapshots.last_row(conn),
            segments=await segments.indexed(conn),
            has_whole_segments=whole,
        )


async def _entries(conn: AsyncConnection, selected: Selected) -> AsyncIterator[list[int]]:
    if selected.hash_url:
        if found := await entries.by_hash(conn, selected.hash_url):
            yield [found[0]]
        return
    async for some in matching_entries(conn, selected.query, limit=PAGE):
        yield some
