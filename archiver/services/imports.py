"""Imports of link files and archives, and their undo.

The process that reads an import owns it. A service claims stored files without an owner: after a
restart, or when the process that read them died.

An undo deletes the entries that the import created, except those that a user or another import has
saved or changed since. Tags, notes and dates that the import added to older entries stay. The
deleted entries can be restored from the bin. Each batch is one transaction: an undo that was
interrupted by a crash is resumed when it is requested again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from archiver.crawl.deletions import delete_entries
from archiver.db import deletions, import_reports, imports, tags_and_lists
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import ArchiverError, InputError, StoreError, UnreadableFile
from archiver.helpers import run_to_completion, sync_file
from archiver.logs import get_log
from archiver.model.imports import NO_CHOICES, UNEXPECTED, Choices, ImportStatus, ImportUndone
from archiver.model.message import marked
from archiver.search.query_tree import Condition, FieldCondition, query_text
from archiver.services.import_previews import PreviewedFiles
from archiver.services.import_reading import (
    ImportReader,
    ImportStatuses,
    OnProgress,
    OpenArchives,
    kind_of_file,
)
from archiver.services.import_reports import reports_of, write_pending_if_possible
from archiver.warc.segments import SegmentStore

REST_SECONDS = 15.0
GONE = marked(
    "The import stopped because its uploaded file is missing. Import the file again; links that "
    "you already have are skipped."
)

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class StoredImport:
    """An import whose file is stored until it is read."""

    number: int
    name: str
    path: Path
    choices: Choices


CLAIM_SECONDS = 10.0
CANCELLED = marked("You cancelled this import. Import the file again to add the rest.")
STOPPED = marked("The import was stopped. Import the file again to add the rest.")


class Imports:
    """Imports that this process reads. The application calls ``keep_resuming`` and ``stop``.

    Attributes:
        previews: previewed files that the user has not imported or discarded yet.
    """

    def __init__(
        self,
        db: Database,
        store: SegmentStore,
        archives: OpenArchives,
        *,
        memory_bytes: int,
        on_queued: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._owner = store.lock.name
        self._data = store.directory.parent
        self.previews = PreviewedFiles(self._data)
        self._statuses = ImportStatuses(db, store)
        self._reader = ImportReader(
            db, archives, self._statuses, memory_bytes=memory_bytes, on_queued=on_queued
        )
        self._reading: dict[int, asyncio.Task[None]] = {}

    async def read_file(
        self,
        source: BinaryIO,
        *,
        name: str,
        choices: Choices = NO_CHOICES,
        on_progress: OnProgress = lambda _: None,
        uploaded_at: datetime | None = None,
    ) -> ImportStatus:
        """Import a whole file: queue links, store captures.

        Args:
            source: the file to read.
            name: name of the file, for messages.
            choices: options for links.
            on_progress: called with the status of the import while the file is read.
            uploaded_at: upload time of captures, if they were uploaded.

        Raises:
            UnreadableFile: the file is empty, of the wrong kind, or contains no link.
        """
        kind = await asyncio.to_thread(kind_of_file, source, name)
        if kind:
            number = await self._create(name, kind)
            reading = self._reader.read_captures(
                number, source, name, kind, on_progress, uploaded_at=uploaded_at
            )
            await self._read_to_end(number, reading)
            return await self.status(number)
        async with self._reader.open_links(source, name, choices=choices) as links:
            first = await links.first_batch()
            number = await self._create(name, links.form, choices=choices)
            await self._read_to_end(
                number, self._reader.read_links(number, first, links, on_progress)
            )
        return await self.status(number)

    async def start(
        self,
        path: Path,
        *,
        name: str,
        choices: Choices = NO_CHOICES,
    ) -> ImportStatus:
        """Take over an uploaded file, and import it in the background.

        Args:
            path: path of the file.
            name: name of the file, for messages.
            choices: options for links.

        Raises:
            UnreadableFile: the file is empty, of the wrong kind, or contains no link. The file is
                deleted.
        """
        try:
            form = await self._detect_format(path, name)
        except UnreadableFile:
            await asyncio.to_thread(path.unlink, missing_ok=True)
            raise
        stored_path = await asyncio.to_thread(_within, path, self._data)
        if not stored_path.is_absolute():
            # Once the upload is confirmed, a restart must not lose it.
            await asyncio.to_thread(sync_file, self._data / stored_path, within=self._data)
        number = await self._create(name, form, stored_path, choices=choices)
        self._begin(StoredImport(number, name, path, choices), skip=0)
        return await self.status(number)

    async def holds_links(self, path: Path, name: str) -> bool:
        """Return whether a file is imported as links, and not as an archive of captures."""
        with await asyncio.to_thread(path.open, "rb") as source:
            return await asyncio.to_thread(kind_of_file, source, name) is None

    async def resume(self) -> None:
        """Continue imports that no process is reading.

        With an index on a server, only imports whose file is on this machine are continued, because
        other machines have no copy of the file.
        """
        await self._delete_orphans()
        local = None
        if self._db.is_shared:
            async with self._db.read() as conn:
                waiting = await imports.unclaimed(conn)
            local = await asyncio.to_thread(self._on_this_machine, waiting)
            if not local:
                return
        await self._db.enter()
        async with self._db.write() as conn:
            claimed = await imports.claim(conn, self._owner, local)
        for each in claimed:
            path = self._data / each.path
            self._begin(StoredImport(each.id, each.name, path, each.choices), skip=each.read)

    async def _delete_orphans(self) -> None:
        """Delete uploads from more than a day ago that no import will read.

        Such uploads remain if a process was killed before it created the import, or after it had
        read the file.
        """
        old = await asyncio.to_thread(self.previews.old_uploads)
        if not old:
            return
        async with self._db.read() as conn:
            waiting = {self._data / each.path for each in await imports.unfinished(conn)}
        for path in old:
            if path not in waiting:
                log.info("deleting an upload without an import", path=path.name)
                await asyncio.to_thread(path.unlink, missing_ok=True)

    def _on_this_machine(self, waiting: Sequence[imports.Unfinished]) -> list[int]:
        return [each.id for each in waiting if (self._data / each.path).exists()]

    async def keep_resuming(self) -> None:
        """Resume imports periodically, without end, because a process that reads one may die.

        Raises:
            ArchiverError: the index failed.
        """
        while True:
            await asyncio.sleep(CLAIM_SECONDS)
            await self._write_reports()
            if await self._statuses.is_any_left():
                await self.resume()

    async def stop(self) -> None:
        """Stop reading; the remaining links are read after the next start."""
        if not self._reading:
            return
        reading = [*self._reading.values()]
        for task in reading:
            task.cancel()
        await asyncio.wait(reading)
        with suppress(ArchiverError):  # without an owner, another process can resume it
            async with self._db.write() as conn:
                await imports.release(conn, self._owner)

    async def cancel(self, number: int) -> None:
        """Stop an import permanently; the links read so far stay."""
        status, task = await self.status(number), self._reading.get(number)
        if not (task or status.paused):
            return
        async with self._db.write() as conn:
            await imports.finish(conn, number, error=CANCELLED)
        if task:  # the task deletes the file when it ends
            task.cancel()
            await asyncio.wait([task])
        await self._write_reports()

    async def status(self, number: int) -> ImportStatus:
        """Return the status of an import.

        Raises:
            NotFound: the import does not exist.
        """
        return await self._statuses.find(number)

    async def _detect_format(self, path: Path, name: str) -> str:
        """Detect the format of an uploaded file.

        Raises:
            UnreadableFile: the file can't be read, or contains no link.
        """
        with await asyncio.to_thread(path.open, "rb") as source:
            if kind := await asyncio.to_thread(kind_of_file, source, name):
                return kind
            async with self._reader.open_links(source, name) as links:
                await links.first_batch()
                return links.form

    async def _create(
        self,
        name: str,
        form: str,
        path: Path | None = None,
        *,
        choices: Choices = NO_CHOICES,
    ) -> int:
        await self._db.enter()
        async with self._db.write() as conn:
            return await imports.create(
                conn,
                name=name,
                form=form,
                path=str(path) if path else None,
                owner=self._owner,
                now=datetime.now(UTC),
                choices=choices,
            )

    async def _read_to_end(self, number: int, reading: Awaitable[None]) -> None:
        """Read a file that is not stored; errors are recorded in the import and raised."""
        try:
            await reading
        except BaseException as error:
            await self._end(number, _why(error))
            raise
        finally:
            await self._write_reports()

    async def _write_reports(self) -> None:
        await write_pending_if_possible(self._db, reports_of(self._data))

    async def _end(self, number: int, reason: str) -> None:
        with suppress(StoreError):
            async with self._db.write() as conn:
                await imports.finish(conn, number, error=reason)

    def _begin(self, stored: StoredImport, *, skip: int) -> None:
        if stored.number in self._reading:
            return  # still being read here, although the index names no owner any more
        task = asyncio.create_task(self._read_stored(stored, skip), name=f"import-{stored.name}")
        self._reading[stored.number] = task
        task.add_done_callback(lambda _: self._reading.pop(stored.number, None))

    async def _read_stored(self, stored: StoredImport, skip: int) -> None:
        """Read a stored file, then delete it if it was read completely."""
        try:
            await self._read_with_retries(stored, skip)
        finally:
            await run_to_completion(self._delete_if_read(stored))

    async def _read_with_retries(self, stored: StoredImport, skip: int) -> None:
        """Read a stored file, retrying after disk and index errors.

        ``skip`` is the number of rows at the start of the file that were read before.
        """
        while True:
            try:
                await self._read_once(stored, skip)
            except (ArchiverError, OSError):
                log.exception(
                    "import was interrupted; continuing", name=stored.name, seconds=REST_SECONDS
                )
            else:
                return
            await asyncio.sleep(REST_SECONDS)
            with suppress(ArchiverError):
                skip = (await self.status(stored.number)).read

    async def _read_once(self, stored: StoredImport, skip: int) -> None:
        """Read a stored file; a file that becomes unreadable ends its import.

        Raises:
            ArchiverError, OSError: reading failed, but can be retried.
        """
        try:
            await self._read_from(stored, skip)
        except FileNotFoundError:
            reason = GONE
        except UnreadableFile as error:
            reason = f"The import stopped: {error}"
        except (ArchiverError, OSError):
            raise
        except Exception as unexpected:
            # Any failure of a parser on untrusted input must end only this import.
            reason = UNEXPECTED.format(name=stored.name, kind=type(unexpected).__name__)
            log.exception("import cancelled", name=stored.name)
        else:
            return
        log.warning("import cancelled", name=stored.name, reason=reason)
        async with self._db.write() as conn:
            await imports.finish(conn, stored.number, error=reason)

    async def _read_from(self, stored: StoredImport, skip: int) -> None:
        name, number = stored.name, stored.number
        with await asyncio.to_thread(stored.path.open, "rb") as source:
            if kind := await asyncio.to_thread(kind_of_file, source, name):
                await self._reader.read_captures(number, source, name, kind, lambda _: None)
                return
            opened = self._reader.open_links(source, name, skip=skip, choices=stored.choices)
            async with opened as links:
                first = await links.next_batch()
                await self._reader.read_links(number, first, links, lambda _: None)

    async def _delete_if_read(self, stored: StoredImport) -> None:
        """Delete a stored file that was read completely."""
        with suppress(ArchiverError):
            if not (await self.status(stored.number)).is_unread:
                await asyncio.to_thread(stored.path.unlink, missing_ok=True)
                await self._write_reports()


def _within(path: Path, data: Path) -> Path:
    """Return a path relative to the data directory, so that the directory can be moved.

    The path of a file outside of it stays absolute.
    """
    whole, around = path.resolve(), data.resolve()
    return whole.relative_to(around) if whole.is_relative_to(around) else whole


def _why(error: BaseException) -> str:
    """Return the reason why an import failed, as a sentence."""
    if isinstance(error, asyncio.CancelledError):
        return STOPPED
    if isinstance(error, ArchiverError):
        return str(error)
    return UNEXPECTED.format(name="the file", kind=type(error).__name__)


BATCH = 250
"""Number of entries that one transaction deletes; others can write between transactions."""


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
    """Undo of imports. `on_changed` is called when deletions have to be recorded."""

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
            InputError: the import cannot be undone, or its file is still being read.
        """
        await self._checked(number)
        async with self._db.read() as conn:
            entries = await imports.count_to_delete(conn, number)
            return UndoPlan(entries, await tags_and_lists.count_created(conn, number))

    async def has_created(self, status: ImportStatus) -> bool:
        """Return whether an import has anything that can be undone.

        This is true if it created lists, or if its file had a valid link. Imports of captures, and
        imports whose file is still being read, cannot be undone.
        """
        if status.is_archive or status.is_unread:
            return False
        if status.read > status.rejected:
            return True
        async with self._db.read() as conn:
            return await tags_and_lists.count_created(conn, status.id) > 0

    async def undo(self, number: int) -> ImportUndone:
        """Undo an import completely.

        Raises:
            NotFound: there is no import of that number.
            InputError: the import cannot be undone, or its file is still being read.
        """
        status = await self._checked(number)
        before = status.undone or ImportUndone()
        if status.is_restored:
            before = ImportUndone()
        async with self._db.write() as conn:
            deletion = await deletions.begin(conn, datetime.now(UTC))
            undone = replace(before, deletion=deletion, is_done=False)
            await imports.set_undone(conn, number, undone)
        undone = await self._delete_entries(number, undone)
        async with self._db.write() as conn:
            if await tags_and_lists.delete_empty(conn):
                await tags_and_lists.add_pending_record(conn)
            undone = await _completed(conn, undone)
            await imports.set_undone(conn, number, undone)
        await write_pending_if_possible(self._db, reports_of(self._store.directory.parent))
        self._on_changed()
        return undone

    async def begin(self, number: int, *, patience: float) -> None:
        """Undo an import in the background; return when it is done or `patience` seconds passed.

        Raises:
            NotFound: there is no import of that number.
            InputError: the import cannot be undone, or its file is still being read.
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
        """Stop all undos; each continues when it is requested again."""
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
        if status.is_archive:
            raise InputError(
                "An import of captures cannot be undone. Delete its entries instead: search for "
                "import:{number}.",
                number=str(number),
            )
        if status.is_unread:
            raise InputError(
                "The file of this import is still being read. Wait until it has been read, "
                "then undo the import."
            )
        has_entries = bool(status.added or status.merged)
        if has_entries and not status.undone and await self._is_unknown(number):
            raise InputError(
                "This import can no longer be undone, because the index was rebuilt after it. "
                "To delete its entries, search for {search}.",
                search=query_text(FieldCondition(Condition.IMPORT, status.name)),
            )
        return status

    async def _is_unknown(self, number: int) -> bool:
        """Return whether it is unknown what an import created, because the index was rebuilt."""
        async with self._db.read() as conn:
            if await imports.has_created_any(conn, number):
                return False
            return await import_reports.is_known_from_report(conn, number)

    async def _delete_entries(self, number: int, undone: ImportUndone) -> ImportUndone:
        async with self._db.write() as conn:
            await imports.transfer_entries(conn, number)
        while True:
            async with self._db.write() as conn:
                mine = await imports.created_by(conn, number, limit=BATCH)
                if not mine:
                    return undone
                await delete_entries(conn, self._store, mine, number=undone.deletion)
                undone = replace(undone, removed=undone.removed + len(mine))
                await imports.set_undone(conn, number, undone)


async def _completed(conn: AsyncConnection, undone: ImportUndone) -> ImportUndone:
    """Mark an undo as complete.

    If the undo deleted no entry, ``deletion`` becomes 0, because nothing can be restored.
    """
    deleted = await deletions.size(conn, undone.deletion)
    deletion = undone.deletion if deleted and deleted.entries else 0
    return replace(undone, deletion=deletion, is_done=True)
