"""Entries one after the other, each with what is shown of it: as they are taken away."""

from collections.abc import AsyncIterator, Iterable

from archiver.errors import NotFound, StoreError
from archiver.index import entries
from archiver.index.database import Database
from archiver.model.entry import Entry
from archiver.services.entries import Entries, SnapshotDetail
from archiver.store.segments import SegmentStore


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
                entry = (await entries.by_ids(conn, [row])).get(row)
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
