"""Dispatcher of a crawl, which leases jobs for the frontier, and requeues and postpones jobs."""

import asyncio
from collections.abc import Callable, Iterable
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
"""Minimum time between two transactions that lease jobs, so that each leases several."""
RECOVERY_SECONDS = 10.0
"""Interval at which jobs of dead processes are requeued."""
WRITE_SECONDS = 2.0
"""Interval at which pending metadata records are written while the crawl has work."""
FAILURE_SECONDS = 15.0
"""Pause of the crawl after the disk or the index failed."""
MAX_EDITS = 500
MAX_DELETIONS = 8

log = get_log(__name__)


class Dispatcher:
    """Dispatcher of leases to the frontier of a crawl.

    Args:
        context: services of the crawl.
        frontier: the frontier to fill.
    """

    def __init__(self, context: CrawlContext, frontier: Frontier) -> None:
        self._context = context
        self._frontier = frontier
        self._may_hold_earlier = True
        self._returned_leases: list[Lease] = []
        self._hosts_to_postpone: set[str] = set()
        self._to_defer: set[str] = set()
        self._has_failed = self._is_queue_empty = False
        self._is_paused_by_failure = False
        self._wake = asyncio.Event()
        self._recover_at = self._written_at = 0.0
        self._paused_until = 0.0

    def wake(self) -> None:
        """Signal that the queue has new jobs."""
        self._wake.set()

    def note_room(self) -> None:
        """Signal that the frontier has room for more leases; ignored while the queue is empty."""
        if not (self._is_queue_empty and self._frontier.lease_count):
            self._wake.set()

    def give_up(self, leases: Iterable[Lease], *, has_failed: bool = False) -> None:
        """Return leases to the queue in the next iteration.

        ``has_failed`` means that their results could not be stored, so the crawl pauses.
        """
        before = len(self._returned_leases)
        self._returned_leases += leases
        self._has_failed |= has_failed
        if len(self._returned_leases) > before:
            self._wake.set()
        elif self._frontier.has_much_room:
            self.note_room()

    def put_last(self, host: str) -> None:
        """Move the jobs of a dead host to the end of the queue in the next iteration."""
        self._hosts_to_postpone.add(host)

    def defer(self, host: str) -> None:
        """Postpone the jobs of a dead host again in the next iteration."""
        self._to_defer.add(host)

    async def run(self, *, until_empty: bool) -> None:
        """Lease jobs for the frontier, until the queue is empty or until cancelled.

        The user's pause applies to a crawl that runs until cancelled. A crawl that was started to
        empty the queue ignores the pause.
        """
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            self._wake.clear()
            try:
                wait = await self._fill(until_empty=until_empty)
                self._end_pause(started)
                if wait is None and until_empty and not await self._gets_jobs_back():
                    return
            except StoreError as error:
                self._begin_pause(error)
                wait = FAILURE_SECONDS
            await self._idle(IDLE_SECONDS if wait is None else wait)
            await asyncio.sleep(started + LEASE_SECONDS - loop.time())

    def _begin_pause(self, error: StoreError) -> None:
        """Pause the crawl after a failure; log only the first of several failures in a row."""
        if not self._is_paused_by_failure:
            log.error(
                ("the index rejected a write; pausing"), exc_info=error, seconds=FAILURE_SECONDS
            )
        self._is_paused_by_failure = True
        self._paused_until = asyncio.get_running_loop().time() + FAILURE_SECONDS
        self._returned_leases += self._frontier.take_waiting()

    def _end_pause(self, started: float) -> None:
        """End a pause that a failure caused, if it is over; log that the crawl continues."""
        if self._is_paused_by_failure and started >= self._paused_until:
            self._is_paused_by_failure = False
            log.info("the index is available again; continuing")

    async def _fill(self, *, until_empty: bool) -> float | None:
        """Do the periodic work that is due, and lease jobs for the frontier.

        Returns:
            Seconds until the next call; None if no job is queued or leased.
        """
        loop = asyncio.get_running_loop()
        self._is_queue_empty = False
        if loop.time() >= self._recover_at:
            self._recover_at = loop.time() + RECOVERY_SECONDS
            await recover(self._context.db, self._context.store)
        if await self._return_given_up():
            self._paused_until = loop.time() + FAILURE_SECONDS
        if loop.time() < self._paused_until:
            return self._paused_until - loop.time()
        await self._return_earlier()
        await self._postpone_dead()
        await self._move_waiting()
        if not until_empty and await self._is_paused():
            return IDLE_SECONDS
        if loop.time() >= self._written_at + WRITE_SECONDS:
            await self._write_pending_records()
        await self._frontier.leave_hosts()
        is_full, due = await self._lease(until_empty=until_empty)
        if is_full:
            return IDLE_SECONDS
        self._is_queue_empty = due is None
        if due is None and not self._frontier.lease_count:
            return IDLE_SECONDS if await self._write_pending_records() else None
        return min(due, IDLE_SECONDS) if due else IDLE_SECONDS

    async def _lease(self, *, until_empty: bool) -> tuple[bool, float | None]:
        """Lease due jobs if the frontier and the object store have room.

        Returns:
            (True, None) if jobs were leased or the frontier has enough jobs. Otherwise False with
            the seconds until a job may be due, or with None if no job is queued.
        """
        if self._context.store.storage.is_full:
            await self._return_waiting()
        elif not self._frontier.has_much_room or await self._frontier.lease():
            return True, None
        await self._frontier.drop_attempted()
        return False, await self._frontier.due_in(until_empty=until_empty)

    async def _return_given_up(self) -> bool:
        """Requeue the leases passed to ``give_up``; return whether the disk or the index failed."""
        back, self._returned_leases = self._returned_leases, []
        has_failed, self._has_failed = self._has_failed, False
        if back:
            try:
                await self._context.recorder.wait_until_indexed()
                await self._frontier.return_leases(back, interrupted=has_failed)
            except StoreError:
                self._returned_leases += back
                self._has_failed |= has_failed
                raise
        return has_failed

    async def _return_earlier(self) -> None:
        """Requeue leases that an earlier crawl of this process could not return."""
        if self._may_hold_earlier:
            await self._context.recorder.wait_until_indexed()
            async with self._context.db.write() as conn:
                await queue.requeue_all(conn, self._context.store.writer, now=datetime.now(UTC))
            self._may_hold_earlier = False

    async def _postpone_dead(self) -> None:
        """Move the jobs of newly dead hosts to the end of the queue.

        Results of earlier timeouts are stored first, so that their jobs are queued and moved too.
        """
        hosts, self._hosts_to_postpone = self._hosts_to_postpone, set()
        if hosts:
            try:
                await self._context.recorder.flush()
            except StoreError:
                self._hosts_to_postpone |= hosts
                raise
        for host in hosts:
            async with self._context.db.write() as conn:
                await queue.set_last_priority(
                    conn, host, dead_host_failure(host), now=datetime.now(UTC)
                )

    async def _move_waiting(self) -> None:
        """Set the due time of dead hosts' jobs; make jobs of hosts that respond again due now."""
        dead, now = self._context.dead, datetime.now(UTC)
        waiting = {host: dead.waiting(host) for host in self._to_defer}
        due = {host: timedelta(seconds=wait) for host, wait in waiting.items() if wait}
        due |= dict.fromkeys(dead.pop_revived_hosts(), timedelta())
        if due:
            async with self._context.db.write() as conn:
                for host, wait in due.items():
                    await queue.postpone_last(conn, host, now + wait, now=now)
        self._to_defer -= waiting.keys()

    async def _is_paused(self) -> bool:
        """Return whether the user paused the crawl.

        Leases of the crawl, or of paused imports, that have not started are requeued.
        """
        async with self._context.db.read() as conn:
            is_paused = await jobs.is_paused(conn)
            paused_imports = await queue.paused_imports(conn)
        if is_paused:
            await self._return_waiting()
        elif paused_imports:
            await self._return_waiting(
                lambda each: each.import_id in paused_imports and each.priority != queue.INTERACTIVE
            )
        return is_paused

    async def _return_waiting(self, which: Callable[[Lease], bool] = lambda _: True) -> None:
        """Requeue the leases selected by ``which`` that have not started."""
        if leases := self._frontier.take_waiting(which):
            await self._frontier.return_leases(leases, interrupted=False)

    async def _idle(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _gets_jobs_back(self) -> bool:
        """Return whether the queue got jobs back from processes that died recently."""
        await recover(self._context.db, self._context.store)
        return await self._frontier.due_in(until_empty=True) is not None

    async def _write_pending_records(self) -> bool:
        """Write pending records of edits and deletions; return whether there were any."""
        self._written_at = asyncio.get_running_loop().time()
        async with self._context.db.read() as conn:
            changed = await edit_history.unrecorded(conn, MAX_EDITS)
            pending = await tombstones.pending(conn, limit=MAX_DELETIONS)
        await self._context.recorder.note(changed)
        await self._context.recorder.write_pending(pending)
        return bool(changed or pending)
