"""Open archive: its locks, segments and database.

Every process that uses an archive holds a shared lock on it; a rebuild of the index takes the lock
exclusively. The kernel releases the lock when a process dies.
"""

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from uuid import uuid4

from archiver import __version__
from archiver.config import INDEX, SEGMENTS, Settings
from archiver.crawl.crash_recovery import recover
from archiver.db.engine import Database, Engines, SqliteIndex, index_at, is_same_index
from archiver.errors import ConfigurationError, DiskNotWritable, IndexUnavailable, StoreError
from archiver.helpers import AtomicFile, sync_directory
from archiver.logs import get_log
from archiver.warc.locks import ArchiveLock, NoLock, RunLock
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segments import SegmentStore

LATEST_CLOCK = 7_258_118_400
"""The start of the year 2200 in Unix seconds."""
LOCKS = "run"
EXPORTS = "exports"
UPLOADED = "uploaded"
MAX_UPLOAD_BYTES = 64 << 20
"""Maximum size of a segment that is uploaded, so that an upload takes seconds."""
INDEX_FILE = "index"
"""File with the address of an external index, and with the archive's name.

The index contains the same name, so an index of another archive is noticed.
"""
MAX_ADDRESS_BYTES = 4096
STORE = "store"
"""File with the address of the object store. The archive is not opened without that store."""

_BEING_REINDEXED = (
    "`archiver reindex` is rebuilding the index of this archive. Try again when it has finished."
)
_OTHER_INDEX = (
    "The index of this archive is {}. Set ARCHIVER_INDEX to this value (unset it for a file), or "
    "run `archiver reindex` to build an index at the place in the settings. If the same database "
    "has a new address, write it into the first line of {}."
)
_INDEX_OF_OTHER_ARCHIVE = (
    "{} is the index of another data directory. Set ARCHIVER_INDEX to a separate database, or "
    "set ARCHIVER_STORE to the same object store for all machines that share the index."
)
_OTHER_STORE = "The segments of this archive are in {}. Set ARCHIVER_STORE to this value."
_OTHER_ARCHIVE = (
    "{} contains a separate archive, so it cannot be a data directory of {}. Choose an empty "
    "directory with --data or ARCHIVER_DATA."
)
_NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT}
_IN_USE = (
    "The archive is in use by another process. Stop the server and all crawls, then try again."
)


log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Archive:
    """Archive opened by this process; ``store`` writes segments under the process's name."""

    settings: Settings
    db: Database
    store: SegmentStore


@asynccontextmanager
async def open_archive(settings: Settings, *, reads_only: bool = False) -> AsyncIterator[Archive]:
    """Open the archive, which other processes may use too, and recover after killed processes.

    Args:
        settings: settings.
        reads_only: whether the caller only reads. Then a full or read-only disk is tolerated, and a
            failed recovery is only logged.

    Raises:
        ConfigurationError: the data directory can't be used, or its index is being rebuilt.
        StoreError: the directory of the segments can't be read.
    """
    async with AsyncExitStack() as stack:
        try:
            archive = await stack.enter_async_context(
                _open_to_write(settings, reads_only=reads_only)
            )
        except DiskNotWritable:
            index = settings.data / INDEX
            if not reads_only or settings.index or not await asyncio.to_thread(index.exists):
                raise
            archive = await stack.enter_async_context(_open_to_read(settings))
        yield archive


@asynccontextmanager
async def _open_to_read(settings: Settings) -> AsyncIterator[Archive]:
    """Open an archive on a full or read-only disk, to which no process writes."""
    engines = SqliteIndex(settings.data / INDEX, is_read_only=True)
    await asyncio.to_thread(engines.prepare_to_read)
    storage = SegmentStorage(settings.data / SEGMENTS)
    store = SegmentStore(
        storage,
        lock=NoLock(settings.data / LOCKS),
        segment_bytes=settings.segment_bytes,
        software=f"archiver/{__version__}",
    )
    db = Database(engines)
    try:
        yield Archive(settings, db, store)
    finally:
        await db.close()


@asynccontextmanager
async def _open_to_write(settings: Settings, *, reads_only: bool) -> AsyncIterator[Archive]:
    if not reads_only and not 0 <= time.time() < LATEST_CLOCK:
        # Before 1970, jobs would never be due. Later, numbers of deletions are too large to store.
        raise ConfigurationError(
            "The clock of this machine is before 1970 or after 2200. Set it, and try again."
        )
    async with (
        _locked(settings.data, exclusive=False),
        open_store(settings, await asyncio.to_thread(open_storage, settings)) as store,
    ):
        engines = await asyncio.to_thread(_open_index, settings)
        db = Database(engines, worker=store.writer)
        try:
            try:
                await recover(db, store)
            except (IndexUnavailable, StoreError) as error:
                if not reads_only:
                    raise
                log.warning(
                    "recovery after a killed process failed; another process will retry",
                    reason=str(error),
                )
            yield Archive(settings, db, store)
        finally:
            await db.close()


@asynccontextmanager
async def open_store_alone(settings: Settings) -> AsyncIterator[SegmentStore]:
    """Open the segments exclusively: no other process may use the archive.

    Raises:
        ConfigurationError: the data directory can't be used, or another process uses it.
    """
    async with (
        _locked(settings.data, exclusive=True),
        open_store(settings, await asyncio.to_thread(open_storage, settings)) as store,
    ):
        yield store


def open_storage(settings: Settings) -> SegmentStorage:
    """Open the segment storage: a folder or an object store.

    Blocking.

    Raises:
        ConfigurationError: the store differs from the previous one, or can't be used.
        StoreUnavailable: the store does not respond.
    """
    warc, address_file = settings.data / SEGMENTS, settings.data / STORE
    _, before, _ = locations_of(settings.data)
    if before and before != settings.store:
        why = f" If you moved them yourself, remove {address_file}."
        raise ConfigurationError(_OTHER_STORE.format(before) + why)
    if settings.store is None:
        return SegmentStorage(warc)
    from archiver.warc.object_store import open_bucket_storage

    storage = open_bucket_storage(settings.store, warc, settings.data / UPLOADED)
    if not before:
        AtomicFile(address_file, mode=0o644).write(f"{settings.store}\n".encode())
    return storage


def locations_of(data: Path) -> tuple[str, str, str]:
    """Return the recorded addresses of the external index and the object store, and the name.

    An address is empty if the index, or the segments, are in the data directory; the name is the
    archive's name in an external index. Blocking.
    """
    files = [AtomicFile(data / each).read(MAX_ADDRESS_BYTES) or b"" for each in (INDEX_FILE, STORE)]
    address, name, *_ = [*files[0].decode("utf-8", "replace").splitlines(), "", ""]
    return address, files[1].decode().strip(), name


def forget_store(data: Path) -> None:
    """Remove the store's address, because the segments are in the folder now. Blocking."""
    (data / STORE).unlink(missing_ok=True)
    sync_directory(data)


def index_locations(settings: Settings) -> tuple[Engines, Engines]:
    """Return the index at its current location, and the one at the configured location.

    Blocking.

    Raises:
        ConfigurationError: an address is invalid or unreachable, or has the index of another data
            directory.
    """
    configured = index_at(settings.index or settings.data / INDEX)
    if settings.index:
        _claim_index(settings, configured)
    address, _, _ = locations_of(settings.data)
    return index_at(address or settings.data / INDEX), configured


def replace_index(settings: Settings, engines: Engines) -> None:
    """Put a rebuilt index in place and record its location. Blocking."""
    engines.replace()
    _record_location(settings)


def _open_index(settings: Settings) -> Engines:
    """Open the index at the configured location, and migrate its schema.

    Raises:
        ConfigurationError: the index of this archive is at another location.
    """
    address, _, _ = locations_of(settings.data)
    if not address and settings.index and (settings.data / INDEX).exists():
        address = str(settings.data / INDEX)
    if address and not is_same_index(address, settings.index or ""):
        where = settings.data / INDEX_FILE
        raise ConfigurationError(_OTHER_INDEX.format(address, where))
    engines = index_at(settings.index or settings.data / INDEX)
    engines.prepare()
    if settings.index:
        _claim_index(settings, engines)
        _record_location(settings)
    return engines


def _claim_index(settings: Settings, engines: Engines) -> None:
    """Claim an unowned index for this data directory, or join the archive that owns it.

    The directory stores the archive's name before the index does, so a kill in between is harmless.
    """
    with AtomicFile(settings.data / INDEX_FILE).locked():
        address, _, name = locations_of(settings.data)
        if not name:
            name = uuid4().hex
            _write_index_file(settings.data, address, name)
        owner, store = engines.claim(name, settings.store)
        if store and store != settings.store:
            raise ConfigurationError(_OTHER_STORE.format(store))
        if owner == name:
            return
        if not store:
            raise ConfigurationError(_INDEX_OF_OTHER_ARCHIVE.format(engines.place))
        segments = (settings.data / SEGMENTS).glob("*.warc.gz")
        if address or (settings.data / INDEX).exists() or any(segments):
            raise ConfigurationError(_OTHER_ARCHIVE.format(settings.data, engines.place))
        _write_index_file(settings.data, str(settings.index), owner)


def _record_location(settings: Settings) -> None:
    address, _, name = locations_of(settings.data)
    if address != (settings.index or ""):
        _write_index_file(settings.data, settings.index or "", name)


def _write_index_file(data: Path, address: str, name: str) -> None:
    AtomicFile(data / INDEX_FILE, mode=0o644).write(f"{address}\n{name}\n".encode())


@asynccontextmanager
async def open_store(settings: Settings, storage: SegmentStorage) -> AsyncIterator[SegmentStore]:
    """Open the segments of an archive, which is already locked, under a new writer name.

    Args:
        settings: settings.
        storage: segment storage, shared by all stores of a process.

    Raises:
        ConfigurationError: the data directory can't be used.
    """
    with _data_directory_errors(settings.data):
        lock = await asyncio.to_thread(RunLock, settings.data / LOCKS)
    try:
        seconds, most = inf, settings.segment_bytes
        if settings.store:
            seconds, most = settings.seal_seconds, min(most, MAX_UPLOAD_BYTES)
        store = SegmentStore(
            storage,
            lock=lock,
            segment_bytes=most,
            segment_seconds=seconds,
            software=f"archiver/{__version__}",
        )
        try:
            yield store
        finally:
            store.close()
    finally:
        lock.release()


@asynccontextmanager
async def _locked(data: Path, *, exclusive: bool) -> AsyncIterator[None]:
    try:
        with _data_directory_errors(data):
            lock = await asyncio.to_thread(ArchiveLock, data / LOCKS, exclusive=exclusive)
    except BlockingIOError as error:
        raise ConfigurationError(_IN_USE if exclusive else _BEING_REINDEXED) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _data_directory_errors(data: Path) -> Iterator[None]:
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        kind = DiskNotWritable if error.errno in _NOT_WRITABLE else ConfigurationError
        raise kind(
            f"Cannot use the data directory {data}: {error.strerror}. Choose another with --data "
            "or ARCHIVER_DATA."
        ) from error
