"""Undoing an import of links: what it alone brought goes, what it added to others is taken back.

Both are said as anybody would say them, as a deletion and as an edit, so that they hold after a
``reindex``, and can be undone themselves. It goes a stretch at a time; what a kill breaks off is
gone on with when it is asked for again.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce

from archiver.errors import ArchiverError, InputError, NotFound
from archiver.index import edits, import_shares, imports, list_shares, lists, receipts, removal
from archiver.index.connection import AsyncConnection
from archiver.index.database import Database
from archiver.index.import_shares import Shares
from archiver.ledger.documents import remake_stale
from archiver.ledger.throwing_away import throw_entries_away
from archiver.logs import get_log
from archiver.model.annotation import Annotation
from archiver.model.importing import ImportStatus, ImportUndone
from archiver.query.tree import Condition, Is, write
from archiver.services.import_status import ImportStatuses
from archiver.services.receipt_files import receipts_of, write_owed_if_possible
from archiver.store.segments import SegmentStore

BATCH = 250
"""Entries of one transaction: whoever else wants to write comes in between."""
SHARED_BATCH = 1_000

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What undoing an import would do.

    Attributes:
        removed: entries that it alone brought.
        changed: others to which it added something.
        lists: that it alone brought; those that are empty then go.
    """

    removed: int
    changed: int
    lists: int


class ImportUndo:
    """Undoes imports. ``on_changed`` is called when records are owed."""

    def __init__(
        self, db: Database, store: SegmentStore, on_changed: Callable[[], None] = lambda: None
    ) -> None:
        self._db = db
        self._store = store
        self._statuses = ImportStatuses(db, store)
        self._on_changed = on_changed
        self._running: dict[int, asyncio.Task[None]] = {}

    async def plan(self, number: int) -> UndoPlan:
        """What undoing an import would do.

        Raises:
            NotFound: there is none of that number.
            InputError: it can't be undone, or not yet.
        """
        await self._checked(number)
        async with self._db.read() as conn:
            mine = await list_shares.own_lists(conn, number)
            return UndoPlan(*await import_shares.sizes(conn, number), len(mine))

    async def has_brought(self, status: ImportStatus) -> bool:
        """Whether an import of links has brought anything, be it lists alone."""
        if status.is_archive or status.is_unread:
            return False
        if status.read > status.rejected:
            return True
        async with self._db.read() as conn:
            return bool(await list_shares.own_lists(conn, status.id))

    async def undo(self, number: int) -> ImportUndone:
        """Undo an import, to its end.

        Raises:
            NotFound: there is none of that number.
            InputError: it can't be undone, or not yet.
        """
        status = await self._checked(number)
        known = status.undone or ImportUndone()
        if status.is_put_back:
            known = replace(known, removed=0)
        async with self._db.write() as conn:
            now = datetime.now(UTC)
            begun = replace(
                known,
                deletion=await removal.begin(conn, now),
                edit=await edits.begin(conn, now),
                is_done=False,
            )
            await imports.set_undone(conn, number, begun)
        undone = await self._take_back(number, await self._remove(number, begun))
        async with self._db.write() as conn:
            if await list_shares.take_back(conn, number):
                await lists.owe(conn)
            done = await _at_the_end(conn, undone)
            await imports.set_undone(conn, number, done)
        await write_owed_if_possible(self._db, receipts_of(self._store.directory.parent))
        while await remake_stale(self._db, self._store):
            pass
        self._on_changed()
        return done

    async def begin(self, number: int, *, patience: float) -> None:
        """Undo an import in the background; returns when it is done, or after so many seconds.

        Raises:
            NotFound: there is none of that number.
            InputError: it can't be undone, or not yet.
        """
        await self._checked(number)
        if number not in self._running:
            task = asyncio.create_task(self._in_background(number), name=f"undo-import-{number}")
            self._running[number] = task
            task.add_done_callback(lambda _: self._running.pop(number, None))
        await asyncio.wait([self._running[number]], timeout=patience)

    def is_running(self, number: int) -> bool:
        """Whether an import is being undone by this process."""
        return number in self._running

    async def stop(self) -> None:
        """Stop undoing; what is left is done when it is asked for again."""
        running = [*self._running.values()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _in_background(self, number: int) -> None:
        try:
            await self.undo(number)
        except ArchiverError:
            log.exception("undoing an import broke off", number=str(number))

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
        has_spoken = bool(status.added or status.merged)
        if has_spoken and not status.undone and await self._is_forgotten(number):
            raise InputError(
                "This import can't be undone: the index was built from the archive's files alone, "
                "and what undoing needs is not in them. Delete what files of its name brought, "
                "which the search {search} finds.",
                search=write(Is(Condition.IMPORT, status.name)),
            )
        return status

    async def _is_forgotten(self, number: int) -> bool:
        """Whether nobody knows any more what an import alone has brought."""
        async with self._db.read() as conn:
            return await receipts.is_of_its_receipt(conn, number) and await import_shares.sizes(
                conn, number
            ) == (0, 0)

    async def _remove(self, number: int, undone: ImportUndone) -> ImportUndone:
        """Throw away what the import alone has brought."""
        while True:
            async with self._db.write() as conn:
                if not await import_shares.hand_on(conn, number, limit=SHARED_BATCH):
                    break
        while True:
            async with self._db.write() as conn:
                mine = await import_shares.own_entries(conn, number, limit=BATCH)
                if not mine:
                    return undone
                await throw_entries_away(conn, self._store, mine, number=undone.deletion)
                undone = replace(undone, removed=undone.removed + len(mine))
                await imports.set_undone(conn, number, undone)

    async def _take_back(self, number: int, undone: ImportUndone) -> ImportUndone:
        """Take from other entries what the import has added to them."""
        while True:
            async with self._db.write() as conn:
                shares = await import_shares.shares_of(conn, number, limit=SHARED_BATCH)
                if not shares:
                    return undone
                become = _without(shares)
                changed = await edits.change_each(
                    conn, [*shares], become, edit_id=undone.edit, by_person=False
                )
                rows = [row for each in shares.values() for row in each.rows]
                await import_shares.forget(conn, rows)
                undone = replace(undone, changed=undone.changed + changed)
                await imports.set_undone(conn, number, undone)


def _without(shares: Mapping[int, Shares]) -> Callable[[int, Annotation], Annotation]:
    """From an annotation to what it is without these, but for what other imports say too."""

    def become(entry_id: int, annotation: Annotation) -> Annotation:
        for own in reversed(shares[entry_id].own):
            only = reduce(
                lambda left, other: left.without(other.as_annotation()),
                shares[entry_id].others,
                own,
            )
            annotation = only.taken_from(annotation)
        return annotation

    return become


async def _at_the_end(conn: AsyncConnection, undone: ImportUndone) -> ImportUndone:
    """An undoing that is over, without the numbers of a deletion or an edit of nothing."""
    deleted = await removal.size(conn, undone.deletion)
    edited = await edits.size(conn, undone.edit)
    if deleted and not deleted.entries:
        await removal.forget(conn, undone.deletion)
    if edited and not edited.changed:
        await edits.forget(conn, undone.edit)
    return replace(
        undone,
        deletion=undone.deletion if deleted and deleted.entries else 0,
        edit=undone.edit if edited and edited.changed else 0,
        is_done=True,
    )
