"""Deletion of entries and snapshots, and its undo."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.crawl.deletions import delete_entries, delete_snapshots, restore
from archiver.crawl.derived_rows import rebuild_stale
from archiver.db import deletions
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.http.timestamps import to_datetime
from archiver.http.urls import hash_url, is_hash_url, parse_entry_url
from archiver.model.capture import Timestamp
from archiver.model.deletion import BinnedItem, Deleted
from archiver.model.listing import ListingQuery
from archiver.services.editing import row_id_batches
from archiver.services.entries import find_entry
from archiver.services.search import matching_entries
from archiver.warc.segments import SegmentStore

MAX_REFS = 10_000
_LAST_NUMBER = (1 << 63) - 1
BATCH = 250
"""Entries per transaction; between two transactions, other writers can take the write lock."""


@dataclass(frozen=True, slots=True)
class Restored(Deleted):
    """Result of undoing a deletion, with the number of the deletion and of restored items.

    Attributes:
        not_restored: number of entries that were not restored completely, because they were saved
            or deleted again since then.
    """

    not_restored: int


class EntryDeletion:
    """Deletion of entries and snapshots. ``on_changed`` is called after each change."""

    def __init__(
        self, db: Database, store: SegmentStore, on_changed: Callable[[], None] = lambda: None
    ) -> None:
        self._db = db
        self._store = store
        self._on_changed = on_changed

    async def entries(self, refs: Sequence[str]) -> Deleted:
        """Delete entries by hash_url or URL.

        Raises:
            NotFound: an entry does not exist; then no entry is deleted.
            InputError: there are no entries to delete, or too many.
        """
        if not refs:
            raise InputError("Choose what to delete.")
        if len(refs) > MAX_REFS:
            raise InputError("You can delete at most {most} entries at a time.", most=MAX_REFS)
        async with self._db.read() as conn:
            numbers = [*dict.fromkeys([(await find_entry(conn, each))[0] for each in refs])]
        deleted = await self._delete(row_id_batches(numbers, BATCH))
        if not deleted.entries:  # another request deleted them in the meantime
            raise NotFound("{ref} is not in the archive.", ref=refs[0])
        return deleted

    async def matching(self, query: ListingQuery) -> Deleted:
        """Delete all entries that match a query.

        Raises:
            InvalidQuery: the query can't be parsed.
        """
        async with self._db.read() as conn:
            return await self._delete(matching_entries(conn, query, limit=BATCH))

    async def snapshot(self, ref: str, timestamp: str) -> Deleted:
        """Delete a snapshot of an entry that has other snapshots.

        Raises:
            NotFound: there is no such entry or snapshot.
            InputError: it is the only snapshot of the entry, or the timestamp is incomplete.
        """
        to_datetime(Timestamp(timestamp))
        async with self._db.write() as conn:
            entry_id, entry = await find_entry(conn, ref)
            if entry.snapshot_count == 1 and entry.latest == timestamp:
                raise InputError(
                    "This is the only snapshot of its entry. Delete the entry, or capture it "
                    "again first."
                )
            number = await deletions.begin(conn, datetime.now(UTC))
            timestamps = [Timestamp(timestamp)]
            deleted = await delete_snapshots(conn, self._store, entry_id, timestamps, number=number)
            if not deleted:
                raise NotFound(
                    "{url} has no snapshot from {timestamp}.", url=entry.url, timestamp=timestamp
                )
        await self._update_documents()
        return Deleted(number, 0, deleted)

    async def find(self, number: int) -> Deleted | None:
        """Return a deletion; None if it can't be undone any more."""
        async with self._db.read() as conn:
            return await deletions.size(conn, number)

    async def bin(self, limit: int | None = None) -> list[BinnedItem]:
        """Return the deleted entries and snapshots in the bin, the last deleted first."""
        async with self._db.read() as conn:
            return await deletions.items_in_bin(conn, limit)

    async def size_of_bin(self) -> int:
        """Return the number of items in the bin."""
        async with self._db.read() as conn:
            return await deletions.count_in_bin(conn)

    async def restore_from_bin(self, refs: Sequence[str] = ()) -> Restored:
        """Restore entries from the bin by hash_url or URL; if none are given, restore everything.

        Raises:
            NotFound: an entry is not in the bin.
        """
        keys = {
            each if is_hash_url(each) else hash_url(parse_entry_url(each)): each for each in refs
        }
        async with self._db.read() as conn:
            chosen = await deletions.items_in_bin(conn, keys=keys or None)
        if missing := keys.keys() - {each.hash_url for each in chosen}:
            raise NotFound("{url} is not in the bin.", url=keys[min(missing)])
        selected: dict[int, list[str] | None] = {}
        for number in dict.fromkeys(each.deletion for each in chosen):
            items = [each for each in chosen if each.deletion == number]
            is_part = keys and not items[0].timestamp
            selected[number] = [each.hash_url for each in items] if is_part else None
        return await self.restore_items(selected)

    async def restore_items(self, selected: Mapping[int, Sequence[str] | None]) -> Restored:
        """Restore entries by hash_url, by the number of their deletion; None restores all of it."""
        entries = snapshots = not_restored = 0
        for number, only in selected.items():
            try:
                one = await self.undo(number, only)
            except (InputError, NotFound):  # saved again, or restored by another request
                not_restored += 1
            else:
                entries, snapshots = entries + one.entries, snapshots + one.snapshots
                not_restored += one.not_restored
        return Restored(0, entries, snapshots, not_restored)

    async def undo(self, number: int, only: Sequence[str] | None = None) -> Restored:
        """Restore what a deletion deleted, except what was saved or deleted again since then.

        Args:
            number: number of the deletion.
            only: hash_urls of the entries to restore; None for all. The others can be restored
                later.

        Raises:
            NotFound: the deletion was already undone, was erased from disk, or never existed.
            InputError: everything was saved or deleted again since then.
        """
        async with self._db.write() as conn:
            if number > _LAST_NUMBER or await deletions.size(conn, number) is None:
                raise NotFound(
                    "This deletion can't be undone: it was already undone, its data was erased "
                    "from disk, or there is no deletion with this number."
                )
            restored = Restored(number, *await restore(conn, self._store, number, only))
            if not (restored.entries or restored.snapshots):
                raise InputError(
                    "Nothing was restored, because everything has been saved or deleted again "
                    "since then."
                )
        await self._update_documents()
        return restored

    async def _delete(self, batches: AsyncIterator[list[int]]) -> Deleted:
        async with self._db.write() as conn:
            number = await deletions.begin(conn, datetime.now(UTC))
        entries = snapshots = 0
        async for batch in batches:
            async with self._db.write() as conn:
                deleted = await delete_entries(conn, self._store, batch, number=number)
            entries, snapshots = entries + deleted[0], snapshots + deleted[1]
        await self._update_documents()
        return Deleted(number, entries, snapshots)

    async def _update_documents(self) -> None:
        """Update the search documents of changed entries."""
        while await rebuild_stale(self._db, self._store):
            pass
        self._on_changed()
