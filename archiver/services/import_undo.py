"""Import undo.

An entry stays if a person or another import saved or changed it since; so do the tags, notes and
dates that the import added to entries that existed before. The entries are deleted as a person
would delete them, so they can be restored in the same way. Each batch is one transaction: an undo
that a crash interrupts is resumed when it is requested again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.crawl.deletions import delete_entries
from archiver.db import deletions, import_receipts, imports
from archiver.db import lists as db_lists
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import ArchiverError, InputError, NotFound
from archiver.logs import get_log
from archiver.model.imports import ImportStatus, ImportUndone
from archiver.search.query_tree import Condition, Is, write
from archiver.services.import_reading import ImportStatuses
from archiver.services.import_receipts import receipts_of, write_pending_if_possible
from archiver.warc.segments import SegmentStore

BATCH = 250
"""Entries that one transaction deletes; other writers run between two of them."""

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """Preview of an undo.

    Attributes:
        removed: number of entries that will be deleted.
        lists: number of lists that only the import created; empty ones are deleted.
    """

    removed: int
    lists: int


class ImportUndo:
    """Undoes imports. `on_changed` is called when records are pending."""

    def __init__(
        self, db: Database, store: SegmentStore, on_changed: Callable[[], None] = lambda: None
    ) -> None:
        self._db = db
        self._store = store
        self._statuses = ImportStatuses(db, store)
        self._on_changed = on_changed
        self._running: dict[int, asyncio.Task[None]] = {}

    async def plan(self, number: int) -> UndoPlan:
        """Preview the undo of an import.

        Raises:
            NotFound: there is no import of that number.
            InputError: it cannot be undone, or not yet.
        """
        await self._checked(number)
        async with self._db.read() as conn:
            entries = await imports.count_to_delete(conn, number)
            return UndoPlan(entries, await db_lists.count_created(conn, number))

    async def has_created(self, status: ImportStatus) -> bool:
        """Return whether an import of links created or named anything, be it only lists."""
        if status.is_archive or status.is_unread:
            return False
        if status.read > status.rejected:
            return True
        async with self._db.read() as conn:
            return await db_lists.count_created(conn, status.id) > 0

    async def undo(self, number: int) -> ImportUndone:
        """Undo an import completely.

        Raises:
            NotFound: there is no import of that number.
            InputError: it cannot be undone, or not yet.
        """
        status = await self._checked(number)
        before = status.undone or ImportUndone()
        if status.is_put_back:
            before = ImportUndone()
        async with self._db.write() as conn:
            deletion = await deletions.begin(conn, datetime.now(UTC))
            undone = replace(before, deletion=deletion, is_done=False)
            await imports.set_undone(conn, number, undone)
        undone = await self._delete_entries(number, undone)
        async with self._db.write() as conn:
            if await db_lists.delete_empty(conn):
                await db_lists.add_pending_record(conn)
            undone = await _completed(conn, undone)
            await imports.set_undone(conn, number, undone)
        await write_pending_if_possible(self._db, receipts_of(self._store.directory.parent))
        self._on_changed()
        return undone

    async def begin(self, number: int, *, patience: float) -> None:
        """Undo an import in the background; return when it is done or `patience` seconds passed.

        Raises:
            NotFound: there is no import of that number.
            InputError: it cannot be undone, or not yet.
        """
        await self._checked(number)
        if number not in self._running:
            task = asyncio.create_task(self._in_background(number), name=f"undo-import-{number}")
            self._running[number] = task
            task.add_done_callback(lambda _: self._running.pop(number, None))
        await asyncio.wait([self._running[number]], timeout=patience)

    def is_running(self, number: int) -> bool:
        """Return whether this process is undoing an import now."""
        return number in self._running

    async def stop(self) -> None:
        """Stop all undos; the rest is done when it is requested again."""
        running = [*self._running.values()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _in_background(self, number: int) -> None:
        try:
            await self.undo(number)
        except ArchiverError:
            log.exception("undoing an import failed", number=str(number))

    async def _checked(self, number: int) -> ImportStatus:
        status = await self._statuses.find(number)
        if status is None:
            raise NotFound("There is no import number {number}.", number=str(number))
        if status.is_archive:
            raise InputError(
                "An import of captures can't be undone: delete what it brought, which the "
                "search import:{number} finds.",
                number=str(number),
            )
        if status.is_unread:
            raise InputError("Its file is still being read. Undo it when that is over.")
        has_entries = bool(status.added or status.merged)
        if has_entries and not status.undone and await self._is_unknown(number):
            raise InputError(
                "This import can't be undone: the index was built from the archive's files alone, "
                "and what undoing needs is not in them. Delete what files of its name brought, "
                "which the search {search} finds.",
                search=write(Is(Condition.IMPORT, status.name)),
            )
        return status

    async def _is_unknown(self, number: int) -> bool:
        """Return whether the index was rebuilt without knowing what an import created."""
        async with self._db.read() as conn:
            if await imports.has_created_any(conn, number):
                return False
            return await import_receipts.is_of_its_receipt(conn, number)

    async def _delete_entries(self, number: int, undone: ImportUndone) -> ImportUndone:
        async with self._db.write() as conn:
            await imports.hand_over(conn, number)
        while True:
            async with self._db.write() as conn:
                mine = await imports.created_by(conn, number, limit=BATCH)
                if not mine:
                    return undone
                await delete_entries(conn, self._store, mine, number=undone.deletion)
                undone = replace(undone, removed=undone.removed + len(mine))
                await imports.set_undone(conn, number, undone)


async def _completed(conn: AsyncConnection, undone: ImportUndone) -> ImportUndone:
    """Mark an undo as complete; it has no deletion if nothing was deleted."""
    deleted = await deletions.size(conn, undone.deletion)
    deletion = undone.deletion if deleted and deleted.entries else 0
    return replace(undone, deletion=deletion, is_done=True)
