"""Dispatcher: leases jobs and refills the frontier."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from archiver.crawl.context import CrawlContext, dead_host_failure
from archiver.crawl.crash_recovery import recover
from archiver.crawl.frontier import Frontier
from archiver.db import edit_history, jobs, queue, tombstones
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.model.job import Lease

IDLE_SECONDS = 0.9
"""Interval at which the queue is read again, because other processes may add to it."""
LEASE_SECONDS = 0.1
RECOVERY_SECONDS = 30.0
SHARED_RECOVERY_SECONDS = 5.0
"""Recovery interval on a server, where a worker counts as dead after several checks."""
LEAVE_SECONDS = 1.0
"""Interval at which hosts without leases are released to other workers."""
NOTE_SECONDS = 2.0
"""Delay before pending metadata records are written while the crawl has work."""
TROUBLE_SECONDS = 15.0
"""Pause after the disk or the index failed."""
NOTES = 500
DELETIONS = 8

log = get_log(__name__)


class Dispatcher:
    """Lease dispatcher of a crawl; ``run`` runs until the crawl ends.

    A crawl without end obeys a pause; a crawl that was started to empty the queue ignores it.

    Args:
        context: services of the crawl.
        frontier: the frontier to fill.
        left: leases that an earlier crawl of this process could not return.

    Attributes:
        left: those leases that are not returned yet.
    """

    def __init__(
        self, context: CrawlContext, frontier: Frontier, left: Sequence[Lease] = ()
    ) -> None:
        self._context = context
        self._frontier = frontier
        self.left = left
        self._to_give_back: list[Lease] = []
        self._to_put_last: set[str] = set()
        self._to_defer: set[str] = set()
        self._refused = self._is_dry = False
        self._is_in_trouble = False
        self._wake = asyncio.Event()
        self._recovered = self._noted = self._left_hosts = 0.0
        self._trouble_until = 0.0

    def wake(self) -> None:
        """Signal that the queue has new jobs."""
        self._wake.set()

    def note_room(self) -> None:
        """Signal that there is room for more leases; ignored while nothing is queued."""
        if not (self._is_dry and self._frontier.held):
            self._wake.set()

    def give_up(self, leases: Iterable[Lease], *, refused: bool = False) -> None:
        """Return leases to the queue; ``refused``: the disk or the index rejected their results."""
        before = len(self._to_give_back)
        self._to_give_back += leases
        self._refused |= refused
        if len(self._to_give_back) > before:
            self._wake.set()
        elif self._frontier.is_low:
            self.note_room()

    def put_last(self, host: str) -> None:
        """Postpone the jobs of a host that just died."""
        self._to_put_last.add(host)

    def defer(self, host: str) -> None:
        """Let the postponed jobs of a host wait that still does not respond."""
        self._to_defer.add(host)

    async def run(self, *, until_empty: bool) -> None:
        """Lease jobs that fit, until the queue is empty or without end."""
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            self._wake.clear()
            try:
                wait = await self._fill(until_empty=until_empty)
                self._note_end_of_trouble(begun)
                if wait is None and until_empty and not await self._is_something_left():
                    return
            except StoreError as error:
                self._note_trouble(error)
                wait = TROUBLE_SECONDS
            await self._rest(IDLE_SECONDS if wait is None else wait)
            # Jobs that end within a short time are replaced by one lease, not by one each.
            await asyncio.sleep(begun + LEASE_SECONDS - loop.time())

    def _note_trouble(self, error: StoreError) -> None:
        """Start a pause; log it once, although the crawl may be woken and try again."""
        if not self._is_in_trouble:
            log.error(
                ("the index rejected a write; pausing"), exc_info=error, seconds=TROUBLE_SECONDS
            )
        self._is_in_trouble = True
        self._trouble_until = asyncio.get_running_loop().time() + TROUBLE_SECONDS
        self._to_give_back += self._frontier.take_waiting()

    def _note_end_of_trouble(self, begun: float) -> None:
        """Log once that the crawl continues, after the queue was read again."""
        if self._is_in_trouble and begun >= self._trouble_until:
            self._is_in_trouble = False
            log.info("the index is available again; continuing")

    async def _fill(self, *, until_empty: bool) -> float | None:
        """Lease what fits; return seconds until the next call, or None if all is done."""
        loop = asyncio.get_running_loop()
        self._is_dry = False
        if loop.time() >= self._recovered:
            every = SHARED_RECOVERY_SECONDS if self._context.db.locks else RECOVERY_SECONDS
            self._recovered = loop.time() + every
            await recover(self._context.db, self._context.store)
        if await self._settle_refused():
            self._trouble_until = loop.time() + TROUBLE_SECONDS
        if loop.time() < self._trouble_until:
            return self._trouble_until - loop.time()
        await self._give_back_left()
        await self._put_last()
        await self._defer()
        if not until_empty and await self._is_paused():
            return IDLE_SECONDS
        if loop.time() >= self._noted + NOTE_SECONDS:
            await self._note_changes()
        if loop.time() >= self._left_hosts + LEAVE_SECONDS:
            self._left_hosts = loop.time()
            await self._frontier.leave_hosts()
        is_full, due = await self._take(until_empty=until_empty)
        if is_full:
            return IDLE_SECONDS
        self._is_dry = due is None
        if due is None and not self._frontier.held:
            return IDLE_SECONDS if await self._note_changes() else None
        return min(due, IDLE_SECONDS) if due else IDLE_SECONDS

    async def _take(self, *, until_empty: bool) -> tuple[bool, float | None]:
        """Lease due jobs that fit.

        Returns:
            Whether there is enough to do now; if not, in how many seconds a job may be due, or
            None if nothing is queued.
        """
        has_room = await self._has_room()
        if has_room and not self._frontier.is_low:
            return True, None
        if has_room and await self._frontier.lease():
            return True, None
        await self._frontier.drop_attempted()
        return False, await self._frontier.due_in(until_empty=until_empty)

    async def _settle_refused(self) -> bool:
        """Return leases that can't continue; return whether the disk or the index failed."""
        back, self._to_give_back = self._to_give_back, []
        refused, self._refused = self._refused, False
        if back:
            try:
                await self._context.recorder.wait_until_indexed()
                await self._frontier.give_back(back, interrupted=refused)
            except StoreError:
                self._to_give_back += back
                self._refused |= refused
                raise
        return refused

    async def _give_back_left(self) -> None:
        """Return the leases of an earlier crawl of this process, once its records are indexed."""
        if self.left:
            await self._context.recorder.wait_until_indexed()
            await self._frontier.give_back(self.left)
            self.left = ()

    async def _put_last(self) -> None:
        """Postpone the jobs of hosts that died recently.

        Earlier timeouts must be recorded first, or their jobs would return to their old positions.
        """
        hosts, self._to_put_last = self._to_put_last, set()
        if hosts:
            try:
                await self._context.recorder.flush()
            except StoreError:
                self._to_put_last |= hosts
                raise
        for host in hosts:
            async with self._context.db.write() as conn:
                await queue.put_last(conn, host, dead_host_failure(host), now=datetime.now(UTC))

    async def _defer(self) -> None:
        """Let jobs of dead hosts wait, and release those of hosts that respond again."""
        dead, now = self._context.dead, datetime.now(UTC)
        waiting = {host: dead.waiting(host) for host in self._to_defer}
        due = {host: timedelta(seconds=wait) for host, wait in waiting.items() if wait}
        due |= dict.fromkeys(dead.take_revived(), timedelta())
        if due:
            async with self._context.db.write() as conn:
                for host, wait in due.items():
                    await queue.move_last(conn, host, now + wait, now=now)
        self._to_defer -= waiting.keys()

    async def _is_paused(self) -> bool:
        """Return whether the crawl is paused; waiting leases are then returned."""
        async with self._context.db.read() as conn:
            paused = await jobs.is_paused(conn)
        if paused:
            await self._put_aside()
        return paused

    async def _has_room(self) -> bool:
        """Return whether more can be fetched; if uploads lag behind, return waiting leases."""
        is_full = self._context.store.storage.is_full
        if is_full:
            await self._put_aside()
        return not is_full

    async def _put_aside(self) -> None:
        """Return leases that have not started."""
        if aside := self._frontier.take_waiting():
            await self._frontier.give_back(aside, interrupted=False)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _is_something_left(self) -> bool:
        """Return whether jobs may appear because a process has died recently."""
        db = self._context.db
        await recover(db, self._context.store)
        if await self._frontier.due_in(until_empty=True) is not None:
            return True
        async with db.read() as conn:
            holders = await queue.job_owners(conn)
        return db.given_up.is_any_suspected(holders)

    async def _note_changes(self) -> bool:
        """Write pending metadata records of entries that no visit will write soon."""
        self._noted = asyncio.get_running_loop().time()
        async with self._context.db.read() as conn:
            changed = await edit_history.oldest(conn, NOTES)
            owed = await tombstones.pending(conn, limit=DELETIONS)
        await self._context.recorder.note(changed)
        await self._context.recorder.write_pending(owed)
        return bool(changed or owed)
