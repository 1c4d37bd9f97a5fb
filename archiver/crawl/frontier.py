"""Frontier: the leases of a process, by host.

At most ``room`` leases are waiting or active; other jobs stay in the database. Each host has a
limited number of active pages and a few waiting leases. A host has only one active page until it
responds, and after each failure to respond. So a dead host occupies only one worker task. A host
that asked for a pause has no leases.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import filterfalse

from archiver.db import host_queue, queue
from archiver.db.engine import AsyncConnection, Database
from archiver.model.job import Lease

REMEMBERED_HOSTS = 4096
LEASES_PER_PAGE = 3
"""Maximum leases of a host per page that may be active, so that the next page can start quickly."""
SOON_SECONDS = 60.0
"""A crawl that ends when the queue is empty waits for postponed jobs due within this time."""


@dataclass(slots=True)
class _Host:
    """Limits and waiting leases of a host.

    Attributes:
        allowed: maximum number of active pages.
        active: number of active pages.
        next_at: earliest start of the next page, in seconds of the event loop's clock.
        timer: timer that starts the next page at ``next_at``; None if it is not set.
        waiting: leases that have not started.
    """

    allowed: int = 1
    active: int = 0
    next_at: float = 0.0
    timer: asyncio.TimerHandle | None = None
    waiting: deque[Lease] = field(default_factory=deque)

    @property
    def is_full(self) -> bool:
        """Whether it gets no more leases now; if one page may be active, it has one lease."""
        if self.allowed == 1:
            return bool(self.waiting or self.active)
        return len(self.waiting) > self.allowed


class Frontier:
    """Leases of one process.

    Args:
        db: the database.
        owner: name of this process, which is stored as the owner of its leases.
        room: maximum number of waiting and active leases.
        per_host: maximum number of active pages of one host.
        delay_of: function that returns the seconds between the starts of two pages of a host.
            Leases wait in the frontier until the delay is over, so that they do not block a worker
            task.
        only: ids of the jobs to lease; None for all jobs.
        paused_hosts: function that returns the hosts that must not be requested now.
    """

    def __init__(
        self,
        db: Database,
        *,
        owner: str,
        room: int,
        per_host: int,
        delay_of: Callable[[str], float] = lambda _: 0.0,
        only: Sequence[int] | None = None,
        paused_hosts: Callable[[], list[str]] = list,
    ) -> None:
        self._db = db
        self._owner = owner
        self._room = room
        self._per_host = per_host
        self._delay_of = delay_of
        self._only = set(only) if only is not None else None
        self._paused_hosts = paused_hosts
        self._leases: dict[int, Lease] = {}
        self._unfinished = 0
        self._hosts: dict[str, _Host] = {}
        self._ready: asyncio.Queue[Lease] = asyncio.Queue()

    @property
    def lease_count(self) -> int:
        """Number of leases of this process, including leases whose results are being recorded."""
        return len(self._leases)

    @property
    def leases(self) -> list[Lease]:
        """Leases of this process."""
        return [*self._leases.values()]

    @property
    def unfinished(self) -> int:
        """Number of waiting and active leases."""
        return self._unfinished

    @property
    def has_much_room(self) -> bool:
        """Whether a quarter or more of ``room`` is free, so that leasing is worth a transaction."""
        return self._unfinished * 4 <= self._room * 3

    async def next(self) -> Lease:
        """Wait for a lease that may start, and return it."""
        return await self._ready.get()

    async def lease(self) -> list[Lease]:
        """Lease due jobs until ``room`` is used up, round-robin over hosts.

        With PostgreSQL a host is locked first, so that no other process fetches its pages.

        Raises:
            IndexUnavailable: the index can't be reached.
        """
        room = self._room - self._unfinished
        if room <= 0:
            return []
        hosts = await self._choose_hosts(room)
        if not hosts:
            return []
        async with self._db.write() as conn:
            leases = await self._lease_jobs(conn, room, hosts)
        for lease in leases:
            self._leases[lease.job_id] = lease
            self._unfinished += 1
            self._queue(lease)
        return leases

    async def _choose_hosts(self, room: int) -> list[str]:
        """Return hosts with due jobs. With PostgreSQL, lock a fair share of them first."""
        locks = self._db.locks
        workers = locks.workers if locks else 1
        async with self._db.read() as conn:
            due = await self._due_hosts(conn, room * workers)
        if locks:
            return await locks.take_hosts(due, most=math.ceil(len(due) / workers))
        return due

    async def _due_hosts(self, conn: AsyncConnection, count: int) -> list[str]:
        if self._only is None:
            return await host_queue.due_hosts(
                conn, self._busy_hosts(), now=datetime.now(UTC), count=count
            )
        paused_hosts = {*self._paused_hosts()}
        hosts = await queue.hosts_of(conn, self._candidate_ids(count))
        return [host for host in hosts if host not in paused_hosts]

    def _candidate_ids(self, room: int) -> list[int]:
        """Return up to ``4 * room`` ids of jobs in ``only`` that are not leased yet."""
        return sorted((self._only or set()) - self._leases.keys())[: room * 4]

    async def _lease_jobs(
        self, conn: AsyncConnection, room: int, hosts: Sequence[str]
    ) -> list[Lease]:
        """Lease jobs of these hosts in this transaction."""
        now = datetime.now(UTC)
        if self._only is not None:
            ids = self._candidate_ids(room)
            return await queue.lease_only(
                conn, ids, owner=self._owner, count=room, hosts=hosts, now=now
            )
        per_host = LEASES_PER_PAGE * self._per_host
        return await queue.lease(
            conn, owner=self._owner, count=room, per_host=per_host, hosts=hosts, now=now
        )

    def responded(self, lease: Lease) -> None:
        """Allow more active pages of a host, because it has responded."""
        host = self._hosts[lease.entry.host]
        host.allowed = min(4 * host.allowed, self._per_host)
        self._start(host)

    def finished(self, lease: Lease, *, responded: bool) -> list[Lease]:
        """Record the end of a visit and start the next one.

        Args:
            lease: the lease of the visit.
            responded: whether the host responded, so it may get more active pages.

        Returns:
            Waiting leases to return to the queue because the host does not respond.
        """
        self._unfinished -= 1
        host = self._hosts[lease.entry.host]
        host.active -= 1
        surplus = [] if responded else [*host.waiting]
        if responded:
            self.responded(lease)
        else:
            host.allowed = 1
            host.waiting.clear()
            self._unfinished -= len(surplus)
        if not (host.active or host.waiting or host.timer) and len(self._hosts) > REMEMBERED_HOSTS:
            del self._hosts[lease.entry.host]
        return surplus

    def take_waiting(self, which: Callable[[Lease], bool] = lambda _: True) -> list[Lease]:
        """Remove and return the leases selected by ``which`` that have not started."""
        leases: list[Lease] = []
        for host in self._hosts.values():
            leases += filter(which, host.waiting)
            host.waiting = deque(filterfalse(which, host.waiting))
        not_picked_up = [self._ready.get_nowait() for _ in range(self._ready.qsize())]
        for lease in not_picked_up:
            if which(lease):
                self._hosts[lease.entry.host].active -= 1
                leases.append(lease)
            else:
                self._ready.put_nowait(lease)
        self._unfinished -= len(leases)
        for host in self._hosts.values():
            self._start(host)
        return leases

    def done(self, lease: Lease) -> None:
        """Remove a lease whose result is recorded."""
        self._leases.pop(lease.job_id, None)
        if self._only is not None:
            self._only.discard(lease.job_id)

    async def return_leases(self, leases: Sequence[Lease], *, interrupted: bool = True) -> None:
        """Return leases to the queue.

        With ``interrupted``, their jobs are marked as jobs whose visits may have stored captures.
        """
        async with self._db.write() as conn:
            ids = [lease.job_id for lease in leases]
            await queue.requeue(
                conn, ids, owner=self._owner, interrupted=interrupted, now=datetime.now(UTC)
            )
        for lease in leases:
            self._leases.pop(lease.job_id, None)

    async def leave_hosts(self) -> None:
        """Release the locks of hosts that have no leases, no pause, and no delay that is running.

        Raises:
            IndexUnavailable: the locks are lost.
        """
        if self._db.locks is None:
            return
        busy = {lease.entry.host for lease in self._leases.values()} | {*self._paused_hosts()}
        now = asyncio.get_running_loop().time()
        pausing = {name for name, host in self._hosts.items() if host.next_at > now}
        await self._db.locks.leave_hosts(self._db.locks.hosts - busy - pausing)

    async def due_in(self, *, until_empty: bool = False) -> float | None:
        """Return seconds until a job may be due; None if the queue is empty.

        With ``until_empty``, postponed jobs of dead hosts count only if they are due within
        ``SOON_SECONDS``.
        """
        if self._only is not None:
            return 0.0 if self._only else None
        async with self._db.read() as conn:
            limit = datetime.now(UTC) + timedelta(seconds=SOON_SECONDS) if until_empty else None
            at = await queue.next_due(conn, last_until=limit)
        return None if at is None else max((at - datetime.now(UTC)).total_seconds(), 0.0)

    async def drop_attempted(self) -> None:
        """Remove jobs from ``only`` that have ended or had an attempt, in any process."""
        if self._only:
            async with self._db.read() as conn:
                job_ids = sorted(self._only)[: self._room * 4]
                later = datetime.now(UTC) + timedelta(seconds=SOON_SECONDS)
                self._only -= set(await queue.attempted(conn, job_ids, later=later))

    def _queue(self, lease: Lease) -> None:
        host = self._hosts.setdefault(lease.entry.host, _Host())
        host.waiting.append(lease)
        self._start(host)

    def _start(self, host: _Host) -> None:
        """Start leases that may start now, and schedule the next one."""
        while host.waiting and host.active < host.allowed:
            if delay := self._delay_of(host.waiting[0].entry.host):
                loop = asyncio.get_running_loop()
                now = loop.time()
                if now < host.next_at:
                    if not host.timer:
                        host.timer = loop.call_at(host.next_at, self._start_later, host)
                    return
                host.next_at = now + delay
            host.active += 1
            self._ready.put_nowait(host.waiting.popleft())

    def _start_later(self, host: _Host) -> None:
        host.timer = None
        self._start(host)

    def _busy_hosts(self) -> list[str]:
        """Return the hosts that get no more leases now."""
        full = [name for name, host in self._hosts.items() if host.is_full]
        return full + self._paused_hosts()
