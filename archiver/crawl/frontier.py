"""The frontier: a window of leases over the queue on disk.

Memory holds no more than ``room`` leases. A host has at most ``each`` of them, and one that asked
for rest has none, so a slow or dead one waits on disk and starves nobody.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from archiver.index import queue
from archiver.index.database import Database
from archiver.model.job import Lease


class Frontier:
    """The leases of one process. ``only`` narrows it to some jobs."""

    def __init__(
        self,
        db: Database,
        *,
        owner: str,
        room: int,
        each: int,
        only: Sequence[int] | None = None,
        resting: Callable[[], list[str]] = list,
    ) -> None:
        self._db = db
        self._owner = owner
        self._room = room
        self._each = each
        self._only = set(only) if only is not None else None
        self._resting = resting
        self._held: dict[int, Lease] = {}
        self._hosts: Counter[str] = Counter()

    @property
    def held(self) -> int:
        """How many leases this process has."""
        return len(self._held)

    async def lease(self) -> list[Lease]:
        """Take what is due and fits, hosts in turn; empty when there is nothing to be had now."""
        room = self._room - len(self._held)
        if room <= 0:
            return []
        now = datetime.now(UTC)
        async with self._db.write() as conn:
            if self._only is not None:
                wanted = sorted(self._only)[: room * 4]
                taken = await queue.lease_only(conn, wanted, owner=self._owner, count=room, now=now)
            else:
                taken = await queue.lease(
                    conn, owner=self._owner, count=room, each=self._each, busy=self._busy(), now=now
                )
        for lease in taken:
            self._held[lease.job_id] = lease
            self._hosts[lease.host] += 1
        return taken

    def done(self, lease: Lease) -> None:
        """Forget a lease that came to its end."""
        self._let_go(lease)
        if self._only is not None:
            self._only.discard(lease.job_id)

    async def give_back(self, leases: Sequence[Lease], *, interrupted: bool = True) -> None:
        """Put leases back into the queue; ``interrupted`` ones may have captures already."""
        async with self._db.write() as conn:
            ids = [lease.job_id for lease in leases]
            await queue.requeue(conn, ids, interrupted=interrupted, now=datetime.now(UTC))
        for lease in leases:
            self._let_go(lease)

    async def give_all_back(self) -> None:
        """Put every lease back: the process is stopping."""
        await self.give_back([*self._held.values()])

    async def due_in(self) -> float | None:
        """Seconds until there may be something to lease; None when the queue is empty."""
        async with self._db.read() as conn:
            if self._only is not None:
                return 0.0 if self._only else None
            due = await queue.next_due(conn, ())
        return None if due is None else max((due - datetime.now(UTC)).total_seconds(), 0.0)

    async def settle_only(self) -> None:
        """Forget those of ``only`` that are at an end, or had an attempt, by whichever process."""
        if self._only:
            async with self._db.read() as conn:
                self._only -= set(await queue.attempted(conn, sorted(self._only)[: self._room * 4]))

    def _let_go(self, lease: Lease) -> None:
        if self._held.pop(lease.job_id, None):
            self._hosts[lease.host] -= 1
            if not self._hosts[lease.host]:
                del self._hosts[lease.host]

    def _busy(self) -> str:
        full = [host for host, count in self._hosts.items() if count >= self._each]
        return json.dumps(full + self._resting())
