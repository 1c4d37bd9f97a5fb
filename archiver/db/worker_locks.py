"""PostgreSQL advisory locks of workers: a lock that shows that a worker runs, and host locks.

A worker holds its locks with one session on a separate connection. PostgreSQL releases them when
that session ends: because the process or its machine died, because the network was interrupted, or
because the process was suspended and the session was idle for ``IDLE_TIMEOUT_SECONDS``. A worker
that notices the loss stops fetching, and other workers requeue its jobs.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from socket import gethostname
from typing import TYPE_CHECKING, Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.errors import IndexUnavailable
from archiver.helpers import run_to_completion
from archiver.logs import get_log

if TYPE_CHECKING:
    import asyncpg

WORKER, HOST = 0x61726377, 0x61726368
"""First keys of advisory locks, for workers and for hosts. The second key is a hash of a name."""
IDLE_TIMEOUT_SECONDS = 30
"""Idle time after which PostgreSQL ends the session of a worker."""
CHECK_SECONDS = 3.0
"""Time between two statements that keep the session from being idle."""
RESPONSE_SECONDS = 15.0
"""Maximum time of a statement on the lock connection."""
SURE_SECONDS = 20.0
"""A worker may fetch only if the last response on the lock connection is not older than this."""
GRACE_SECONDS = 15.0
"""Time after which a worker without a worker lock is expired. Until then, it may reconnect."""
RETRY_SECONDS = 1.0
"""Wait between two attempts to reconnect."""
_KEYS = (
    "SELECT CAST(objid AS BIGINT) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    " AND objsubid = 2 AND CAST(classid AS BIGINT) = {} AND database ="
    " (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_WORKER_KEYS, _HOST_KEYS = _KEYS.format(WORKER), _KEYS.format(HOST)
_WORKERS = text(
    "SELECT session.application_name, host(session.client_addr), session.backend_start"
    " FROM pg_locks AS held JOIN pg_stat_activity AS session USING (pid)"
    " WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 2"
    " AND CAST(held.classid AS BIGINT) = :kind AND session.datname = current_database()"
    " ORDER BY session.backend_start"
)
_TAKE = (
    "SELECT key FROM unnest(CAST($2 AS INTEGER[])) AS key"
    " WHERE pg_try_advisory_lock(CAST($1 AS INTEGER), key)"
)
_LEAVE = (
    "SELECT pg_advisory_unlock(CAST($1 AS INTEGER), key) FROM unnest(CAST($2 AS INTEGER[])) AS key"
)

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Worker:
    """Process that holds its worker lock.

    Attributes:
        name: name of the process, which is also in the names of its run lock and its segments.
        machine: host name of its computer.
        address: IP address from which it connects; empty for a Unix socket.
        since: when its session began.
    """

    name: str
    machine: str
    address: str
    since: datetime


class WorkerLocks:
    """Locks of this process. ``enter`` takes the worker lock, ``leave`` releases all locks.

    Attributes:
        name: name of this process, as the owner of jobs.
        workers: number of workers on all machines at the last check.

    Args:
        name: name of this process, as the owner of jobs.
        connect: function that opens a connection to the server, or raises ``IndexUnavailable``.
    """

    def __init__(
        self, name: str, connect: "Callable[[], Awaitable[asyncpg.Connection[Any]]]"
    ) -> None:
        self.name = name
        self.workers = 1
        self._connect = connect
        self._connection: asyncpg.Connection[Any] | None = None
        self._using = asyncio.Lock()
        self._checking: asyncio.Task[None] | None = None
        self._checked_at = float("-inf")
        self._checked = asyncio.Event()
        self._lost = asyncio.Event()
        self._hosts: set[str] = set()

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that this worker has locked."""
        return frozenset(self._hosts)

    async def enter(self) -> None:
        """Take the worker lock, unless this process has it already.

        Raises:
            IndexUnavailable: the server can't be reached.
        """
        async with self._using:
            if self._connection is not None:
                return
            connection = await self._connect()
            started = _now()
            try:
                await connection.execute(f"SET idle_session_timeout = '{IDLE_TIMEOUT_SECONDS}s'")
                await connection.execute("SELECT pg_advisory_lock($1, $2)", WORKER, _key(self.name))
                name = f"archiver {self.name} {gethostname()}"
                await connection.execute("SELECT set_config('application_name', $1, false)", name)
                self.workers = len(await connection.fetch(_WORKER_KEYS))
            except BaseException as error:
                connection.terminate()
                if isinstance(error, Exception):
                    raise _unavailable(error) from error
                raise
            self._connection = connection
            self._lost.clear()
            self._note_response(started)
            connection.add_termination_listener(self._on_end)
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._keep_checking(), name="worker-locks")

    async def leave(self) -> None:
        """Release all locks."""
        if self._checking:
            self._checking.cancel()
            await asyncio.wait([self._checking])
        async with self._using:
            connection, self._connection = self._connection, None
            self._hosts.clear()
            if connection:
                with suppress(Exception):
                    await connection.close(timeout=RETRY_SECONDS)

    async def lost(self) -> None:
        """Wait until the worker lock is lost."""
        await self._lost.wait()

    async def permit(self) -> None:
        """Wait until this worker may fetch.

        It may fetch if the server's last response is not older than ``SURE_SECONDS``. The first
        call takes the worker lock, because a process that only fetches feeds does not call
        ``enter``.

        Raises:
            IndexUnavailable: the server can't be reached to take the lock.
        """
        if self._checking is None:
            await self.enter()
        while self._connection is None or _now() - self._checked_at > SURE_SECONDS:
            self._checked.clear()
            await self._checked.wait()

    async def take_hosts(self, hosts: Collection[str]) -> set[str]:
        """Lock those of ``hosts`` that no other worker has locked.

        Returns:
            The hosts in ``hosts`` that this worker has locked.

        Raises:
            IndexUnavailable: the connection was lost, which released all locks.
        """
        unlocked = [host for host in sorted(hosts) if host not in self._hosts]
        if unlocked:
            await run_to_completion(self._lock_hosts(unlocked))
        return self._hosts.intersection(hosts)

    async def _lock_hosts(self, hosts: Collection[str]) -> None:
        by_key = {_key(host): host for host in hosts}
        rows = await self._fetch(_TAKE, HOST, [*by_key])
        self._hosts.update(by_key[row["key"]] for row in rows)

    async def leave_hosts(self, hosts: Iterable[str]) -> None:
        """Unlock hosts."""
        released = self._hosts.intersection(hosts)
        if released:
            self._hosts -= released
            await run_to_completion(self._release_hosts(released))

    async def _release_hosts(self, hosts: Collection[str]) -> None:
        await self._fetch(_LEAVE, HOST, [_key(host) for host in hosts])

    def _note_response(self, started: float) -> None:
        self._checked_at = started
        self._checked.set()

    def _on_end(self, connection: object) -> None:
        if connection is self._connection:
            self._connection = None
            self._hosts.clear()
            self._lost.set()
            log.warning("lost the connection that holds the worker locks; fetching has stopped")

    async def _fetch(self, statement: str, *values: object) -> list[Any]:
        async with self._using:
            connection = self._connection
            if connection is None:
                raise _unavailable(None)
            started = _now()
            try:
                async with asyncio.timeout(RESPONSE_SECONDS):
                    rows = await connection.fetch(statement, *values)
            except Exception as error:
                connection.terminate()
                self._on_end(connection)
                raise _unavailable(error) from error
            self._note_response(started)
            return [*rows]

    async def _keep_checking(self) -> None:
        """Send statements so that the session is never idle; reconnect if the session ended."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._lost.wait()
                    await asyncio.sleep(RETRY_SECONDS)
            with suppress(IndexUnavailable):
                await self.enter()
                self.workers = max(len(await self._fetch(_WORKER_KEYS)), 1)


class ExpiredWorkers:
    """Tracker of workers that own jobs but hold no worker lock.

    Args:
        clock: function that returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unlocked_since: dict[str, float] = {}

    def is_any_suspected(self, names: Iterable[str]) -> bool:
        """Return whether one of these workers holds no lock and may still reconnect."""
        return any(name in self._unlocked_since for name in names)

    def find_expired(
        self,
        names: Iterable[str],
        alive: Collection[int],
        is_known_dead: Callable[[str], bool] = lambda _: False,
    ) -> list[str]:
        """Return the workers that held no lock for ``GRACE_SECONDS``, or that are known to be dead.

        Args:
            names: names of workers that own jobs.
            alive: keys of held worker locks (``alive_workers``), read after ``names``.
            is_known_dead: function that returns whether a worker is certainly dead; such a worker
                is expired immediately.
        """
        now, dead = self._clock(), []
        for name in names:
            if _unsigned(_key(name)) in alive:
                self._unlocked_since.pop(name, None)
            elif is_known_dead(name) or now - self._unlocked_since.get(name, now) >= GRACE_SECONDS:
                self._unlocked_since.pop(name, None)
                dead.append(name)
            else:
                self._unlocked_since.setdefault(name, now)
        return dead


async def free_hosts(conn: AsyncConnection, hosts: Sequence[str]) -> list[str]:
    """Return the hosts that no worker has locked."""
    locked = {*(await conn.execute(text(_HOST_KEYS))).scalars()}
    return [host for host in hosts if _unsigned(_key(host)) not in locked]


async def alive_workers(conn: AsyncConnection) -> set[int]:
    """Return the keys of all held worker locks."""
    return {*(await conn.execute(text(_WORKER_KEYS))).scalars()}


async def all_workers(conn: AsyncConnection) -> list[Worker]:
    """Return the workers that hold their lock, the oldest first."""
    workers = []
    for name, address, since in await conn.execute(_WORKERS, {"kind": WORKER}):
        _, worker, machine, *_ = f"{name}   ".split(" ")
        workers.append(Worker(worker, machine, address or "", since))
    return workers


def _key(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:4], "big", signed=True)


def _unsigned(key: int) -> int:
    """Return a key as an unsigned integer, as in the view ``pg_locks``."""
    return key & 0xFFFFFFFF


def _now() -> float:
    """Return seconds from a clock that also runs while the process or machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _unavailable(error: Exception | None) -> IndexUnavailable:
    return IndexUnavailable(
        "This worker lost its connection to PostgreSQL: {orig}. It will reconnect.",
        orig=str(error).rstrip(".") or type(error).__name__ if error else "no connection",
    )
