"""Advisory locks of workers: liveness and locked hosts.

They are session-level advisory locks on a separate connection. PostgreSQL releases all of them when
the connection ends: when the process or its machine dies, when the network is cut, and when the
process was stopped for ``SILENT_SECONDS``, because the server then ends the idle session. A worker
that notices the loss stops fetching; other workers requeue its jobs.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.errors import IndexUnavailable
from archiver.helpers import run_to_completion
from archiver.logs import get_log

if TYPE_CHECKING:
    import asyncpg

WORKER, HOST = 0x61726377, 0x61726368
"""First keys of the two kinds of lock; the second key is a hash of the name."""
SILENT_SECONDS = 30
"""Time after which PostgreSQL ends the session of a silent worker."""
CHECK_SECONDS = 3.0
ANSWER_SECONDS = 15.0
SURE_SECONDS = 20.0
"""A worker fetches only if the server responded on the lock connection within this time."""
GRACE_SECONDS = 15.0
"""Time after which a worker without its lock is expired; it may be reconnecting until then."""
RETRY_SECONDS = 1.0
_NAME = "archiver {name} {machine}"
_HELD = text(
    "SELECT CAST(objid AS BIGINT) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    " AND objsubid = 2 AND CAST(classid AS BIGINT) = :kind AND database ="
    " (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_WORKERS = text(
    "SELECT session.application_name, host(session.client_addr), session.backend_start"
    " FROM pg_locks AS held JOIN pg_stat_activity AS session USING (pid)"
    " WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 2"
    " AND CAST(held.classid AS BIGINT) = :kind AND session.datname = current_database()"
    " ORDER BY session.backend_start"
)
_COUNT = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
    " AND CAST(classid AS BIGINT) = $1 AND database ="
    " (SELECT oid FROM pg_database WHERE datname = current_database())"
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
    """A process that holds its worker lock.

    Attributes:
        name: of its run lock and its segments.
        machine: the name of its data directory.
        address: the IP address it connects from; empty for a Unix socket.
        since: when it took the lock.
    """

    name: str
    machine: str
    address: str
    since: datetime


class WorkerLocks:
    """The locks of one process. ``enter`` takes the worker lock, ``leave`` releases all.

    Attributes:
        name: of this worker.
        workers: how many workers there are, as of the last check.

    Args:
        name: of this process, as the owner of jobs.
        machine: the name of its data directory.
        connect: opens a connection to the server; raises ``IndexUnavailable``.
    """

    def __init__(
        self,
        name: str,
        machine: str,
        connect: "Callable[[], Awaitable[asyncpg.Connection[Any]]]",
    ) -> None:
        self.name = name
        self.machine = machine
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
        """Hosts locked by this worker."""
        return frozenset(self._hosts)

    async def enter(self) -> None:
        """Take the worker lock unless this process has it.

        Raises:
            IndexUnavailable: the server can't be reached.
        """
        async with self._using:
            if self._connection is not None:
                return
            connection = await self._connect()
            begun = _now()
            try:
                await connection.execute(f"SET idle_session_timeout = '{SILENT_SECONDS}s'")
                await connection.execute("SELECT pg_advisory_lock($1, $2)", WORKER, _key(self.name))
                name = _NAME.format(name=self.name, machine=self.machine)
                await connection.execute("SELECT set_config('application_name', $1, false)", name)
                self.workers = max(await connection.fetchval(_COUNT, WORKER), 1)
            except BaseException as error:
                connection.terminate()
                if isinstance(error, Exception):
                    raise _unavailable(error) from error
                raise
            self._connection = connection
            self._lost.clear()
            self._note_answer(begun)
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
        """Wait until the server has responded recently, so that this worker may fetch.

        A process that only fetches feeds takes its worker lock here.

        Raises:
            IndexUnavailable: the server can't be reached to take the lock.
        """
        if self._checking is None:
            await self.enter()
        while self._connection is None or _now() - self._checked_at > SURE_SECONDS:
            self._checked.clear()
            await self._checked.wait()

    async def take_hosts(self, hosts: Collection[str]) -> set[str]:
        """Lock hosts that no other worker has locked; return the locked ones among ``hosts``.

        Raises:
            IndexUnavailable: the locks are lost.
        """
        wanted = [host for host in sorted(hosts) if host not in self._hosts]
        if wanted:
            await run_to_completion(self._take(wanted))
        return self._hosts.intersection(hosts)

    async def _take(self, wanted: Collection[str]) -> None:
        by_key = {_key(host): host for host in wanted}
        rows = await self._fetch(_TAKE, HOST, [*by_key])
        self._hosts.update(by_key[row["key"]] for row in rows)

    async def leave_hosts(self, hosts: Iterable[str]) -> None:
        """Unlock hosts."""
        left = self._hosts.intersection(hosts)
        if left:
            self._hosts -= left
            await run_to_completion(self._leave(left))

    async def _leave(self, left: Collection[str]) -> None:
        await self._fetch(_LEAVE, HOST, [_key(host) for host in left])

    def _note_answer(self, begun: float) -> None:
        self._checked_at = begun
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
            begun = _now()
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    rows = await connection.fetch(statement, *values)
            except Exception as error:
                connection.terminate()
                self._on_end(connection)
                raise _unavailable(error) from error
            self._note_answer(begun)
            return [*rows]

    async def _keep_checking(self) -> None:
        """Use the connection so that the server does not end it, and replace it when it is lost."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._lost.wait()
                    await asyncio.sleep(RETRY_SECONDS)
            with suppress(IndexUnavailable):
                await self.enter()
                rows = await self._fetch(_COUNT, WORKER)
                self.workers = max(rows[0][0], 1)


class ExpiredWorkers:
    """Workers without a worker lock, and since when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free_since: dict[str, float] = {}

    def is_any_suspected(self, names: Iterable[str]) -> bool:
        """Return whether one of these workers has no lock but is not expired yet."""
        return any(name in self._free_since for name in names)

    def among(
        self,
        names: Iterable[str],
        alive: Collection[int],
        is_known_dead: Callable[[str], bool] = lambda _: False,
    ) -> list[str]:
        """Return the expired workers: those without a lock for ``GRACE_SECONDS``.

        Args:
            names: of workers.
            alive: result of ``alive_workers``, called after ``names`` was read.
            is_known_dead: returns whether a worker need not be waited for.
        """
        now, dead = self._clock(), []
        for name in names:
            if _unsigned(_key(name)) in alive:
                self._free_since.pop(name, None)
            elif is_known_dead(name) or now - self._free_since.get(name, now) >= GRACE_SECONDS:
                self._free_since.pop(name, None)
                dead.append(name)
            else:
                self._free_since.setdefault(name, now)
        return dead


async def free_hosts(conn: AsyncConnection, hosts: Sequence[str]) -> list[str]:
    """Return the hosts that no worker has locked."""
    held = {*(await conn.execute(_HELD, {"kind": HOST})).scalars()}
    return [host for host in hosts if _unsigned(_key(host)) not in held]


async def alive_workers(conn: AsyncConnection) -> set[int]:
    """Return the keys of the worker locks that are held."""
    return {*(await conn.execute(_HELD, {"kind": WORKER})).scalars()}


async def all_workers(conn: AsyncConnection) -> list[Worker]:
    """Return the workers that hold their lock, the oldest first."""
    found = []
    for name, address, since in await conn.execute(_WORKERS, {"kind": WORKER}):
        _, worker, machine, *_ = f"{name}   ".split(" ")
        found.append(Worker(worker, machine, address or "", since))
    return found


def _key(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:4], "big", signed=True)


def _unsigned(key: int) -> int:
    """Return a key as ``pg_locks`` shows it."""
    return key & 0xFFFFFFFF


def _now() -> float:
    """Return seconds of a clock that also counts while the process or machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _unavailable(error: Exception | None) -> IndexUnavailable:
    return IndexUnavailable(
        "This worker lost its connection to PostgreSQL: {orig}. It will reconnect.",
        orig=str(error).rstrip(".") or type(error).__name__ if error else "no connection",
    )
