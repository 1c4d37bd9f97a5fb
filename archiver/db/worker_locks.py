"""PostgreSQL advisory locks of workers: a lock that shows that a worker runs, and host locks.

A worker holds its locks with one session on a separate connection, on which it sends a statement
every ``CHECK_SECONDS``. PostgreSQL releases the locks when that session ends: because the process
or its machine died, because the network was interrupted, or because the process was suspended and
the session was idle for ``IDLE_SECONDS``. A worker without a response for ``FETCH_SECONDS`` does
not fetch. This time is shorter, so it has stopped before another worker can lock its hosts.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from socket import gethostname
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.errors import IndexUnavailable
from archiver.helpers import run_to_completion
from archiver.logs import get_log

if TYPE_CHECKING:
    import asyncpg

CHECK_SECONDS = 0.5
CLOSE_SECONDS = 1.0
FETCH_SECONDS = 20
IDLE_SECONDS = 30
# 1634886519 is the first key of the lock that all workers share, 1634886504 that of host locks.
_ENTER = """SELECT set_config('application_name', $1, false),
set_config('idle_session_timeout', $2, false), pg_advisory_lock_shared(1634886519, 0)"""
_WORKERS = """SELECT split_part(application_name, ' ', 2) AS name,
split_part(application_name, ' ', 3) AS machine, coalesce(host(client_addr), '') AS address,
backend_start AS since FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1634886519
AND datname = current_database() ORDER BY backend_start"""
_TAKE = """SELECT host FROM unnest(CAST($1 AS TEXT[])) AS host
WHERE pg_try_advisory_lock(1634886504, hashtext(host)) LIMIT $2"""
_LEAVE = """SELECT pg_advisory_unlock(1634886504, hashtext(host))
FROM unnest(CAST($1 AS TEXT[])) AS host"""

log = get_log(__name__)


class WorkerLocks:
    """Locks of this process. ``permit`` takes the worker lock, ``leave`` releases all locks.

    Attributes:
        workers: number of workers on all machines at the last check.

    Args:
        name: name of this process, as the owner of jobs.
        connect: function that opens a connection to the server, or raises ``IndexUnavailable``.
    """

    def __init__(
        self, name: str, connect: "Callable[[], Awaitable[asyncpg.Connection[Any]]]"
    ) -> None:
        self.workers = 1
        self._name = f"archiver {name} {gethostname()}"
        self._connect = connect
        self._connection: asyncpg.Connection[Any] | None = None
        self._using = asyncio.Lock()
        self._holding: asyncio.Task[None] | None = None
        self._checked_at = float("-inf")
        self._checked = asyncio.Event()
        self._lost = asyncio.Event()
        self._hosts: set[str] = set()

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that this worker has locked."""
        return frozenset(self._hosts)

    async def permit(self) -> None:
        """Wait until this worker has the worker lock and may fetch."""
        self._holding = self._holding or asyncio.create_task(self._hold(), name="worker-locks")
        while self._connection is None or _now() - self._checked_at > FETCH_SECONDS:
            self._checked.clear()
            await self._checked.wait()

    async def lost(self) -> None:
        """Wait until the worker lock is lost."""
        await self._lost.wait()

    async def leave(self) -> None:
        """Release all locks."""
        self._connection = None
        self._hosts.clear()
        if self._holding:
            self._holding.cancel()
            await asyncio.wait([self._holding])

    async def take_hosts(self, hosts: Sequence[str], *, most: int) -> list[str]:
        """Lock hosts in order, until this worker has ``most`` of them.

        Hosts that another worker has locked are skipped.

        Returns:
            The hosts in ``hosts`` that this worker has locked.

        Raises:
            IndexUnavailable: the connection was lost, which released all locks.
        """
        unlocked = [host for host in hosts if host not in self._hosts]
        more = most - (len(hosts) - len(unlocked))
        if unlocked and more > 0:
            await run_to_completion(self._lock_hosts(unlocked, more))
        return [host for host in hosts if host in self._hosts]

    async def _lock_hosts(self, hosts: Collection[str], most: int) -> None:
        self._hosts.update(row["host"] for row in await self._fetch(_TAKE, hosts, most))

    async def leave_hosts(self, hosts: Iterable[str]) -> None:
        """Unlock hosts."""
        released = self._hosts.intersection(hosts)
        if released:
            self._hosts -= released
            await run_to_completion(self._fetch(_LEAVE, released))

    async def _hold(self) -> None:
        """Take the worker lock, check it every ``CHECK_SECONDS``, and take it again if lost."""
        while True:
            with suppress(IndexUnavailable):
                await self._hold_with(await self._connect())
            await asyncio.sleep(CHECK_SECONDS)

    async def _hold_with(self, connection: "asyncpg.Connection[Any]") -> NoReturn:
        try:
            await self._fetch(_ENTER, self._name, f"{IDLE_SECONDS}s", connection=connection)
            connection.add_termination_listener(self._end)
            while True:
                self.workers = len(await self._fetch(_WORKERS, connection=connection))
                self._connection = connection
                self._lost.clear()
                await asyncio.sleep(CHECK_SECONDS)
        finally:
            with suppress(Exception):
                await connection.close(timeout=CLOSE_SECONDS)
            self._end(connection)

    def _end(self, connection: "asyncpg.Connection[Any]") -> None:
        connection.terminate()
        if connection is self._connection:
            self._connection = None
            self._hosts.clear()
            self._lost.set()
            log.warning("lost the connection that holds the worker locks; fetching has stopped")

    async def _fetch(
        self,
        statement: str,
        *values: object,
        connection: "asyncpg.Connection[Any] | None" = None,
    ) -> Sequence[Any]:
        async with self._using:
            connection, started = connection or self._connection, _now()
            if connection is None:
                raise _unavailable(None)
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    rows: Sequence[Any] = await connection.fetch(statement, *values)
            except Exception as error:
                self._end(connection)
                raise _unavailable(error) from error
            self._checked_at = started
            self._checked.set()
            return rows


async def all_workers(conn: AsyncConnection) -> Sequence[Any]:
    """Return the workers that hold the worker lock, the oldest first.

    Each row has the ``name`` of the process, which is also in the names of its run lock and its
    segments; the host name of its ``machine``; the IP ``address`` from which it connects, empty for
    a Unix socket; and when its session began (``since``).
    """
    return (await conn.execute(text(_WORKERS))).all()


def _now() -> float:
    """Return seconds from a clock that also runs while the process or machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _unavailable(error: Exception | None) -> IndexUnavailable:
    return IndexUnavailable(
        "This worker lost its connection to PostgreSQL: {orig}. It will reconnect.",
        orig=str(error).rstrip(".") or type(error).__name__ if error else "no connection",
    )
