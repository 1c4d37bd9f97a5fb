"""Worker pipeline.

| queue | from | to | length | when full |
| --- | --- | --- | --- | --- |
| database queue (``db.queue``) | seeds | ``Dispatcher`` | unbounded, on disk | - |
| ``Frontier`` | ``Dispatcher`` | ``_work`` | ``_window_of`` | leasing waits |
| ``Recorder._waiting`` | ``_work`` | ``Recorder.run`` | 64 MiB | visits wait |
| ``WorkerPool`` | ``_work`` | its processes | one request per process | visits wait |

``concurrency`` workers process leases. A visit that takes long moves to the slow lane, and a new
worker takes its place; later pages of that host start in the slow lane. The lane has room for
``SLOW_LANE`` times ``concurrency`` visits, so slow hosts block only each other.

The crawl ends when nothing is queued or active. A stop cancels visits, returns their leases, and
lets the recorder finish.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from archiver.crawl.context import RETRY_SECONDS, CrawlContext
from archiver.crawl.dispatcher import Dispatcher
from archiver.crawl.fetch import MAX_PAUSE
from archiver.crawl.frontier import Frontier
from archiver.crawl.public_archives import PublicArchiveFetcher
from archiver.crawl.requisites import Requisites
from archiver.crawl.retry_policy import retry_at
from archiver.crawl.visit import visit
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db import queue
from archiver.errors import FetchError, IndexUnavailable, StoreError
from archiver.logs import get_log
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Job, Lease, State


class SlowLane:
    """Room for slow visits."""

    def __init__(self, room: int) -> None:
        self._size = self._room = room
        self._left = asyncio.Event()

    @property
    def is_crowded(self) -> bool:
        """Whether more than half of the room is used."""
        return self._room * 2 < self._size

    def try_enter(self) -> bool:
        """Take a place if there is one; return whether there was."""
        if not self._room:
            return False
        self._room -= 1
        return True

    async def enter(self) -> None:
        """Wait for a place and take it."""
        while not self.try_enter():
            self._left.clear()
            await self._left.wait()

    def leave(self) -> None:
        """Free a place."""
        self._room += 1
        self._left.set()


SLOW_SECONDS = 0.5
UNKNOWN_SECONDS = 0.3
"""Shorter limit for hosts that have not responded yet, since they may be dead."""
WATCH_SECONDS = 0.1
SLOW_LANE = 3
LOCK_SECONDS = 2.0
LEAST_WINDOW = 1024
SHARED_WINDOW = 32
"""Maximum window on a server, times ``concurrency``, so that other workers find jobs."""

log = get_log(__name__)


@dataclass(slots=True)
class _UnderWay:
    """Active visit: its start, its time limit, and the function that replaces its worker."""

    begun: float
    patience: float
    replace: Callable[[], None]
    is_aside: bool = False


class Pipeline:
    """One crawl; ``run`` runs until it ends.

    Attributes:
        left: leases that could not be returned; the next crawl of this process returns them.
        is_broken_off: the crawl ended because its worker lock was lost (``db.worker_locks``).
    """

    def __init__(
        self,
        context: CrawlContext,
        *,
        only: Sequence[int] | None = None,
        on_change: Callable[[Job], None] | None = None,
        left: Sequence[Lease] = (),
    ) -> None:
        self.left: Sequence[Lease] = ()
        self.is_broken_off = False
        settings = context.settings
        self._context = context
        self._requisites = Requisites(context)
        self._archive_fetcher = PublicArchiveFetcher(context)
        self._frontier = Frontier(
            context.db,
            owner=context.store.writer,
            room=_window_of(settings.concurrency, is_shared=context.db.locks is not None),
            each=settings.host_concurrency,
            delay=settings.host_delay,
            only=only,
            paused_hosts=context.throttle.paused_hosts,
        )
        self._lane = SlowLane(SLOW_LANE * settings.concurrency)
        self._visits: dict[int, _UnderWay] = {}
        self._dispatcher = Dispatcher(context, self._frontier, left)
        self._on_change = on_change

    def wake(self) -> None:
        """Signal that the queue has new jobs."""
        self._dispatcher.wake()

    async def run(self, *, until_empty: bool) -> None:
        """Process the queue, until it is empty or without end, and return all leases.

        A crawl without end obeys a pause; a crawl that was started to empty the queue ignores it.
        """
        await self._have_worker_lock()
        recording = asyncio.create_task(self._context.recorder.run(), name="recorder")
        try:
            async with asyncio.TaskGroup() as group:
                workers: set[asyncio.Task[None]] = set()
                for _ in range(self._context.settings.concurrency):
                    self._begin_worker(group, workers)
                watching = group.create_task(self._watch(), name="watch")
                slow = group.create_task(self._work_slow(group, workers), name="slow-lane")
                dispatching = group.create_task(self._dispatcher.run(until_empty=until_empty))
                losing = group.create_task(self._wait_for_loss(), name="worker-lock")
                await asyncio.wait([dispatching, losing], return_when=asyncio.FIRST_COMPLETED)
                self.is_broken_off = not dispatching.done()
                for task in (dispatching, losing, watching, slow, *workers):
                    task.cancel()
        except asyncio.CancelledError:
            self._context.db.hurry()
            raise
        finally:
            await self._context.recorder.drain()
            recording.cancel()
            await asyncio.wait([recording])
            await self._give_all_back()

    async def _have_worker_lock(self) -> None:
        """Take the worker lock; wait if the server can't be reached."""
        while True:
            try:
                await self._context.db.enter()
            except IndexUnavailable as error:
                log.warning("the crawl waits for the index", reason=str(error))
                await asyncio.sleep(LOCK_SECONDS)
            else:
                return

    async def _wait_for_loss(self) -> None:
        """Return when the worker lock is lost; other workers may then have its jobs and hosts."""
        locks = self._context.db.locks
        if locks is None:
            await asyncio.Event().wait()
        else:
            await locks.lost()

    async def _give_all_back(self) -> None:
        self.left = [*self._frontier.leases, *self._dispatcher.left]
        try:
            self._context.recorder.raise_if_unindexed()
            await self._frontier.give_back(self.left)
            self.left = ()
        except StoreError:
            # The next process that opens the archive finds this one dead and takes the leases.
            log.warning("leases were not released, because the index or the store is unavailable")

    def _begin_worker(self, group: asyncio.TaskGroup, workers: set[asyncio.Task[None]]) -> None:
        worker = group.create_task(self._work(lambda: self._begin_worker(group, workers)))
        workers.add(worker)
        worker.add_done_callback(workers.discard)

    async def _work(self, replace: Callable[[], None]) -> None:
        """Visit leases one by one; end after a visit whose worker was replaced."""
        while True:
            lease = await self._frontier.next()
            if self._must_rest(lease):
                continue
            known = self._frontier.has_answered(lease.entry.host)
            patience = SLOW_SECONDS if known else UNKNOWN_SECONDS
            visit_ = self._visits[lease.job_id] = _UnderWay(time.monotonic(), patience, replace)
            try:
                visit_result = await self._attempt(lease)
            finally:
                del self._visits[lease.job_id]
                if visit_.is_aside:
                    self._lane.leave()
            await self._end(lease, visit_result, was_slow=visit_.is_aside)
            if visit_.is_aside:
                return

    async def _work_slow(self, group: asyncio.TaskGroup, workers: set[asyncio.Task[None]]) -> None:
        """Start visits to hosts that are known to be slow directly in the slow lane."""
        while True:
            lease = await self._frontier.next_slow()
            if self._must_rest(lease):
                continue
            await self._lane.enter()
            worker = group.create_task(self._visit_slow(lease))
            workers.add(worker)
            worker.add_done_callback(workers.discard)

    async def _visit_slow(self, lease: Lease) -> None:
        begun = time.monotonic()
        try:
            visit_result = await self._attempt(lease)
        finally:
            self._lane.leave()
        await self._end(lease, visit_result, was_slow=time.monotonic() - begun > SLOW_SECONDS)

    def _must_rest(self, lease: Lease) -> bool:
        """Return a lease to the queue if its host asked for a pause; return whether it did."""
        host = lease.entry.host
        if lease.rescue:
            return False
        if lease.priority == queue.LAST and self._context.dead.waiting(host):
            self._dispatcher.defer(host)
        elif self._context.throttle.pause_left(host) <= MAX_PAUSE:
            return False
        surplus = self._frontier.finished(lease, answered=False)
        self._dispatcher.give_up([lease, *surplus])
        return True

    async def _watch(self) -> None:
        """Replace the workers of slow visits while the slow lane has room."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            self._step_aside(time.monotonic())

    def _step_aside(self, now: float) -> None:
        for each in [*self._visits.values()]:
            if not each.is_aside and now - each.begun > each.patience:
                if not self._lane.try_enter():
                    return
                each.is_aside = True
                each.replace()

    async def _end(self, lease: Lease, visit_result: VisitResult, *, was_slow: bool) -> None:
        """Pass a result to the recorder without waiting until it is on disk."""
        closing = await self._context.recorder.end(visit_result)
        closing.add_done_callback(lambda done: self._closed(lease, visit_result, done))
        answered = _has_answered(visit_result)
        self._dispatcher.give_up(
            self._frontier.finished(
                lease, answered=answered, was_slow=was_slow, crowded=self._lane.is_crowded
            )
        )

    def _closed(
        self,
        lease: Lease,
        visit_result: VisitResult,
        closing: "asyncio.Future[VisitResult | None]",
    ) -> None:
        if closing.cancelled() or closing.exception():
            self._dispatcher.give_up([lease], refused=True)
        else:
            self._frontier.done(lease)
            self._report_end(lease, closing.result() or visit_result)
        self._dispatcher.note_room()

    async def _attempt(self, lease: Lease) -> VisitResult:
        """Make one attempt; every failure becomes a value."""
        self._report(lease, State.FETCHING)
        at = datetime.now(UTC).replace(microsecond=0)
        try:
            async with asyncio.timeout(2 * self._context.settings.page_timeout):
                found = await self._bring(lease)
                return VisitResult(lease.entry, at, visit=found, lease=lease)
        except FetchError as error:
            failure = error.failure
        except TimeoutError:
            failure = Failure(
                FailureKind.TIMEOUT, ("The page took longer than ARCHIVER_PAGE_TIMEOUT.")
            )
        except Exception:
            log.exception("visit failed", url=lease.entry.url)
            failure = Failure(
                FailureKind.INTERNAL, ("An internal error occurred. The log has details.")
            )
        if failure.kind is FailureKind.TIMEOUT and (of_dead := self._timed_out(lease, failure, at)):
            return of_dead
        again = retry_at(failure, lease, self._context.settings, datetime.now(UTC))
        return VisitResult(lease.entry, at, failure=failure, retry_at=again, lease=lease)

    async def _bring(self, lease: Lease) -> Visit:
        if lease.rescue:
            return await self._archive_fetcher.bring(lease)
        return await visit(self._context, self._requisites, lease)

    def _timed_out(self, lease: Lease, failure: Failure, at: datetime) -> VisitResult | None:
        """Return the result of a timeout at a dead host; None if the host may be alive."""
        dead, host = self._context.dead, lease.entry.host
        if lease.rescue:
            return None
        if lease.priority == queue.LAST:
            dead.postponed_job_failed(host)
            return VisitResult(lease.entry, at, failure=failure, lease=lease)
        if not dead.is_dead(host):
            return None
        self._dispatcher.put_last(host)
        again = datetime.now(UTC) + timedelta(seconds=RETRY_SECONDS)
        return VisitResult(
            lease.entry, at, failure=failure, retry_at=again, lease=lease, is_put_last=True
        )

    def _report(self, lease: Lease, state: State) -> None:
        if self._on_change is None:
            return
        self._on_change(
            Job(lease.job_id, lease.entry.hash_url, lease.entry.url, state, attempts=lease.attempts)
        )

    def _report_end(self, lease: Lease, visit_result: VisitResult) -> None:
        if self._on_change is None:
            return
        visited = visit_result.visit
        state = State.SAVED if visited else State.QUEUED if visit_result.retry_at else State.FAILED
        self._on_change(
            Job(
                id=lease.job_id,
                hash_url=lease.entry.hash_url,
                url=lease.entry.url,
                state=state,
                title=visited.article.metadata.title if visited else "",
                attempts=lease.attempts + 1,
                failure=visit_result.failure,
                not_before=visit_result.retry_at,
                timestamp=visited.timestamp if visited else None,
            )
        )


def _window_of(concurrency: int, *, is_shared: bool) -> int:
    """Return the maximum number of waiting and active leases."""
    window = concurrency + max(concurrency, LEAST_WINDOW)
    return min(window, SHARED_WINDOW * concurrency) if is_shared else window


def _has_answered(visit_result: VisitResult) -> bool:
    """Return whether the host responded, if only with an error."""
    return visit_result.failure is None or visit_result.failure.kind is not FailureKind.TIMEOUT
