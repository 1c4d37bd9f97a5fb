"""Worker pipeline: one crawl from leased jobs to recorded results.

| queue | from | to | length | when full |
| --- | --- | --- | --- | --- |
| database queue (``db.queue``) | seeds | ``Dispatcher`` | unbounded, on disk | - |
| ``Frontier`` | ``Dispatcher`` | ``_work`` | ``MIN_WINDOW`` | leasing waits |
| ``Recorder._waiting`` | ``_work`` | ``Recorder.run`` | 64 MiB | visits wait |
| ``WorkerPool`` | ``_work`` | its processes | one request per process | visits wait |

``concurrency`` worker tasks process leases. A host that has not responded yet occupies at most one
of these tasks (``frontier``).

The crawl ends when nothing is queued or active. Stopping a crawl cancels its visits, returns their
leases to the queue, and waits for the recorder to finish.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

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
from archiver.errors import FetchError, StoreError
from archiver.logs import get_log
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Job, Lease, State

MIN_WINDOW = 1024
"""Minimum number of leases that wait, so that a crawl alternates between many hosts."""

log = get_log(__name__)


class Pipeline:
    """One crawl; ``run`` runs until it ends.

    Attributes:
        has_lost_lock: whether the crawl ended because its worker lock was lost
            (``db.worker_locks``).
    """

    def __init__(
        self,
        context: CrawlContext,
        *,
        only: Sequence[int] | None = None,
        on_change: Callable[[Job], None] | None = None,
    ) -> None:
        self.has_lost_lock = False
        settings = context.settings
        self._context = context
        self._requisites = Requisites(context)
        self._archive_fetcher = PublicArchiveFetcher(context)
        self._frontier = Frontier(
            context.db,
            owner=context.store.writer,
            room=settings.concurrency + max(settings.concurrency, MIN_WINDOW),
            per_host=settings.host_concurrency,
            delay_of=context.throttle.delay_of,
            only=only,
            paused_hosts=context.throttle.paused_hosts,
        )
        self._dispatcher = Dispatcher(context, self._frontier)
        self._on_change = on_change

    def wake(self) -> None:
        """Signal that the queue has new jobs."""
        self._dispatcher.wake()

    async def run(self, *, until_empty: bool) -> None:
        """Process the queue until it is empty, or until cancelled; then return all leases.

        A crawl that runs until the queue is empty ignores a pause by the user.
        """
        await self._context.db.enter()
        recording = asyncio.create_task(self._context.recorder.run(), name="recorder")
        try:
            async with asyncio.TaskGroup() as group:
                concurrency = self._context.settings.concurrency
                workers = [group.create_task(self._work()) for _ in range(concurrency)]
                dispatching = group.create_task(self._dispatcher.run(until_empty=until_empty))
                losing = group.create_task(self._context.db.lost(), name="worker-lock")
                await asyncio.wait([dispatching, losing], return_when=asyncio.FIRST_COMPLETED)
                self.has_lost_lock = not dispatching.done()
                for task in (dispatching, losing, *workers):
                    task.cancel()
        except asyncio.CancelledError:
            self._context.db.limit_waits()
            raise
        finally:
            await self._context.recorder.drain()
            recording.cancel()
            await asyncio.wait([recording])
            await self._return_all()

    async def _return_all(self) -> None:
        """Return all leases to the queue, unless some visits are recorded but not indexed."""
        try:
            self._context.recorder.raise_if_unindexed()
            await self._frontier.return_leases(self._frontier.leases)
        except StoreError:
            # The next crawl of this process returns them, or another process after this one has
            # died.
            log.warning("leases were not released, because the index or the store is unavailable")

    async def _work(self) -> None:
        """Visit leases one by one, without waiting until a result is on disk."""
        while True:
            lease = await self._frontier.next()
            if self._is_host_paused(lease):
                continue
            visit_result = await self._attempt(lease)
            closing = await self._context.recorder.end(visit_result)
            closing.add_done_callback(partial(self._report_recorded, lease, visit_result))
            surplus = self._frontier.finished(lease, responded=_has_responded(visit_result))
            self._dispatcher.give_up(surplus)

    def _is_host_paused(self, lease: Lease) -> bool:
        """Return whether a host must not be requested now; if so, give its lease back."""
        host = lease.entry.host
        if lease.rescue:
            return False
        if lease.priority == queue.LAST and self._context.dead.waiting(host):
            self._dispatcher.defer(host)
        elif self._context.throttle.pause_left(host) <= MAX_PAUSE:
            return False
        surplus = self._frontier.finished(lease, responded=False)
        self._dispatcher.give_up([lease, *surplus])
        return True

    def _report_recorded(
        self,
        lease: Lease,
        visit_result: VisitResult,
        closing: "asyncio.Future[VisitResult | None]",
    ) -> None:
        """Report a visit that was recorded; give the lease back if recording failed."""
        if closing.cancelled() or closing.exception():
            self._dispatcher.give_up([lease], has_failed=True)
        else:
            self._frontier.done(lease)
            self._report_end(lease, closing.result() or visit_result)
        self._dispatcher.note_room()

    async def _attempt(self, lease: Lease) -> VisitResult:
        """Attempt a visit once; return failures as results instead of raising them."""
        self._report(lease, State.FETCHING)
        at = datetime.now(UTC).replace(microsecond=0)
        try:
            async with asyncio.timeout(2 * self._context.settings.page_timeout):
                visited = await self._visit(lease)
                return VisitResult(lease.entry, at, visit=visited, lease=lease)
        except FetchError as error:
            failure = error.failure
        except TimeoutError:
            failure = Failure(
                FailureKind.TIMEOUT,
                ("The page took longer than “Time limit per page” in Settings."),
            )
        except Exception:
            log.exception("visit failed", url=lease.entry.url)
            failure = Failure(
                FailureKind.INTERNAL, ("An internal error occurred. See the log for details.")
            )
        if failure.kind is FailureKind.TIMEOUT and (of_dead := self._timed_out(lease, failure, at)):
            return of_dead
        again = retry_at(failure, lease, self._context.settings, datetime.now(UTC))
        return VisitResult(lease.entry, at, failure=failure, retry_at=again, lease=lease)

    async def _visit(self, lease: Lease) -> Visit:
        """Visit the page of a lease, or fetch it from a public archive."""
        if lease.rescue:
            return await self._archive_fetcher.fetch_page(lease)
        on_response = partial(self._frontier.responded, lease)
        return await visit(self._context, self._requisites, lease, on_response)

    def _timed_out(self, lease: Lease, failure: Failure, at: datetime) -> VisitResult | None:
        """Return the result of a timeout at a dead host; None if a normal retry should follow.

        A host counts as dead after several timeouts in a row. Its jobs get the priority LAST. A job
        that already has this priority fails.
        """
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
            lease.entry, at, failure=failure, retry_at=again, lease=lease, is_moved_to_end=True
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


def _has_responded(visit_result: VisitResult) -> bool:
    """Return whether the host responded, even if only with an error."""
    return visit_result.failure is None or visit_result.failure.kind is not FailureKind.TIMEOUT
