"""The open index: one connection that writes, a few that read."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.errors import IndexUnavailable
from archiver.finishing import to_its_end
from archiver.index.dialect import dialect_named
from archiver.index.dialect.port import WordIndex
from archiver.index.engine import Engines, SqliteIndex, engines_of, is_one_place
from archiver.index.worker_locks import GivenUp, WorkerLocks

__all__ = ["AsyncConnection", "Database", "Engines", "engines_of", "is_one_place"]

BUSY_SECONDS = 60
"""How long a writer waits for writers of other processes."""
HURRY_SECONDS = 3
_IN_THE_WAY = "another process has been writing for too long"


class Database:
    """The open index. ``Database.open`` opens it, its owner closes it.

    Attributes:
        machine: the name of this machine among those that share the index; None with SQLite.
        locks: of this process as a worker; None with SQLite.
        given_up: the workers of a shared index that have no lock.

    Args:
        engines: what ``engines_of`` returned.
        worker: the name of this process's run lock, on a server.
        machine: the name of the data directory, on a server.
    """

    def __init__(
        self, engines: Engines, *, worker: str | None = None, machine: str | None = None
    ) -> None:
        self._engines = engines
        self._write_lock = asyncio.Lock()
        self._writer = engines.writer()
        self._readers = engines.readers()
        self._last_moment = inf
        self.machine = machine
        self.given_up = GivenUp()
        self.locks: WorkerLocks | None = None
        if worker and machine and not isinstance(engines, SqliteIndex):
            self.locks = WorkerLocks(worker, machine, engines.connect)

    @classmethod
    async def open(cls, place: Path | str) -> "Database":
        """Open the index at a path or an address; create or migrate it first if needed.

        Raises:
            ConfigurationError: a newer version wrote it, it is no database, or it can't be reached.
        """
        return await cls.opened(engines_of(place))

    @classmethod
    async def opened(cls, engines: Engines) -> "Database":
        """Open what ``engines_of`` returned."""
        await asyncio.to_thread(engines.prepare)
        return cls(engines)

    @property
    def is_shared(self) -> bool:
        """Whether other machines can use the same index."""
        return self._engines.is_shared

    @property
    def words(self) -> WordIndex:
        """How the database stores the words of documents."""
        return dialect_named(self._writer.dialect.name).words

    def identity(self) -> tuple[int | str, ...]:
        """Return what differs after the index was rebuilt."""
        return self._engines.identity()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection that sees one snapshot of the index and changes nothing.

        Raises:
            IndexUnavailable: the index can't be read now.
        """
        try:
            async with self._readers.connect() as conn:
                yield conn
        except (DBAPIError, NoConnection, TimeoutError) as error:
            raise self._unavailable("{path} can't be read: {orig}.", error) from error

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """Yield the writing connection, in a transaction that commits unless the block raises.

        Raises:
            IndexUnavailable: nothing can be written now.
        """
        try:
            async with self._write_lock, self._writer.connect() as conn:
                await self._begin(conn)
                try:
                    yield conn
                except BaseException:
                    await to_its_end(conn.rollback())
                    raise
                await to_its_end(conn.commit())
        except DBAPIError as error:
            if not self._engines.is_down(error):
                raise
            raise self._unavailable("{path} can't be written: {orig}.", error) from error

    async def _begin(self, conn: AsyncConnection) -> None:
        seconds = min(BUSY_SECONDS, self._last_moment - time.monotonic())
        try:
            async with asyncio.timeout(seconds):
                await self._engines.begin_write(conn)
        except TimeoutError as error:
            raise IndexUnavailable(
                "{path} can't be written: {orig}.", path=self._engines.place, orig=_IN_THE_WAY
            ) from error

    def _unavailable(self, message: str, error: Exception) -> IndexUnavailable:
        orig = self._engines.message_of(error) if isinstance(error, DBAPIError) else str(error)
        return IndexUnavailable(message, path=self._engines.place, orig=orig)

    async def enter(self) -> None:
        """Take the worker lock on a server: before this process owns jobs or imports.

        Raises:
            IndexUnavailable: the server can't be reached.
        """
        if self.locks:
            await self.locks.enter()

    def hurry(self) -> None:
        """Wait for other processes' writers only for a few seconds in all from now on."""
        self._last_moment = min(self._last_moment, time.monotonic() + HURRY_SECONDS)

    async def close(self) -> None:
        """Close every connection."""
        if self.locks:
            await self.locks.leave()
        await self._readers.dispose()
        await self._writer.dispose()
