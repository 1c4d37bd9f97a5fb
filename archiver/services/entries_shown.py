"""Entries one after the other, each with what is shown of it: as they are taken away."""

from collections.abc import AsyncIterator, Iterable

from archiver.errors import ArchiverError
from archiver.index import entries
from archiver.index.database import Database
from archiver.model.entry import Entry
from archiver.services.entries import Entries, SnapshotDetail
from archiver.store.segments import SegmentStore


class EntriesShown:
    """Reads them."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._entries = Entries(db, store)

    async def each(
        self, rows: Iterable[int], at: str | None
    ) -> AsyncIterator[tuple[Entry, SnapshotDetail | None]]:
        """Those of these rows that are still there, in their order.

        Each with its newest snapshot or the one nearest to a moment, if it has one to show.
        """
        for row in rows:
            async with self._db.read() as conn:
                entry = (await entries.by_ids(conn, [row])).get(row)
            if entry is None:
                continue
            try:
                shown = await self._entries.snapshot(entry.hash_url, at)
            except ArchiverError:
                yield entry, None
            else:
                yield entry, shown
