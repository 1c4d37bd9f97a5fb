"""Imports: files of links, read in batches into the queue, taken up again after a restart."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing, suppress
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import BinaryIO, cast

from archiver.derive.link_file import Batch, LinkFile, open_links
from archiver.errors import ArchiverError, NotFound, StoreError, UnreadableFile
from archiver.formats.importers import open_bookmarks
from archiver.index import imports, seeds
from archiver.index.database import Database
from archiver.logs import get_log
from archiver.model.importing import ImportStatus, Taken
from archiver.services.archives import WACZ, Archives, kind_of

HEAD_BYTES = 8192
PROGRESS_SECONDS = 0.2
PATIENCE_SECONDS = 0.3
"""So long a transaction waits for a source that is slow."""
SHORTEST_SECONDS = 0.5
"""At the start, when somebody waits to see that it goes on."""
TRANSACTION_SECONDS = 5.0
"""New rows go to random places of some indexes: the more of them at once, the less is written.

Sooner if anybody else wants to write.
"""

REST_SECONDS = 15.0
STOPPED = "It was stopped. Import the file again to read the rest."
UNFORESEEN = "{name} can't be read any further: {kind}. What was read is kept; the log says more."

log = get_log(__name__)


class Imports:
    """Bookmark files on their way into the queue. ``resume`` and ``stop`` are the runtime's."""

    def __init__(
        self,
        db: Database,
        archives: Archives,
        *,
        memory_bytes: int,
        on_queued: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._open = partial(open_links, memory_bytes=memory_bytes)
        self._archives = archives
        self._on_queued = on_queued
        self._reading: set[asyncio.Task[None]] = set()

    async def read_file(
        self,
        source: BinaryIO,
        *,
        name: str,
        on_progress: Callable[[ImportStatus], None] = lambda _: None,
    ) -> ImportStatus:
        """Read a whole file: of links into the queue, of captures into the archive.

        Raises:
            UnreadableFile: it is empty, of the wrong kind, or holds no link.
        """
        kind = await asyncio.to_thread(_kind, source)
        if kind:
            return await self._read_archive(source, name, kind, on_progress)
        async with self._open(source, name) as links:
            first = await links.next_batch()
            if not first:
                raise UnreadableFile(f"{name} holds no link. Is it the right file?")
            async with self._db.write() as conn:
                number = await imports.create(
                    conn, name=name, form=links.form, path=None, now=_now()
                )
            try:
                await self._read_on(number, first, links, on_progress)
            except (ArchiverError, asyncio.CancelledError) as error:
                await self._break_off(number, str(error) or STOPPED)
                raise
        return await self.status(number)

    async def _read_archive(
        self,
        source: BinaryIO,
        name: str,
        kind: str,
        on_progress: Callable[[ImportStatus], None],
    ) -> ImportStatus:
        async with self._db.write() as conn:
            number = await imports.create(conn, name=name, form=kind, path=None, now=_now())
        try:
            await self._adopt(number, source, name, kind, on_progress)
        except (ArchiverError, asyncio.CancelledError) as error:
            await self._break_off(number, str(error) or STOPPED)
            raise
        return await self.status(number)

    async def _break_off(self, number: int, reason: str) -> None:
        with suppress(StoreError):
            async with self._db.write() as conn:
                await imports.finish(conn, number, error=reason)

    async def start(self, path: Path, *, name: str) -> ImportStatus:
        """Take an uploaded file over, and read it in the background.

        Raises:
            UnreadableFile: it is empty, of the wrong kind, or holds no link; it is deleted.
        """
        try:
            form = await asyncio.to_thread(_look_at, path, name)
        except UnreadableFile:
            await asyncio.to_thread(path.unlink, missing_ok=True)
            raise
        kept = str(await asyncio.to_thread(path.resolve))
        async with self._db.write() as conn:
            number = await imports.create(conn, name=name, form=form, path=kept, now=_now())
        self._begin(number, name, path, skip=0)
        return await self.status(number)

    async def resume(self) -> None:
        """Go on with the files that an earlier process did not finish."""
        async with self._db.read() as conn:
            left = await imports.unfinished(conn)
        for each in left:
            self._begin(each.id, each.name, Path(each.path), skip=each.read)

    async def stop(self) -> None:
        """Stop reading; what is left is read after the next start."""
        for task in self._reading:
            task.cancel()
        if self._reading:
            await asyncio.wait(self._reading)

    async def status(self, number: int) -> ImportStatus:
        """How far an import has come.

        Raises:
            NotFound: there is none of that number.
        """
        async with self._db.read() as conn:
            found = await imports.status(conn, number)
        if found is None:
            raise NotFound(f"There is no import number {number}.")
        return found

    async def recent(self, limit: int = 20) -> list[ImportStatus]:
        """The newest imports, newest first."""
        async with self._db.read() as conn:
            return await imports.recent(conn, limit)

    def _begin(self, number: int, name: str, path: Path, *, skip: int) -> None:
        task = asyncio.create_task(self._read_kept(number, name, path, skip), name=f"import-{name}")
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read_kept(self, number: int, name: str, path: Path, skip: int) -> None:
        """Read an uploaded file to its end, however often the disk or the index refuse."""
        while True:
            try:
                await self._read_upload(number, name, path, skip)
                break
            except (ArchiverError, OSError):
                log.exception("import broke off; it goes on", name=name, seconds=REST_SECONDS)
            await asyncio.sleep(REST_SECONDS)
            with suppress(ArchiverError):
                skip = (await self.status(number)).read
        await asyncio.to_thread(path.unlink, missing_ok=True)

    async def _read_upload(self, number: int, name: str, path: Path, skip: int) -> None:
        try:
            with await asyncio.to_thread(path.open, "rb") as source:
                if kind := await asyncio.to_thread(_kind, source):
                    await self._adopt(number, source, name, kind, lambda _: None)
                    return
                async with self._open(source, name, skip=skip) as links:
                    first = await links.next_batch()
                    await self._read_on(number, first, links, lambda _: None)
        except (UnreadableFile, FileNotFoundError) as error:
            log.exception("import given up", name=name)
            async with self._db.write() as conn:
                await imports.finish(conn, number, error=f"Reading broke off: {error}")

    async def _read_on(
        self,
        number: int,
        batch: Batch,
        links: LinkFile,
        on_progress: Callable[[ImportStatus], None],
    ) -> None:
        """Take batch after batch in, each while the next one is read."""
        told, begun = 0.0, monotonic()
        while batch:
            age = monotonic() - begun
            seconds = min(SHORTEST_SECONDS + age / 4, TRANSACTION_SECONDS)
            batch = await self._take_in(number, batch, links, seconds)
            self._on_queued()
            if (now := monotonic()) - told > PROGRESS_SECONDS:
                told = now
                on_progress(await self.status(number))
        async with self._db.write() as conn:
            await imports.finish(conn, number)

    async def _adopt(
        self,
        number: int,
        source: BinaryIO,
        name: str,
        kind: str,
        on_progress: Callable[[ImportStatus], None],
    ) -> None:
        """Take an archive file in; one that was broken off is read again from its start."""
        async with self._db.write() as conn:
            await imports.begin_again(conn, number)
        error = ""
        async with AsyncExitStack() as stack:
            file = source
            if kind == WACZ and not source.seekable():
                file = await asyncio.to_thread(_spooled, source)
                stack.callback(file.close)
            try:
                async with aclosing(self._archives.take_in(file, name, kind)) as taken:
                    async for each in taken:
                        await self._count(number, each)
                        on_progress(await self.status(number))
            except UnreadableFile as unreadable:
                error = str(unreadable)
            except (ArchiverError, OSError):
                raise  # it may go better later
            except Exception as unforeseen:
                # The one edge of an import: whatever a file of others does to a reader, it ends.
                log.exception("import broke off", name=name)
                error = UNFORESEEN.format(name=name, kind=type(unforeseen).__name__)
        async with self._db.write() as conn:
            await imports.finish(conn, number, error=error)

    async def _count(self, number: int, taken: Taken) -> None:
        async with self._db.write() as conn:
            await imports.advance_archive(conn, number, taken)

    async def _take_in(self, number: int, batch: Batch, links: LinkFile, seconds: float) -> Batch:
        """Take batches in for as long as one transaction may last; return the one after them."""
        until = monotonic() + seconds
        following = asyncio.ensure_future(links.next_batch())
        try:
            async with self._db.write_much() as conn:
                while True:
                    received = await seeds.receive(
                        conn, batch.seeds, now=_now(), recapture=False, import_id=number
                    )
                    tally = Counter(each.reception for each in received)
                    await imports.advance(conn, number, tally, batch.rejected)
                    await asyncio.wait([following], timeout=PATIENCE_SECONDS)
                    if self._db.is_wanted() or monotonic() >= until or not _has_links(following):
                        break
                    batch, following = following.result(), asyncio.ensure_future(links.next_batch())
            return await following
        finally:
            following.cancel()


def _has_links(following: "asyncio.Future[Batch]") -> bool:
    """Whether the next batch is here, and is one."""
    return following.done() and not following.exception() and bool(following.result())


def _kind(source: BinaryIO) -> str | None:
    """Whether a file holds captures; nothing of it is read away."""
    return kind_of(source.peek(HEAD_BYTES)) if isinstance(source, BufferedReader) else None


def _spooled(source: BinaryIO) -> BinaryIO:
    """A pipe's content as a file: a zip file's list of contents is at its end."""
    # Closed by whoever asked for it.
    spooled = cast("BinaryIO", TemporaryFile(prefix="archiver-"))  # noqa: SIM115
    shutil.copyfileobj(source, spooled, 1 << 20)
    spooled.seek(0)
    return spooled


def _look_at(path: Path, name: str) -> str:
    with path.open("rb") as source:
        if kind := _kind(source):
            return kind
        form, found = open_bookmarks(source, name)
        if next(found, None) is None:
            raise UnreadableFile(f"{name} holds no link. Is it the right file?")
    return form


def _now() -> datetime:
    return datetime.now(UTC)
