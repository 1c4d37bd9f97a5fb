"""Opens an index in SQLite: one writer, a few readers, WAL.

A write transaction begins with ``BEGIN IMMEDIATE``: a reader that turns writer half way fails at
once in SQLite, whatever the timeout, so nothing here ever does.
"""

import fcntl
import os
import sqlite3
import time
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from archiver.errors import ConfigurationError
from archiver.index.dialect.sqlite import WRITER_CACHE_KB, Sqlite
from archiver.index.dialect.upgrading import REVISION, is_current, upgrade
from archiver.index.dialect.writer_gate import LOCKS, Gate
from archiver.index.schema import HEAD

PAGE_BYTES = 16_384
"""Of an index that is made now; each keeps the size that it was made with."""
READER_CACHE_KB = 8_000
BUSY_SECONDS = 60
SLICE_MILLISECONDS = 250
"""How long a writer sleeps in SQLite before it looks whether it is still to wait."""
_SHORT_PATIENCE = f"PRAGMA busy_timeout = {SLICE_MILLISECONDS}"
_PRIMARY = 0xFF
"""The bits of a result code without what extends it."""
_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
)


class SqliteEngines:
    """An index in a file."""

    dialect = Sqlite()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = str(path)
        self._gate = Gate(path)

    def prepare(self) -> None:
        """Bring the file to this program's schema; blocking.

        Raises:
            ConfigurationError: it was written by a newer version, or is no database.
        """
        locks = self.path.parent / LOCKS
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / "migrate").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._is_current():
                return
            begin = "BEGIN"  # whoever finds all in order waits for no writer
            engine = create_engine(f"sqlite:///{self.path}", poolclass=NullPool)
            size = f"PRAGMA page_size = {PAGE_BYTES}"
            event.listen(engine, "connect", lambda dbapi, _: _pragma(dbapi, size))
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", lambda conn: conn.exec_driver_sql(begin))
            try:
                with engine.connect() as conn:
                    if is_current(conn):
                        return
                begin = "BEGIN IMMEDIATE"
                with engine.connect() as conn:
                    upgrade(conn, self.place)
            except DatabaseError as error:
                raise ConfigurationError(
                    f"{self.path} can't be opened: {error.orig}. If it is damaged, `archiver "
                    "reindex` builds it again from the WARC files."
                ) from error
            finally:
                engine.dispose()

    def _is_current(self) -> bool:
        """Whether it surely has this program's schema: each command asks, so it is asked plainly.

        What is wrong with a file that can't say so shows where it is brought there.
        """
        try:
            with closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)
            ) as conn:
                return conn.execute(REVISION).fetchall() == [(HEAD,)]
        except sqlite3.Error:
            return False

    def writing(self, silent_seconds: float = 0.0, *, asks_first: bool = False) -> Engine:
        """Opens the connection that writes: SQLite's own patience can't be broken off.

        Who is silent there is of this machine, where it is seen; to ask is no wait.
        """
        del silent_seconds, asks_first
        engine = self._engine("BEGIN IMMEDIATE", WRITER_CACHE_KB)
        event.listen(engine, "connect", lambda dbapi, _: _pragma(dbapi, _SHORT_PATIENCE))
        return engine

    def reading(self) -> Engine:
        """Opens connections that read."""
        return self._engine("BEGIN", READER_CACHE_KB)

    def signing(self, silent_seconds: float = 0.0) -> Engine:
        """As ``writing``: a file has one writer at a time."""
        return self.writing(silent_seconds)

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Hold what only one task of one process has at a time."""
        return self._gate.passed()

    def is_wanted(self) -> bool:
        """Whether somebody waits to write, in any process."""
        return self._gate.is_wanted()

    def begins_again(self, error: DBAPIError, since: float) -> bool:
        """Whether a lock was in the way, of whatever kind, and there is patience left."""
        code: int = getattr(error.orig, "sqlite_errorcode", 0)
        patient = time.monotonic() < min(since + BUSY_SECONDS, self._gate.last_moment)
        return patient and code & _PRIMARY == sqlite3.SQLITE_BUSY

    def is_down(self, error: DBAPIError) -> bool:
        """Whether nothing can be written for now, whatever it is: no room, or a lock."""
        return isinstance(error, OperationalError)

    def message_of(self, error: DBAPIError) -> str:
        """What an error says."""
        return str(error.orig)

    def identity(self) -> tuple[int | str, ...]:
        """The file that this path is now."""
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def belong_to(self, name: str, store: str | None) -> tuple[str, str | None]:
        """It is its folder's."""
        return name, store

    def is_there(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    def beside(self) -> "SqliteEngines":
        """The file that is built to take this one's place."""
        return SqliteEngines(self.path.with_name(f"{self.path.name}.new"))

    def remove(self) -> None:
        """Remove the file, and what SQLite keeps beside it."""
        self._remove("", "-wal", "-shm")

    def replace(self) -> None:
        """Put the one beside into this one's place, so that a whole one is always there.

        Closing an index moves its log into it, and the log of another would be taken for the new
        one's: so what is left of the old one's goes first.
        """
        self._remove("-wal", "-shm")
        self.beside().path.replace(self.path)
        directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _remove(self, *suffixes: str) -> None:
        for suffix in suffixes:
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def hurry(self) -> None:
        """Be patient for some seconds in all from now on."""
        self._gate.hurry()

    def close(self) -> None:
        """Let go of the gate."""
        self._gate.close()

    def _engine(self, begin: str, cache_kb: int) -> Engine:
        engine = create_engine(
            f"sqlite:///{self.path}", poolclass=NullPool, connect_args={"check_same_thread": False}
        )
        event.listen(engine, "connect", _prepare)
        event.listen(
            engine, "connect", lambda dbapi, _: _pragma(dbapi, f"PRAGMA cache_size = -{cache_kb}")
        )
        event.listen(engine, "begin", lambda conn: conn.exec_driver_sql(begin))
        return engine


def _prepare(connection: Any, _record: object) -> None:
    """Set a new connection up; transactions are begun by us, not guessed by the driver."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _pragma(connection: Any, statement: str) -> None:
    cursor = connection.cursor()
    cursor.execute(statement)
    cursor.close()
