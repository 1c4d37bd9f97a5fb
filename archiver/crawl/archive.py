"""An open archive: its locks, segments and database.

Every process that uses an archive shares a lock on it for as long as it does; building the index
again takes that lock alone. The kernel lets go of it when a process dies.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from math import inf
from pathlib import Path
from uuid import uuid4

from archiver import __version__
from archiver.config import Settings
from archiver.crawl.crash_recovery import recover
from archiver.db.engine import Database, Engines, engines_of, is_one_place
from archiver.errors import ConfigurationError
from archiver.helpers import AtomicFile
from archiver.warc.durable_files import sync_directory
from archiver.warc.locks import ArchiveLock, RunLock, machine_of
from archiver.warc.segment_storage import Shelf
from archiver.warc.segments import SegmentStore

INDEX = "archive.sqlite3"
SEGMENTS = "warc"
LOCKS = "run"
EXPORTS = "exports"
UPLOADED = "uploaded"
INDEX_ELSEWHERE = "index"
"""Says where the index of an archive lies, if not in its folder, and as whose it knows it."""
MOST_OF_A_NAME = 4096
STORE = "store"
"""Says which store has the segments of an archive, so that it is never opened without."""

_BEING_REINDEXED = (
    "`archiver reindex` is building the index of this archive again. Try again when it is done."
)
_NOT_INSTALLED = (
    f"A store needs more than is installed: run `{sys.executable} -m pip install obstore`, or "
    "unset ARCHIVER_STORE."
)
_INDEX_IS_OTHER = (
    "The index of this archive is {}: set ARCHIVER_INDEX to that, or unset it where that is a "
    "file. Or run `archiver reindex`, which builds it where the settings say. If that very index "
    "has another address now, put it into the first line of {}."
)
_INDEX_IS_OF_OTHER = (
    "{} is the index of another data directory. Set ARCHIVER_INDEX to a database of this one's "
    "own; or, for several to share it, ARCHIVER_STORE to one store for all of them."
)
_STORE_IS_OTHER = "The segments of this index's archive lie in {}: set ARCHIVER_STORE to that."
_HAS_ANOTHER = (
    "{} holds an archive of its own, and can't take part in that of {}. Choose an empty directory "
    "with --data or ARCHIVER_DATA."
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
        db = await _open_database(settings, store)
        try:
            await recover(db, store)
            yield Archive(settings, db, store)
        finally:
            await db.close()


async def _open_database(settings: Settings, store: SegmentStore) -> Database:
    engines = await asyncio.to_thread(_open_index, settings)
    if not engines.is_shared:
        return Database(engines)
    machine = await asyncio.to_thread(machine_of, settings.data)
    return Database(engines, worker=store.writer, machine=machine)


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
    before = _known_store(settings.data)
    if before and before != settings.store:
        raise ConfigurationError(
            f"The segments of this archive lie in {before}: set ARCHIVER_STORE to that. If they "
            f"were moved, remove {known}."
        )
    if settings.store is None:
        return Shelf(warc)
    try:
        shelves = import_module("archiver.warc.object_store")
    except ModuleNotFoundError as error:
        raise ConfigurationError(_NOT_INSTALLED) from error
    shelf: Shelf = shelves.open_bucket_shelf(settings.store, warc, settings.data / UPLOADED)
    if before is None:
        AtomicFile(known, mode=0o644).write(f"{settings.store}\n".encode())
    return shelf


def where_it_lies(data: Path) -> tuple[str | None, str | None]:
    """The addresses of an archive's index and of its store; None for what is in its folder.

    Blocking.
    """
    held = AtomicFile(data / INDEX_ELSEWHERE).read(MOST_OF_A_NAME) or b""
    index = held.decode("utf-8", "replace").partition("\n")[0]
    return index or None, _known_store(data)


def store_no_more(data: Path) -> None:
    """Say that the segments lie in the folder from now on; blocking."""
    (data / STORE).unlink(missing_ok=True)
    sync_directory(data)


def _known_store(data: Path) -> str | None:
    known = data / STORE
    return known.read_text("utf-8").strip() or None if known.exists() else None


def places_of_index(settings: Settings) -> tuple[Engines, Engines]:
    """Where the index of an archive lies, and where the settings want it. Blocking.

    Raises:
        ConfigurationError: an address that can't be understood or reached, or has the index of
            another data directory.
    """
    wanted = engines_of(settings.index or settings.data / INDEX)
    if settings.index:
        _claim(settings, wanted)
    known, _ = _index_elsewhere(settings)
    return engines_of(known or settings.data / INDEX), wanted


def settle_index(settings: Settings, engines: Engines) -> None:
    """Say that the index lies where the settings want it from now on. Blocking.

    Raises:
        ConfigurationError: as for ``places_of_index``.
    """
    if settings.index:
        _claim(settings, engines)
    _say_where(settings)


def _open_index(settings: Settings) -> Engines:
    """The index where the settings want it, and where it was before; of this program's schema."""
    known, _ = _index_elsewhere(settings)
    if not known and settings.index and (settings.data / INDEX).exists():
        known = str(settings.data / INDEX)
    if known and not is_one_place(known, settings.index or ""):
        where = settings.data / INDEX_ELSEWHERE
        raise ConfigurationError(_INDEX_IS_OTHER.format(known, where))
    engines = engines_of(settings.index or settings.data / INDEX)
    engines.prepare()
    if settings.index:
        _claim(settings, engines)
        _say_where(settings)
    return engines


def _claim(settings: Settings, engines: Engines) -> None:
    """Let an index that is nobody's be this folder's archive's, or this folder join another.

    The folder knows its name before the index does: a kill in between leaves nobody shut out.
    """
    file = AtomicFile(settings.data / INDEX_ELSEWHERE, mode=0o644)
    with file.alone():
        known, name = _index_elsewhere(settings)
        if not name:
            name = uuid4().hex
            file.write(f"{known}\n{name}\n".encode())
        owner, store = engines.belong_to(name, settings.store)
        if owner != name:
            _refuse_to_join(settings, engines, store)
            file.write(f"{settings.index}\n{owner}\n".encode())
        elif store != settings.store:
            raise ConfigurationError(_STORE_IS_OTHER.format(store))


def _refuse_to_join(settings: Settings, engines: Engines, store: str | None) -> None:
    """Raise unless this folder may become one of several at an archive."""
    if not (store and settings.store):
        raise ConfigurationError(_INDEX_IS_OF_OTHER.format(engines.place))
    if store != settings.store:
        raise ConfigurationError(_STORE_IS_OTHER.format(store))
    known, _ = _index_elsewhere(settings)
    segments = settings.data / SEGMENTS
    if known or (settings.data / INDEX).exists() or any(segments.glob("*.warc.gz")):
        raise ConfigurationError(_HAS_ANOTHER.format(settings.data, engines.place))


def _say_where(settings: Settings) -> None:
    file = AtomicFile(settings.data / INDEX_ELSEWHERE, mode=0o644)
    known, name = _index_elsewhere(settings)
    if known != (settings.index or ""):
        file.write(f"{settings.index or ''}\n{name}\n".encode())


def _index_elsewhere(settings: Settings) -> tuple[str, str]:
    """Where the index lies, if not in the folder, and this folder's name; empty if unknown."""
    held = AtomicFile(settings.data / INDEX_ELSEWHERE).read(MOST_OF_A_NAME) or b""
    known, name, *_ = [*held.decode("utf-8", "replace").splitlines(), "", ""]
    return known, name


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
