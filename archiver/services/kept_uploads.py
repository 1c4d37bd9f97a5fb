"""Where an uploaded file lies from when it is acknowledged until it is read to its end.

In ``data/tmp``; and, where machines share an archive, in its store, too: any of them goes on with
it then, from a copy in its own ``data/tmp``. Elsewhere only the former is done
(docs/decisions/0176-uploads-in-the-store.md).
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from archiver.errors import ArchiverError, NotFound, StoreError
from archiver.index import imports, shared_files
from archiver.index.connection import AsyncConnection
from archiver.index.database import Database
from archiver.logs import get_log
from archiver.model.message import marked
from archiver.store.segments import SegmentStore
from archiver.store.shelf import UploadingShelf

if TYPE_CHECKING:
    from archiver.store.arrivals import Arrivals

TMP = "tmp"
STALE_SECONDS = 86400
WHOLE, LOOKED_AT = ".upload", ".look"
NOT_KEPT = marked("This file is not kept any more. Give it again.")

log = get_log(__name__)


class KeptUploads:
    """Uploaded files; each has a name of its own in all machines, the stem of its path.

    Attributes:
        directory: where they lie on this machine.
        are_shared: whether machines have them together.
    """

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._data = store.directory.parent
        self.directory = self._data / TMP
        self._there = _arrivals(store) if db.membership else None
        self.are_shared = self._there is not None

    def place_of(self, path: str) -> Path:
        """Where this machine has the file that an import names: another has other disks."""
        here = self._data / path
        return self.directory / here.name if self.are_shared and not here.exists() else here

    async def share(self, path: Path) -> None:
        """Have a file that lies here where every machine finds it.

        Raises:
            StoreUnavailable: the store does not take it.
        """
        if self._there:
            await asyncio.to_thread(self._there.keep, path.stem, path)

    async def have_here(self, path: Path) -> None:
        """Have a file on this machine, if any has it.

        Raises:
            FileNotFoundError: it is not in the store either.
            StoreUnavailable: the store does not answer.
        """
        if self._there and not await asyncio.to_thread(path.exists):
            await asyncio.to_thread(self._there.bring, path.stem, path)

    async def within_reach(self) -> list[int]:
        """The imports that nobody reads and that this machine can read.

        Others lie on another machine alone, or where nobody answers now.
        """
        async with self._db.read() as conn:
            waiting = await imports.unclaimed(conn)
        return await asyncio.to_thread(self._to_be_had, waiting)

    async def forget(self, path: Path) -> None:
        """Remove a file that is over; what the store keeps of it now is swept up later."""
        await asyncio.to_thread(path.unlink, missing_ok=True)
        if self._there:
            with suppress(StoreError):
                await asyncio.to_thread(self._there.remove, path.stem)

    async def discard(self, path: Path) -> None:
        """Throw a file away that was looked at.

        Raises:
            NotFound: somebody did so, or imported it.
        """
        if self._there:
            async with self._db.write() as conn:
                await end_look(conn, path)
        await self.forget(path)

    async def sweep(self) -> None:
        """Remove what is a day old and waits for nothing: leftovers of the dead, and looks.

        Raises:
            ArchiverError: the index or the store refused.
        """
        if not self._there:
            return
        found = await asyncio.to_thread(self._there.all)
        before = self._db.now() - timedelta(seconds=STALE_SECONDS)
        old = [name for name, put_at in found.items() if put_at < before]
        async with self._db.write() as conn:
            waiting = {Path(each.path).stem for each in await imports.unfinished(conn)}
            over = [name for name in old if name not in waiting]
            # Whoever imports one of them just now does so in a turn before or after this one.
            await shared_files.remove(conn, [_name_of(each) for each in over])
        for name in over:
            await asyncio.to_thread(self._there.remove, name)
        await asyncio.to_thread(self._remove_copies, waiting | (found.keys() - {*over}))

    async def sweep_if_possible(self) -> None:
        """The same; what can't be done now is done later."""
        try:
            await self.sweep()
        except (ArchiverError, OSError) as error:
            log.warning("uploads that are over wait to be removed", reason=str(error))

    def _to_be_had(self, waiting: Sequence[imports.Unfinished]) -> list[int]:
        found, there = [], self._there
        for each in waiting:
            path = self.place_of(each.path)
            try:
                if path.exists() or (there and there.has(path.stem)):
                    found.append(each.id)
            except StoreError:
                there = None  # it is not waited for once more
        return found

    def _remove_copies(self, wanted: set[str]) -> None:
        before = time.time() - STALE_SECONDS
        for suffix in (WHOLE, LOOKED_AT):
            for path in self.directory.glob(f"*{suffix}"):
                with suppress(FileNotFoundError):
                    if path.stem not in wanted and path.stat().st_mtime < before:
                        path.unlink()


async def note_look(conn: AsyncConnection, path: Path, name: bytes) -> None:
    """Let all machines know that a file waits to be imported or thrown away, and its name."""
    await shared_files.put(conn, _name_of(path.stem), name)


async def noted_look(conn: AsyncConnection, path: Path) -> bytes | None:
    """The name of such a file; None if there is none, or none any more."""
    found = await shared_files.find(conn, _name_of(path.stem))
    return found.content if found else None


async def end_look(conn: AsyncConnection, path: Path) -> None:
    """Let a file wait no more; of several who end it, one can.

    Raises:
        NotFound: it does not wait.
    """
    if not await shared_files.remove(conn, [_name_of(path.stem)]):
        raise NotFound(NOT_KEPT)


async def bring_all(db: Database, store: SegmentStore) -> None:
    """Have here what waits to be read: an archive that is one machine's finds it there.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    there, data = _arrivals(store), store.directory.parent
    if not there:
        return
    async with db.read() as conn:
        paths = [data / each.path for each in await imports.unfinished(conn)]
    for path in paths:
        if not await asyncio.to_thread(path.exists):
            with suppress(FileNotFoundError):
                await asyncio.to_thread(there.bring, path.stem, path)


def _arrivals(store: SegmentStore) -> "Arrivals | None":
    return store.shelf.arrivals if isinstance(store.shelf, UploadingShelf) else None


def _name_of(stem: str) -> str:
    return f"{TMP}/{stem}.name"
