"""Database engine: connections, and transactions that read or write.

A write transaction on SQLite begins with ``BEGIN IMMEDIATE``, which waits for other writers. A read
transaction that later writes would fail instead of waiting.
"""

import asyncio
import fcntl
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from archiver.db.full_text import WORD_INDEXES, WordIndex
from archiver.db.schema import HEAD
from archiver.db.schema_version import REVISION, upgrade_schema
from archiver.db.worker_locks import WorkerLocks
from archiver.errors import (
    ConfigurationError,
    DiskNotWritable,
    IndexDamaged,
    IndexNotWritable,
    IndexUnavailable,
)
from archiver.helpers import PRIVATE_DIRECTORY, run_to_completion, sync_directory

if TYPE_CHECKING:
    from archiver.db.postgresql import PostgresIndex

__all__ = ["AsyncConnection", "Database", "Engines", "index_at", "is_same_index"]

PAGE_BYTES = 16_384
"""Page size of a new SQLite file."""
READERS = 16
"""Maximum number of connections for reading.

They stay open: opening one costs as much CPU time as several reads. The one that was used last is
taken first, so the caches of the others stay small.
"""
READER_CACHE_KB = 8_000
WRITER_CACHE_KB = 32_000
READER_BUSY_MS = 60_000
WRITER_BUSY_MS = 250
"""Time that SQLite waits for the write lock before ``begin_write`` tries again."""
LOCKS = "run"
"""Directory of lock files, next to the index."""
_PRIMARY = 0xFF
"""Mask that reduces an SQLite result code to its primary code."""
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
)


_DAMAGED = (
    "{} is damaged: {}. Run `archiver reindex` to rebuild it from the WARC files; it copies what "
    "can still be read, and keeps the damaged file."
)
_HAS_LOG = (
    "{} has changes that are not in the index file yet, and reading them needs a disk that can be "
    "written. Copy the data directory to another disk, or free some space."
)
_UNOPENED = (
    "Cannot open {}: {}. Check that the disk has free space and that you have write permission."
)


def is_damage(error: DatabaseError) -> bool:
    """Return whether SQLite reported that the file is damaged or is not a database."""
    code = getattr(error.orig, "sqlite_errorcode", 0) & _PRIMARY
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_disk_full(error: DBAPIError) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", 0) & _PRIMARY
    return code == sqlite3.SQLITE_FULL


class SqliteIndex:
    """Index in an SQLite file.

    Attributes:
        path: the file.
        place: the path as text, for messages.
        is_shared: whether other machines can use the index.
        is_read_only: whether the disk could not be written when the index was opened, so SQLite
            must not create files next to the index.

    Args:
        path: the file.
        is_read_only: see above.
    """

    is_shared = False

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        self.path = path
        self.place = str(path)
        self.is_read_only = is_read_only
        self._opened: tuple[int, int] | None = None

    def prepare_to_read(self) -> None:
        """Check that an index on a read-only disk can be read. Blocking.

        Raises:
            DiskNotWritable: its write-ahead log has changes, which SQLite must copy into the file
                before they can be read.
            ConfigurationError: another version wrote it, or it is not a database.
        """
        self._require_no_directory()
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise DiskNotWritable(_HAS_LOG.format(log))
        engine = create_engine(self._url("sqlite"), poolclass=NullPool)
        try:
            with engine.connect() as conn:
                upgrade_schema(conn, self.place)
        except DatabaseError as error:
            raise IndexDamaged(_DAMAGED.format(self.path, error.orig)) from error
        finally:
            engine.dispose()

    def prepare(self) -> None:
        """Create the schema or migrate it to this program's version. Blocking.

        Raises:
            ConfigurationError: a newer version wrote the file, or it is not a database.
        """
        self._require_no_directory()
        locks = self.path.parent / LOCKS
        locks.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        with (locks / "migrate").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._is_current():
                return
            engine = create_engine(self._url("sqlite"), poolclass=NullPool)
            pragmas = (
                f"PRAGMA page_size = {PAGE_BYTES}",
                f"PRAGMA busy_timeout = {READER_BUSY_MS}",
                *_PRAGMAS,
            )
            event.listen(engine, "connect", lambda dbapi, _: _set_up(dbapi, pragmas))
            event.listen(engine, "begin", _begin_immediate)
            try:
                with engine.connect() as conn:
                    upgrade_schema(conn, self.place)
            except DatabaseError as error:
                if is_damage(error):
                    raise IndexDamaged(_DAMAGED.format(self.path, error.orig)) from error
                raise DiskNotWritable(_UNOPENED.format(self.path, error.orig)) from error
            finally:
                engine.dispose()

    def _require_no_directory(self) -> None:
        if self.path.is_dir():
            raise ConfigurationError(
                f"{self.path} is a directory, but the index is a file. Move the directory to "
                "another place, then run `archiver reindex`."
            )

    def _is_current(self) -> bool:
        """Return whether the file can be read and has this program's schema."""
        try:
            with closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)
            ) as conn:
                return conn.execute(REVISION).fetchall() == [(HEAD,)]
        except sqlite3.Error:
            return False

    def writer(self) -> AsyncEngine:
        """Return an engine with the one connection that writes."""
        engine = self._engine(
            1,
            f"PRAGMA busy_timeout = {WRITER_BUSY_MS}",
            f"PRAGMA cache_size = -{WRITER_CACHE_KB}",
        )
        event.listen(engine.sync_engine, "begin", _begin_immediate)
        return engine

    def readers(self) -> AsyncEngine:
        """Return an engine with connections that read; each transaction reads one snapshot."""
        engine = self._engine(
            READERS,
            f"PRAGMA busy_timeout = {READER_BUSY_MS}",
            f"PRAGMA cache_size = -{READER_CACHE_KB}",
            "PRAGMA query_only = ON",
        )
        event.listen(engine.sync_engine, "begin", _begin_read)
        return engine

    def _engine(self, size: int, *pragmas: str) -> AsyncEngine:
        engine = create_async_engine(
            self._url("sqlite+aiosqlite"), pool_size=size, max_overflow=0, pool_use_lifo=True
        )
        always = ("PRAGMA temp_store = MEMORY",) if self.is_read_only else _PRAGMAS
        event.listen(
            engine.sync_engine, "connect", lambda dbapi, _: _set_up(dbapi, (*always, *pragmas))
        )
        event.listen(engine.sync_engine, "invalidate", _roll_back)
        return engine

    def _url(self, driver: str) -> URL:
        """Return the URL of the file as an object; in a string, a ``?`` would end the path."""
        path = self.path.absolute()
        if self.is_read_only:
            options = {"mode": "ro", "immutable": "1", "uri": "true"}
            return URL.create(driver, database=path.as_uri(), query=options)
        return URL.create(driver, database=str(path))

    async def begin_write(self, conn: AsyncConnection) -> None:
        """Begin a write transaction; wait until no other process writes."""
        if self.is_read_only:
            raise IndexNotWritable(
                "The data directory is read-only, so nothing new can be stored. Make it writable, "
                "then restart archiver."
            )
        while True:
            try:
                await conn.begin()
            except OperationalError as error:
                if getattr(error.orig, "sqlite_errorcode", 0) & _PRIMARY != sqlite3.SQLITE_BUSY:
                    raise
            else:
                break
        await asyncio.to_thread(self.require_present)

    def require_present(self) -> None:
        """Check that the path still leads to the file that was opened. Blocking.

        SQLite reports no error when it writes to a file that was removed.

        Raises:
            IndexUnavailable: the file was removed or replaced.
        """
        try:
            status = self.path.stat()
            found = status.st_dev, status.st_ino
        except OSError:
            found = None
        self._opened = self._opened or found
        if found is None or found != self._opened:
            raise IndexUnavailable(
                "{path} was removed or replaced while in use. Restore the data directory, then "
                "restart archiver.",
                path=self.place,
            )

    def is_down(self, error: DBAPIError) -> bool:
        """Return whether the state of the database caused an error, not a bug of this program."""
        return isinstance(error, OperationalError)

    def message_of(self, error: DBAPIError) -> str:
        """Return the driver's message."""
        return str(error.orig)

    def claim(self, name: str, store: str | None) -> tuple[str, str | None]:
        """Return the arguments unchanged, because an SQLite index needs no claim.

        It belongs to the archive in whose directory it is.
        """
        return name, store

    def exists(self) -> bool:
        """Return whether the file exists."""
        return self.path.exists()

    def replacement(self) -> "SqliteIndex":
        """Return the index that a rebuild fills; ``replace`` moves it to this path."""
        return SqliteIndex(self.path.with_name(f"{self.path.name}.new"))

    def remove(self) -> None:
        """Remove the file and its log."""
        self._remove("", "-wal", "-shm")

    def replace(self) -> None:
        """Replace this index with its ``replacement``, which must be closed. Blocking.

        The old write-ahead log is removed first, because SQLite would apply it to the new file.
        """
        self._remove("-wal", "-shm")
        self.replacement().path.replace(self.path)
        sync_directory(self.path.parent)

    def _remove(self, *suffixes: str) -> None:
        for suffix in suffixes:
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _set_up(connection: Any, statements: tuple[str, ...]) -> None:
    """Set up a new connection. Events of the engine begin its transactions, not the driver."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    cursor.close()


def _roll_back(connection: Any, *_: object) -> None:
    """Roll back the transaction of a connection before SQLAlchemy closes it.

    SQLAlchemy closes a connection when a task is cancelled during a statement. SQLite keeps the
    locks of a closed connection until its last cursor is freed, and the traceback of the cancelled
    task still refers to a cursor.
    """
    with suppress(asyncio.CancelledError, ValueError, sqlite3.Error):
        connection.run_async(lambda driver: run_to_completion(driver.rollback()))


def _begin_immediate(conn: Connection) -> None:
    conn.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_read(conn: Connection) -> None:
    """Begin a read transaction with one call to the connection's thread; a cursor needs three."""
    adapted: Any = conn.connection.dbapi_connection
    adapted.run_async(lambda driver: driver.execute("BEGIN"))


Engines: TypeAlias = "SqliteIndex | PostgresIndex"


def index_at(place: Path | str) -> "SqliteIndex | PostgresIndex":
    """Return the index at a path (SQLite) or at a URL (PostgreSQL)."""
    if isinstance(place, Path):
        return SqliteIndex(place)
    from archiver.db.postgresql import PostgresIndex  # noqa: PLC0415 - needs the driver

    return PostgresIndex(place)


def is_same_index(one: str, other: str) -> bool:
    """Return whether two URLs or paths name the same index; options of URLs are ignored."""
    return _place_of(one) == _place_of(other)


def _place_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.username}@{parts.netloc.rpartition('@')[2]}{parts.path}"


BUSY_SECONDS = 60
"""Maximum time that a transaction waits for writers of other processes."""
LAST_WAIT_SECONDS = 3
"""Total time that a stopping process waits for writers of other processes."""
_LOCKED = "another process has held the write lock for too long"


class Database:
    """Open index. Create it with ``open`` or ``opened``, and call ``close`` at the end.

    Attributes:
        locks: PostgreSQL locks of this process as a worker; None with SQLite.

    Args:
        engines: the index (``index_at``).
        worker: name of this process's run lock; only used with PostgreSQL.
    """

    def __init__(self, engines: Engines, *, worker: str | None = None) -> None:
        self._engines = engines
        self._write_lock = asyncio.Lock()
        self._writer = engines.writer()
        self._readers = engines.readers()
        self._last_moment = inf
        self._begin_timeout: asyncio.Timeout | None = None
        self.locks: WorkerLocks | None = None
        if worker and not isinstance(engines, SqliteIndex):
            self.locks = WorkerLocks(worker, engines.connect)

    @classmethod
    async def open(cls, place: Path | str) -> "Database":
        """Open the index at a path or an address; create or migrate it first if needed.

        Raises:
            ConfigurationError: a newer version wrote it, it is not a database, or it can't be
                reached.
        """
        return await cls.opened(index_at(place))

    @classmethod
    async def opened(cls, engines: Engines) -> "Database":
        """Open the index that ``index_at`` returned; create or migrate it first if needed."""
        await asyncio.to_thread(engines.prepare)
        return cls(engines)

    @property
    def is_shared(self) -> bool:
        """Whether other machines can use the same index."""
        return self._engines.is_shared

    @property
    def words(self) -> WordIndex:
        """SQL of the full-text index in this database."""
        return WORD_INDEXES[self._writer.dialect.name]

    @property
    def is_read_only(self) -> bool:
        """Whether the disk could not be written when the index was opened."""
        return isinstance(self._engines, SqliteIndex) and self._engines.is_read_only

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection that reads one snapshot of the index and can't write.

        Raises:
            IndexUnavailable: the index can't be read now.
        """
        try:
            async with self._readers.connect() as conn:
                yield conn
        except (DBAPIError, NoConnection, TimeoutError) as error:
            raise self._unavailable("Cannot read {path}: {orig}.", error) from error

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """Yield the writing connection in a transaction; it commits unless the block raises.

        Raises:
            IndexUnavailable: nothing can be written now.
        """
        try:
            async with self._write_lock, self._writer.connect() as conn:
                await self._begin(conn)
                try:
                    yield conn
                except BaseException:
                    await run_to_completion(conn.rollback())
                    raise
                await run_to_completion(conn.commit())
        except DBAPIError as error:
            if not self._engines.is_down(error):
                raise
            raise self._unavailable("Cannot write to {path}: {orig}.", error) from error

    async def _begin(self, conn: AsyncConnection) -> None:
        seconds = min(BUSY_SECONDS, self._last_moment - time.monotonic())
        try:
            async with asyncio.timeout(seconds) as self._begin_timeout:
                await self._engines.begin_write(conn)
        except TimeoutError as error:
            raise IndexUnavailable(
                "Cannot write to {path}: {orig}.", path=self._engines.place, orig=_LOCKED
            ) from error
        finally:
            self._begin_timeout = None

    def _unavailable(self, message: str, error: Exception) -> IndexUnavailable:
        if isinstance(error, DBAPIError) and _is_disk_full(error):
            return IndexNotWritable(
                "The disk is full, so nothing new can be stored. Free some space."
            )
        orig = self._engines.message_of(error) if isinstance(error, DBAPIError) else str(error)
        unavailable = IndexUnavailable(message, path=self._engines.place, orig=orig)
        unavailable.is_damaged = isinstance(error, DatabaseError) and is_damage(error)
        return unavailable

    def require_present(self) -> None:
        """Check that an SQLite file was not removed or replaced while it is open. Blocking.

        Raises:
            IndexUnavailable: the file was removed or replaced.
        """
        if isinstance(self._engines, SqliteIndex):
            self._engines.require_present()

    async def enter(self) -> None:
        """Take the worker lock on PostgreSQL, before this process owns jobs or imports.

        If the lock was lost, wait until it is taken again.

        Raises:
            IndexUnavailable: the server can't be reached.
        """
        if self.locks:
            await self.locks.permit()

    async def lost(self) -> None:
        """Wait until the worker lock is lost, so that other processes may take jobs and hosts."""
        await (self.locks.lost() if self.locks else asyncio.Event().wait())

    def limit_waits(self) -> None:
        """Limit the time that this stopping process waits for other processes' write locks.

        From now on, it waits ``LAST_WAIT_SECONDS`` in total. A transaction that already waits is
        limited, too.
        """
        self._last_moment = min(self._last_moment, time.monotonic() + LAST_WAIT_SECONDS)
        if self._begin_timeout and not self._begin_timeout.expired():
            soon = asyncio.get_running_loop().time() + LAST_WAIT_SECONDS
            self._begin_timeout.reschedule(min(self._begin_timeout.when() or soon, soon))

    async def close(self) -> None:
        """Close every connection."""
        if self.locks:
            await self.locks.leave()
        await self._readers.dispose()
        await self._writer.dispose()
