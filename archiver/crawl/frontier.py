"""The frontier: a window of leases over the queue on disk, hosts in turn.

Memory holds no more than ``room`` leases. Of a host no more than it may be asked for at once are
under way; a few more wait here, the rest on disk. A host that is new may be asked for one page
until it answers, and one that does not answer for one again, so a dead host costs a turn and not
all of them. One that asked for rest has no lease at all.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from archiver.crawl.shared_hosts import SharedHosts
from archiver.index import queue, turns
from archiver.index.database import AsyncConnection, Database
from archiver.index.due import Due, due
from archiver.index.turns import Turns
from archiver.model.job import Lease

REMEMBERED_HOSTS = 4096
READY_SHARE = 8
"""Where an eighth of the window may begin at once, no worker waits for a lease."""
PATIENCE_SECONDS = 2.0
"""How long at a server until what little a lease may bring is worth one."""
IN_LINE = 3
"""Of a proven host up to so many times what may be under way is leased: none is waited for."""


@dataclass(slots=True)
class _Host:
    """How many pages of a host may be under way, how many are, and who waits for a turn.

    ``is_slow``: its last page took so long that it stepped aside. ``next_at``: by the loop's
    clock, when its next page may begin; ``timer`` begins it then.
    """

    allowed: int = 1
    active: int = 0
    is_slow: bool = False
    next_at: float = 0.0
    timer: asyncio.TimerHandle | None = None
    waiting: deque[Lease] = field(default_factory=deque)


class Frontier:
    """The leases of one process. ``only`` narrows it to some jobs.

    Attributes:
        shared: holds hosts against other machines, where there may be some.

    Args:
        db: the index.
        owner: the run lock's name of this process.
        room: how many leases may wait for a turn or be under way.
        each: how many pages of one host may be under way at once.
        delay: seconds between the beginnings of two of them: whoever waits for a host to be
            polite waits here, and keeps no worker from another host.
        only: job ids.
        resting: the hosts that must not be asked now.
    """

    shared: SharedHosts | None

    def __init__(
        self,
        db: Database,
        *,
        owner: str,
        room: int,
        each: int,
        delay: float,
        only: Sequence[int] | None = None,
        resting: Callable[[], list[str]] = list,
    ) -> None:
        self._db = db
        self._owner = owner
        self._room = room
        self._each = each
        self._delay = delay
        self._only = set(only) if only is not None else None
        self._resting = resting
        self.shared = None
        self._held: dict[int, Lease] = {}
        self._unfinished = self._in_line = 0
        self._leased_to = 0
        self._patient_until = 0.0
        self._hosts: dict[str, _Host] = {}
        self._ready: asyncio.Queue[Lease] = asyncio.Queue()
        self._ready_slow: asyncio.Queue[Lease] = asyncio.Queue()

    @property
    def held(self) -> int:
        """How many leases this process has."""
        return len(self._held)

    @property
    def leases(self) -> list[Lease]:
        """Those it has."""
        return [*self._held.values()]

    @property
    def unfinished(self) -> int:
        """How many wait for a turn or are under way."""
        return self._unfinished

    @property
    def is_low(self) -> bool:
        """Whether a quarter of the window is empty, so that more is worth a transaction.

        At a server, which asks for more, only once little is left whose turn it is. While a few
        may begin yet, or wait for their hosts to be polite, a lease brings one for each that ended:
        there some time passes first, or half of those in line are done.
        """
        if self._unfinished * 4 > self._room * 3:
            return False
        if self.shared is None:
            return True
        ready = self._ready.qsize() + self._ready_slow.qsize()
        is_enough = self._unfinished * 2 > self._leased_to if self._in_line else ready > 0
        is_early = asyncio.get_running_loop().time() < self._patient_until
        return ready * READY_SHARE <= self._room and not (is_enough and is_early)

    def hurry(self) -> None:
        """Lease for whatever there is room for: something was added."""
        self._patient_until = 0.0

    def has_answered(self, host: str) -> bool:
        """Whether a host is known to answer."""
        known = self._hosts.get(host)
        return known is not None and known.allowed > 1

    async def next(self) -> Lease:
        """Wait for a lease whose turn it is, of a host that is quick or new."""
        return await self._ready.get()

    async def next_slow(self) -> Lease:
        """Wait for a lease whose turn it is, of a host whose last page took long."""
        return await self._ready_slow.get()

    async def lease(self) -> list[Lease]:
        """Take what is due and fits, hosts in turn; empty when there is nothing to be had now.

        At a server that is a share of it, so it waits until it is known how many others there are.
        """
        room = self._room - self._unfinished
        if room <= 0:
            return []
        if self.shared:
            await self.shared.acquainted()
        async with self._db.write() as conn:
            known = await self._due(room, conn)
            taken = await self._taken(conn, room, known)
            busy = await self._hold(conn, taken)
        self._settle(busy)
        for lease in taken:
            self._held[lease.job_id] = lease
            self._unfinished += 1
            self._queue(lease)
        self._leased_to = self._unfinished
        self._patient_until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        return taken

    async def _due(self, room: int, conn: AsyncConnection) -> Due | None:
        """What is due for this process; None where it is known which jobs it is to have."""
        if self._only is not None:
            return None
        sharers = self.shared.crawlers if self.shared else 1
        return await due(conn, room, datetime.now(UTC), sharers=sharers)

    async def _taken(self, conn: AsyncConnection, room: int, known: Due | None) -> list[Lease]:
        """Leases, had in this transaction."""
        if known is None:
            wanted = sorted((self._only or set()) - self._held.keys())[: room * 4]
            return await queue.lease_only(
                conn,
                wanted,
                owner=self._owner,
                count=room,
                busy=self._resting(),
                now=datetime.now(UTC),
            )
        return await queue.lease(
            conn,
            owner=self._owner,
            count=room,
            each=IN_LINE * self._each,
            hosts=self._turns(),
            now=datetime.now(UTC),
            known=known,
        )

    def finished(
        self, lease: Lease, *, answered: bool, was_slow: bool = False, crowded: bool = False
    ) -> list[Lease]:
        """Say that a visit is over: another may begin.

        Args:
            lease: what was visited.
            answered: whether its host did; it may then be asked for more at once.
            was_slow: whether it took long.
            crowded: whether many do; a slow host is then asked for no more than before.

        Returns:
            The leases that are to be given back: they wait for a host that does not answer.
        """
        self._unfinished -= 1
        host = self._hosts[lease.entry.host]
        host.active -= 1
        host.is_slow = was_slow
        if not answered:
            host.allowed = 1
        elif not (was_slow and crowded):
            host.allowed = min(4 * host.allowed, self._each)
        surplus = [] if answered else [*host.waiting]
        if surplus:
            host.waiting.clear()
            self._unfinished -= len(surplus)
            self._in_line -= len(surplus)
        self._start(host)
        if not (host.active or host.waiting or host.timer) and len(self._hosts) > REMEMBERED_HOSTS:
            del self._hosts[lease.entry.host]
        return surplus

    def put_aside(self) -> list[Lease]:
        """Take back what waits for a turn and was not begun; it is to be given back."""
        aside: list[Lease] = []
        for host in self._hosts.values():
            aside += host.waiting
            host.waiting.clear()
        self._in_line = 0
        for ready in (self._ready, self._ready_slow):
            while not ready.empty():
                lease = ready.get_nowait()
                self._hosts[lease.entry.host].active -= 1
                aside.append(lease)
        self._unfinished -= len(aside)
        return aside

    def done(self, lease: Lease) -> None:
        """Forget a lease whose end is written down."""
        self._held.pop(lease.job_id, None)
        if self._only is not None:
            self._only.discard(lease.job_id)

    async def give_back(self, leases: Sequence[Lease], *, interrupted: bool = True) -> None:
        """Put leases back into the queue; ``interrupted`` ones may have captures already."""
        async with self._db.write() as conn:
            ids = [lease.job_id for lease in leases]
            await queue.requeue(
                conn, ids, owner=self._owner, interrupted=interrupted, now=datetime.now(UTC)
            )
            busy = await self._hold(conn, (), without=ids)
        self._settle(busy)
        for lease in leases:
            self._held.pop(lease.job_id, None)

    async def let_go(self) -> None:
        """Leave hosts to other machines of which nothing is leased any more."""
        if self.shared and self.shared.is_any_idle(self._busy()):
            async with self._db.write() as conn:
                busy = await self._hold(conn, ())
            self._settle(busy)

    async def due_in(self) -> float | None:
        """Seconds until there may be something to lease; None when the queue is empty."""
        if self._only is not None:
            return 0.0 if self._only else None
        if self.shared:
            now = datetime.now(UTC)
            async with self._db.read() as conn:
                at = await turns.next_free(conn, self._owner, now)
        else:
            async with self._db.read() as conn:
                at = await queue.next_due(conn, ())
        return None if at is None else max((at - datetime.now(UTC)).total_seconds(), 0.0)

    async def settle_only(self) -> None:
        """Forget those of ``only`` that are at an end, or had an attempt, by whichever process."""
        if self._only:
            async with self._db.read() as conn:
                self._only -= set(await queue.attempted(conn, sorted(self._only)[: self._room * 4]))

    async def _hold(
        self, conn: AsyncConnection, more: Sequence[Lease], without: Sequence[int] = ()
    ) -> set[str]:
        """Hold the hosts of what is leased against other machines, and no others; which these are.

        To be settled once the transaction is committed.
        """
        if not self.shared:
            return set()
        fresh = {each.entry.host for each in more}
        busy = self._busy(without) | fresh
        await self.shared.hold(conn, fresh)
        await self.shared.let_go(conn, busy)
        return busy

    def _settle(self, busy: set[str]) -> None:
        if self.shared:
            self.shared.settle(busy)

    def _busy(self, without: Sequence[int] = ()) -> set[str]:
        left = self._held.keys() - {*without}
        return {self._held[number].entry.host for number in left}

    def _queue(self, lease: Lease) -> None:
        host = self._hosts.setdefault(lease.entry.host, _Host(allowed=1))
        host.waiting.append(lease)
        self._in_line += 1
        self._start(host)

    def _start(self, host: _Host) -> None:
        """Begin what may begin now, and see that the next is begun when it may."""
        loop = asyncio.get_running_loop()
        while host.waiting and host.active < host.allowed:
            if self._delay:
                now = loop.time()
                if now < host.next_at:
                    if not host.timer:
                        host.timer = loop.call_at(host.next_at, self._start_later, host)
                    return
                host.next_at = now + self._delay
            host.active += 1
            ready = self._ready_slow if host.is_slow else self._ready
            ready.put_nowait(host.waiting.popleft())
            self._in_line -= 1

    def _start_later(self, host: _Host) -> None:
        host.timer = None
        self._start(host)

    def _turns(self) -> Turns:
        """Which hosts may have how many more leases."""
        full = [
            name
            for name, host in self._hosts.items()
            if (
                len(host.waiting) > host.allowed
                if host.allowed > 1
                else host.waiting or host.active
            )
        ]
        proven = [name for name, host in self._hosts.items() if host.allowed > 1]
        return Turns(busy=full + self._resting(), proven=proven)
