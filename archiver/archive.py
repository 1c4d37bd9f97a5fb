"""An archive on disk, opened: who is in it, its segments, its index.

Every process that uses an archive shares a lock on it for as long as it does; building the index
again takes that lock alone. The kernel lets go of it when a process dies.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from math import inf
from pathlib import Path

from archiver import __version__
from archiver.config import Settings
from archiver.errors import ConfigurationError
from archiver.index.database import Database
from archiver.kept_file import KeptFile
from archiver.ledger.recovery import recover
from archiver.store.locks import ArchiveLock, RunLock
from archiver.store.segments import SegmentStore
from archiver.store.shelf import Shelf

INDEX = "archive.sqlite3"
SEGMENTS = "warc"
LOCKS = "run"
EXPORTS = "exports"
UPLOADED = "uploaded"
STORE = "store"
"""Says which store has the segments of an archive, so that it is never opened without."""

_BEING_REINDEXED = (
    "`archiver reindex` is building the index of this archive again. Try again when it is done."
)
_NOT_INSTALLED = (
    "A store needs more than is installed: run `pip install 'archiver[cluster]'`, or unset "
    "ARCHIVER_STORE."
)
_IN_USE = "The archive is in use by another process. Stop the server and every crawl first."


@dataclass(frozen=True, slots=True)
class Archive:
    """What every use of an archive needs; ``store`` writes under this process's name."""

    settings: Settings
    db: Database
    store: SegmentStore


@asynccontextmanager
async def open_archive(settings: Settings) -> AsyncIterator[Archive]:
    """Open the archive beside others, and take up what a killed process left.

    Raises:
        ConfigurationError: the data directory can't be used, or its index is being built again.
        StoreError: the directory of the segments can't be read.
    """
    async with (
        _enter(settings.data, alone=False),
        open_store(settings, await asyncio.to_thread(open_shelf, settings)) as store,
    ):
        db = await Database.open(settings.data / INDEX)
        try:
            await recover(db, store)
            yield Archive(settings, db, store)
        finally:
            await db.close()


@asynccontextmanager
async def open_store_alone(settings: Settings) -> AsyncIterator[SegmentStore]:
    """Open the segments while no other process uses the archive, nor can begin to.

    Raises:
        ConfigurationError: the data directory can't be used, or another process uses it.
    """
    async with (
        _enter(settings.data, alone=True),
        open_store(settings, await asyncio.to_thread(open_shelf, settings)) as store,
    ):
        yield store


def open_shelf(settings: Settings) -> Shelf:
    """Where the segments of an archive lie: in its folder, or in a store. Blocking.

    Raises:
        ConfigurationError: the store is another one than before, or can't be used.
        StoreUnavailable: it does not answer.
    """
    warc, known = settings.data / SEGMENTS, settings.data / STORE
    before = known.read_text("utf-8").strip() if known.exists() else None
    if before and before != settings.store:
        raise ConfigurationError(
            f"The segments of this archive lie in {before}: set ARCHIVER_STORE to that. If they "
            f"were moved, remove {known}."
        )
    if settings.store is None:
        return Shelf(warc)
    try:
        shelves = import_module("archiver.store.bucket_shelf")
    except ModuleNotFoundError as error:
        raise ConfigurationError(_NOT_INSTALLED) from error
    shelf: Shelf = shelves.open_bucket_shelf(settings.store, warc, settings.data / UPLOADED)
    if before is None:
        KeptFile(known, mode=0o644).write(f"{settings.store}\n".encode())
    return shelf


@asynccontextmanager
async def open_store(settings: Settings, shelf: Shelf) -> AsyncIterator[SegmentStore]:
    """Open the segments under a writer's name of its own, in an archive that is held open.

    Args:
        settings: how.
        shelf: where the segments lie; one for all stores of a process.

    Raises:
        ConfigurationError: the data directory can't be used.
    """
    with _usable(settings.data):
        lock = await asyncio.to_thread(RunLock, settings.data / LOCKS)
    try:
        is_remote = settings.store is not None
        store = SegmentStore(
            shelf,
            lock=lock,
            segment_bytes=min(settings.segment_bytes, settings.seal_bytes)
            if is_remote
            else settings.segment_bytes,
            segment_seconds=settings.seal_seconds if is_remote else inf,
            software=f"archiver/{__version__}",
        )
        try:
            yield store
        finally:
            store.close()
    finally:
        lock.release()


@asynccontextmanager
async def _enter(data: Path, *, alone: bool) -> AsyncIterator[None]:
    try:
        with _usable(data):
            lock = await asyncio.to_thread(ArchiveLock, data / LOCKS, alone=alone)
    except BlockingIOError as error:
        raise ConfigurationError(_IN_USE if alone else _BEING_REINDEXED) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _usable(data: Path) -> Iterator[None]:
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        raise ConfigurationError(
            f"The data directory {data} can't be used: {error.strerror}. "
            "Choose another with --data or ARCHIVER_DATA."
        ) from error
