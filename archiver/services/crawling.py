"""Crawling of queued jobs: control, status, and a stream of changes."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from archiver.crawl.context import CrawlContext
from archiver.crawl.derived_rows import compare_pending, rebuild_stale
from archiver.crawl.pipeline import Pipeline
from archiver.crawl.visit_result import VisitResult
from archiver.db import counters, crawl_status, imports, jobs, queue, segment_rows
from archiver.db.crawl_status import QueueLag, Share, WaitingHost
from archiver.db.engine import AsyncConnection, Database
from archiver.db.worker_locks import all_workers
from archiver.errors import InputError, NotFound
from archiver.model.failure import Failure, FailureGroup, FailureKind
from archiver.model.imports import ImportStatus
from archiver.model.job import Change, ChangeCursor, Job, Lease, QueueCounts, State
from archiver.model.message import Message

if TYPE_CHECKING:
    from archiver.services.import_reading import ImportStatuses


MOVED = 5000
"""Maximum number of jobs that one transaction pauses or resumes."""


async def pause_import(db: Database, import_id: int, *, paused: bool) -> None:
    """Pause or resume the captures of an import, with one transaction per ``MOVED`` jobs."""
    moved = MOVED
    while moved == MOVED:
        async with db.write() as conn:
            now = datetime.now(UTC)
            moved = await queue.pause_import(
                conn, import_id, is_paused=paused, now=now, limit=MOVED
            )


class Crawling:
    """Crawl of this process, which takes jobs from the queue that all processes share."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._db = context.db
        self._running: Pipeline | None = None

    @property
    def is_running(self) -> bool:
        """Whether the crawl of this process is running, so that its recorder accepts records."""
        return self._running is not None

    @property
    def browser_problem(self) -> Message | None:
        """Reason why pages can't be rendered in a browser, as a sentence; None if they can."""
        return self._context.renderer.problem

    async def check_browser(self) -> None:
        """Test whether a browser can start, and update ``browser_problem``."""
        await self._context.renderer.check()

    def wake(self) -> None:
        """Notify the crawl of new jobs."""
        if self._running:
            self._running.wake()

    async def work(
        self,
        *,
        only: Sequence[int] | None = None,
        on_change: Callable[[Job], None] | None = None,
        until_empty: bool = True,
    ) -> QueueCounts:
        """Capture until the queue is empty, or until each job in ``only`` had an attempt.

        Then update outdated search documents, so that changed user metadata is searchable.

        Returns:
            The number of jobs in each state.
        """
        while True:
            running = self._running = Pipeline(self._context, only=only, on_change=on_change)
            try:
                await running.run(until_empty=until_empty)
            finally:
                self._running = None
            if not running.has_lost_lock:
                break
        store = self._context.store
        while await compare_pending(self._db, store) or await rebuild_stale(self._db, store):
            pass
        return await self.counts()

    async def write_pending_records(self) -> None:
        """Write pending records of user metadata, without capturing."""
        await self.work(only=())

    async def close_segment(self) -> None:
        """Close the current segment of this process; the next record opens a new one."""
        if self._context.recorder.is_running:
            await self._context.recorder.end_segment()
        else:
            await asyncio.to_thread(self._context.store.close)

    async def counts(self) -> QueueCounts:
        """Return the number of jobs by state."""
        async with self._db.read() as conn:
            return await jobs.queue_counts(conn)


MAX_JOBS = 50
MAX_HOSTS = 25
MAX_FAILED = 20_000
MAX_SHARES = 10
BATCH = 500
STORAGE_USAGE_SECONDS = 600.0
"""Seconds for which storage statistics are cached."""
CANCELLED = Failure(FailureKind.CANCELLED, "You cancelled saving this page.")
_IMPORT_PRIORITY = 1


@dataclass(frozen=True, slots=True)
class CrawlState:
    """State of the crawl.

    Attributes:
        counts: number of jobs in each state.
        snapshots: number of all snapshots, including those without a job in this index.
        is_paused: whether fetching is paused.
        running_jobs: jobs being fetched.
        hosts: the hosts with the most queued jobs.
        failed: number of failed entries by reason; only the newest are counted if there are many.
    """

    counts: QueueCounts
    snapshots: int
    is_paused: bool
    running_jobs: tuple[Job, ...]
    hosts: tuple[WaitingHost, ...]
    failed: tuple[FailureGroup, ...]

    @property
    def failed_pages(self) -> int:
        """Number of failed entries.

        ``failed`` counts only the newest ``MAX_FAILED`` entries. If that limit is reached, the
        result is the maximum of the sum of ``failed`` and the number of failed jobs.
        """
        counted_failures = sum(each.entries for each in self.failed)
        return (
            counted_failures
            if counted_failures < MAX_FAILED
            else max(counted_failures, self.counts.failed)
        )


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """Largest storage consumers, by media type and by site, and the size of all segments."""

    types: tuple[Share, ...] = ()
    sites: tuple[Share, ...] = ()
    total: int = 0


async def running_workers(db: Database) -> Sequence[Any]:
    """Return the running workers of all machines that share an index in PostgreSQL."""
    async with db.read() as conn:
        return await all_workers(conn)


@dataclass(slots=True)
class CrawlStatus:
    """Status and control of the crawl of all processes."""

    context: CrawlContext
    crawling: Crawling
    open_writer: Callable[[], AbstractAsyncContextManager[CrawlContext]]
    _storage_usage: StorageUsage = field(default_factory=StorageUsage)
    _counted_at: float = -STORAGE_USAGE_SECONDS

    async def state(self) -> CrawlState:
        """Return the state of the crawl."""
        async with self.context.db.read() as conn:
            return CrawlState(
                counts=await jobs.queue_counts(conn),
                snapshots=(await counters.all_counters(conn)).get(counters.SNAPSHOTS, 0),
                is_paused=await jobs.is_paused(conn),
                running_jobs=tuple(await jobs.fetching(conn, MAX_JOBS)),
                hosts=tuple(await crawl_status.waiting_hosts(conn, limit=MAX_HOSTS)),
                failed=tuple(await crawl_status.failed_by_reason(conn, most=MAX_FAILED)),
            )

    async def queue_lag(self) -> QueueLag:
        """Return the delay of the crawl: due hosts, and the age of the oldest lease."""
        async with self.context.db.read() as conn:
            return await crawl_status.queue_lag(conn, datetime.now(UTC))

    async def is_paused(self) -> bool:
        """Return whether fetching is paused."""
        async with self.context.db.read() as conn:
            return await jobs.is_paused(conn)

    async def free_bytes(self) -> int:
        """Return the free bytes on the data directory's disk."""
        return (await asyncio.to_thread(shutil.disk_usage, self.context.settings.data)).free

    async def storage_usage(self) -> StorageUsage:
        """Return the largest storage consumers; cached for some minutes."""
        now = time.monotonic()
        if now - self._counted_at > STORAGE_USAGE_SECONDS:
            self._counted_at = now
            async with self.context.db.read() as conn:
                types, sites = await crawl_status.storage_use(conn, limit=MAX_SHARES)
                total = await segment_rows.total_bytes(conn)
            named = (replace(each, name=_site(each.name)) for each in sites)
            self._storage_usage = StorageUsage(tuple(types), tuple(named), total)
        return self._storage_usage

    async def pause(self, *, paused: bool) -> None:
        """Pause or resume fetching in all processes; requests in progress are finished."""
        async with self.context.db.write() as conn:
            await jobs.set_paused(conn, paused=paused)
        self.crawling.wake()

    async def pause_import(self, import_id: int, *, paused: bool) -> None:
        """Pause or resume the captures of an import; requests in progress are finished."""
        await pause_import(self.context.db, import_id, paused=paused)
        self.crawling.wake()

    async def failures_of(self, import_id: int) -> tuple[FailureGroup, ...]:
        """Return the failures of an import by reason."""
        async with self.context.db.read() as conn:
            groups = await crawl_status.failed_by_reason(conn, most=MAX_FAILED, import_id=import_id)
        return tuple(groups)

    async def try_all_again(self, import_id: int) -> int:
        """Requeue all failed entries of an import; return their number."""
        reasons = [each.reason for each in await self.failures_of(import_id)]
        return sum([await self.try_again(each, import_id) for each in reasons])

    async def try_again(self, reason: str, import_id: int | None = None) -> int:
        """Requeue entries that failed for a reason, all or those of an import; return their number.

        Raises:
            InputError: the reason is empty.
        """
        if not reason.strip():
            raise InputError("Choose which failures to retry.")
        return await self._queue(
            lambda conn, after: crawl_status.failed_of(
                conn, why=reason, after=after, limit=BATCH, import_id=import_id
            ),
            imports.count_failed_as_pending,
            import_id,
        )

    async def has_links(self, import_id: int) -> bool:
        """Return whether an import has entries saved as links."""
        async with self.context.db.read() as conn:
            return bool(await crawl_status.links_of(conn, import_id, limit=1))

    async def capture_links(self, import_id: int) -> int:
        """Queue the entries of an import that are saved as links; return their number."""
        return await self._queue(
            lambda conn, _: crawl_status.links_of(conn, import_id, limit=BATCH),
            imports.count_links_as_pending,
            import_id,
        )

    async def _queue(
        self,
        find: Callable[[AsyncConnection, int], Awaitable[Sequence[tuple[int, str]]]],
        count_as_pending: Callable[[AsyncConnection, int, int], Awaitable[None]],
        import_id: int | None,
    ) -> int:
        """Queue the entries that ``find`` returns after a row id, in batches; return their number.

        The counts of an import are updated with ``count_as_pending``.
        """
        last = count = 0
        while True:
            async with self.context.db.write() as conn:
                entries = await find(conn, last)
                if not entries:
                    break
                new_jobs = await queue.enqueue(
                    conn,
                    entries,
                    priority=_IMPORT_PRIORITY,
                    now=datetime.now(UTC),
                    import_id=import_id,
                )
                await crawl_status.set_queued(conn, [*new_jobs])
                if import_id is not None:
                    await count_as_pending(conn, import_id, len(new_jobs))
            last, count = entries[-1][0], count + len(new_jobs)
        self.crawling.wake()
        return count

    async def cancel(self, import_id: int | None = None) -> int:
        """Cancel all queued jobs or those of an import, so that they fail; return their number."""
        count = 0
        async with self.open_writer() as context:
            while leases := await self._waiting(import_id):
                at = datetime.now(UTC).replace(microsecond=0)
                ends = [
                    await context.recorder.end(
                        VisitResult(each.entry, at, failure=CANCELLED, lease=each)
                    )
                    for each in leases
                ]
                for each in ends:
                    await each
                count += len(leases)
        return count

    async def time_left(self, import_id: int, *, count: int) -> int | None:
        """Return the estimated seconds for ``count`` jobs of an import; None if unknown."""
        async with self.context.db.read() as conn:
            pace = await jobs.seconds_per_job(conn, datetime.now(UTC), import_id=import_id)
            is_paused = await jobs.is_paused(conn) or import_id in await queue.paused_imports(conn)
        return None if pace is None or is_paused or not count else round(count * pace)

    async def _waiting(self, import_id: int | None) -> list[Lease]:
        async with self.context.db.read() as conn:
            queued = await crawl_status.queued(conn, limit=BATCH, import_id=import_id)
            return await queue.as_leases(conn, queued)


def _site(key: str) -> str:
    """Return the host of a SURT prefix: ``example.org:8080`` for ``org,example:8080``."""
    host, colon, port = key.partition(":")
    return ".".join(reversed(host.split(","))) + colon + port


POLL_SECONDS = 0.4
MAX_CHANGES = 1000
ENDED = (State.SAVED, State.FAILED)
_BEGINNING = ChangeCursor(0, 0)


class ChangeStream:
    """Changes of jobs and imports, found by polling the index.

    If a job changes several times between two polls, only the last change is reported.
    """

    def __init__(self, db: Database, statuses: "ImportStatuses") -> None:
        self._db = db
        self._imports = statuses

    async def jobs(self, job_ids: Collection[int]) -> AsyncIterator[Job]:
        """Yield the current state of jobs, then their changes, until all are finished."""
        seen: dict[int, Job] = {}
        open_ = set(job_ids)
        while open_:
            async with self._db.read() as conn:
                current = await jobs.by_ids(conn, sorted(open_))
            for job in current:
                if seen.get(job.id) != job:
                    seen[job.id] = job
                    yield job
            open_ = {job.id for job in current if job.state not in ENDED}
            if open_:
                await asyncio.sleep(POLL_SECONDS)

    async def one_import(self, import_id: int) -> AsyncIterator[ImportStatus]:
        """Yield the current state of an import, then its changes, until it is finished."""
        sent = None
        while True:
            try:
                status = await self._imports.find(import_id)
            except NotFound:  # a rebuilt index does not have it
                return
            if status != sent:
                sent = status
                yield status
            if not status.is_open:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def newest_change(self) -> ChangeCursor:
        """Return the cursor that follows all changes so far."""
        async with self._db.read() as conn:
            return await jobs.newest_change(conn)

    async def all_jobs(self, cursor: ChangeCursor) -> AsyncIterator[Change]:
        """Yield all changes after a cursor, without end.

        A cursor after the newest change means that the index was rebuilt; then all changes are
        yielded again.
        """
        if cursor.stamp > (await self.newest_change()).stamp:
            cursor = _BEGINNING
        while True:
            async with self._db.read() as conn:
                changes = await jobs.changes_after(conn, cursor, limit=MAX_CHANGES)
            for change in changes:
                yield change
                cursor = change.cursor
            if len(changes) < MAX_CHANGES:
                await asyncio.sleep(POLL_SECONDS)
