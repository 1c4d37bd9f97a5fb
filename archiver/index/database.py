"""Opens the index: one writer, a few readers, WAL.

A write transaction begins with ``BEGIN IMMEDIATE``: a reader that turns writer half way fails at
once in SQLite, whatever the timeout, so nothing here ever does.
"""

import asyncio
import fcntl
import math
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, InvalidRequestError, OperationalError
from sqlalchemy.pool import NullPool

from archiver.errors import ConfigurationError, IndexUnavailable
from archiver.index.connection import AsyncConnection, Connections
from archiver.index.schema import HEAD

__all__ = ["AsyncConnection", "Database", "migrate"]

LOCKS = "run"
READERS = 4
GATE_SECONDS = 0.002
WRITER_CACHE_KB = 16_000
READER_CACHE_KB = 2_000
MUCH_CACHE_KB = 64_000
BUSY_SECONDS = 60
HURRY_SECONDS = 3
SLICE_MILLISECONDS = 250
"""How long a writer sleeps in SQLite before it looks whether it is still to wait."""
_IN_THE_WAY = "another process writes, and we stop"
_SHORT_PATIENCE = f"PRAGMA busy_timeout = {SLICE_MILLISECONDS}"
_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
)


class Database:
    """The open index. Made by ``Database.open``; closed by its owner."""

    def __init__(self, path: Path) -> None:
        self.path = path
        writing = _engine(path, "BEGIN IMMEDIATE", WRITER_CACHE_KB)
        event.listen(writing, "connect", lambda dbapi, _: _pragma(dbapi, _SHORT_PATIENCE))
        self._writer = Connections(writing, 1, begins_again=self._is_patient)
        reading = _engine(path, "BEGIN", READER_CACHE_KB)
        self._readers = Connections(reading, READERS, begins_again=lambda _: False)
        self._last_moment = math.inf
        self._turn = asyncio.Lock()
        self._gate = -1
        self._wanted = -1
        self._waiting = 0
        self._others_first = False

    @classmethod
    async def open(cls, path: Path) -> "Database":
        """Open the index at ``path``, made or migrated first where that is needed.

        Raises:
            ConfigurationError: the file was written by a newer version, or is no database.
        """
        await asyncio.to_thread(migrate, path)
        return cls(path)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection that sees one moment of the index and changes nothing."""
        try:
            async with self._readers.transaction() as conn:
                yield conn
        except DatabaseError as error:
            raise IndexUnavailable(
                "{path} can't be read: {orig}.", path=self.path, orig=error.orig
            ) from error

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """The writing connection, in a transaction that commits unless the block raises."""
        try:
            async with self._alone(), self._writer.transaction() as conn:
                yield conn
        except OperationalError as error:
            raise IndexUnavailable(
                "{path} can't be written: {orig}.", path=self.path, orig=error.orig
            ) from error

    @asynccontextmanager
    async def write_much(self) -> AsyncIterator[AsyncConnection]:
        """``write``, with memory for the many pages that new rows touch all over some indexes."""
        async with self.write() as conn:
            await conn.exec_driver_sql(f"PRAGMA cache_size = -{MUCH_CACHE_KB}")
            try:
                yield conn
            finally:
                # A connection that was broken off is not used again.
                with suppress(InvalidRequestError):
                    await conn.exec_driver_sql(f"PRAGMA cache_size = -{WRITER_CACHE_KB}")

    def hurry(self) -> None:
        """Let writers wait for other programs for some seconds in all, and no longer: we stop.

        What they would have written is refused then, as where the disk is full.
        """
        self._last_moment = min(self._last_moment, time.monotonic() + HURRY_SECONDS)

    def _is_patient(self, since: float) -> bool:
        return time.monotonic() < min(since + BUSY_SECONDS, self._last_moment)

    def is_wanted(self) -> bool:
        """Whether somebody waits to write, in any process: a long transaction makes room then."""
        return bool(self._waiting) or self._is_wanted_elsewhere()

    def _is_wanted_elsewhere(self) -> bool:
        if _try_lock(self._wanted):
            fcntl.flock(self._wanted, fcntl.LOCK_UN)
            return False
        return True

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Hold what only one task of one process has at a time.

        SQLite lets in whoever asks just then, after sleeps of up to a tenth of a second: two that
        write much would spend their time asleep.
        """
        self._open_locks()
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            await self._pass_gate()
            try:
                yield
            finally:
                fcntl.flock(self._gate, fcntl.LOCK_UN)
                self._others_first = self._is_wanted_elsewhere()
        finally:
            self._turn.release()

    async def _pass_gate(self) -> None:
        """Wait until no other process writes, and say so meanwhile."""
        if self._others_first:
            await asyncio.sleep(2 * GATE_SECONDS)
        if _try_lock(self._gate):
            return
        try:
            # Nothing tells a loop that another process let go; a thread's wait can't be broken off.
            while not _try_lock(self._gate):
                if time.monotonic() >= self._last_moment:
                    raise IndexUnavailable(
                        "{path} can't be written: {in_the_way}.",
                        path=self.path,
                        in_the_way=_IN_THE_WAY,
                    )
                _try_lock(self._wanted, fcntl.LOCK_SH)
                await asyncio.sleep(GATE_SECONDS)
        finally:
            fcntl.flock(self._wanted, fcntl.LOCK_UN)

    def _open_locks(self) -> None:
        if self._gate < 0:
            locks, flags = self.path.parent / LOCKS, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
            self._gate = os.open(locks / "writing", flags, 0o644)
            self._wanted = os.open(locks / "wanted", flags, 0o644)

    async def close(self) -> None:
        """Close every connection."""
        await self._readers.close()
        await self._writer.close()
        if self._gate >= 0:
            os.close(self._gate)
            os.close(self._wanted)
            self._gate = self._wanted = -1


def migrate(path: Path) -> None:
    """Bring the file at ``path`` to this program's schema; blocking.

    Raises:
        ConfigurationError: the file was written by a newer version, or is no database.
    """
    locks = path.parent / LOCKS
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / "migrate").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begin = "BEGIN"  # whoever finds all in order waits for no writer
        engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", lambda conn: conn.exec_driver_sql(begin))
        try:
            with engine.connect() as conn:
                if _revision(conn) == HEAD:
                    return
            begin = "BEGIN IMMEDIATE"
            with engine.connect() as conn:
                _upgrade(conn, path)
        except DatabaseError as error:
            raise ConfigurationError(
                f"{path} can't be opened: {error.orig}. If it is damaged, `archiver reindex` "
                "builds it again from the WARC files."
            ) from error
        finally:
            engine.dispose()


def _try_lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _upgrade(conn: Connection, path: Path) -> None:
    found = _revision(conn)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise ConfigurationError(
            f"{path} was written by a newer version of archiver (schema {found}, this one knows "
            f"{HEAD}). Update the program, or run `archiver reindex` to build the index again."
        )
    import_module("archiver.index.migration").upgrade(conn)


def _revision(conn: Connection) -> str | None:
    known = conn.execute(text("SELECT name FROM sqlite_master WHERE name = 'alembic_version'"))
    if known.scalar() is None:
        return None
    revision: str | None = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _engine(path: Path, begin: str, cache_kb: int) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", poolclass=NullPool, connect_args={"check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "connect", lambda dbapi, _: _cache(dbapi, cache_kb))
    event.listen(engine, "begin", lambda conn: conn.exec_driver_sql(begin))
    return engine


def _prepare(connection: Any, _record: object) -> None:
    """Set a new connection up; transactions are begun by us, not guessed by the driver."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _cache(connection: Any, kilobytes: int) -> None:
    _pragma(connection, f"PRAGMA cache_size = -{kilobytes}")


def _pragma(connection: Any, statement: str) -> None:
    cursor = connection.cursor()
    cursor.execute(statement)
    cursor.close()
