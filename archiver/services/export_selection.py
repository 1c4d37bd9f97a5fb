"""Entries that an export contains, fixed when it begins.

A list is ordered by what happened last, so whoever walks it page by page while pages are saved
passes over those that jump to its front. So the rows are noted first, all within one transaction.
"""

from array import array
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field

from archiver.db import entries as db_entries
from archiver.db import pending_records, segment_rows, snapshots, tombstones
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import NotFound, StoreError
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry
from archiver.model.listing import ListingQuery
from archiver.services.entries import Entries, SnapshotDetail
from archiver.services.search import matching_entries
from archiver.warc.segments import SegmentStore

MANIFEST_PAGE = 5000


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
            left_out = await pending_records.beyond_records(conn, some, whole_segments=whole)
            beyond_records.extend(left_out)
        return Manifest(
            selected=selected,
            entries=rows,
            beyond_records=beyond_records,
            last_snapshot=await snapshots.last_row(conn),
            segments=await segment_rows.indexed(conn),
            has_whole_segments=whole,
        )


async def _entries(conn: AsyncConnection, selected: Selected) -> AsyncIterator[list[int]]:
    if selected.hash_url:
        if found := await db_entries.by_hash(conn, selected.hash_url):
            yield [found[0]]
        return
    async for some in matching_entries(conn, selected.query, limit=MANIFEST_PAGE):
        yield some


class EntriesShown:
    """Reads entries and their snapshots for exports."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._entries = Entries(db, store)

    async def each(
        self, rows: Iterable[int], at: str | None
    ) -> AsyncIterator[tuple[Entry, SnapshotDetail | None]]:
        """Those of these rows that are still there, in their order.

        Each with its newest snapshot or the one nearest to a moment, if it has one to show.

        Raises:
            StoreError: a snapshot cannot be read. An export must not leave it out silently.
        """
        for row in rows:
            async with self._db.read() as conn:
                entry = (await db_entries.by_ids(conn, [row])).get(row)
            if entry is None:
                continue
            try:
                shown = await self._entries.snapshot(entry.hash_url, at)
            except NotFound:
                yield entry, None
            except StoreError as error:
                raise StoreError(
                    "Cannot read the article of {url}: {error} Run `archiver verify`.",
                    url=entry.url,
                    error=error,
                ) from error
            else:
                yield entry, shown
