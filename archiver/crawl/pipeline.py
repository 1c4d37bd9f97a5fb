"""The pipeline: the one place of the crawl that owns tasks and the queue between them.

| queue | from | to | length | when full |
| --- | --- | --- | --- | --- |
| the queue on disk (``index.queue``) | wishes | ``_dispatch`` | unbounded, on disk | - |
| ``_window`` | ``_dispatch`` | ``_work`` | ``concurrency`` | no more leases are taken |
| ``Recorder._waiting`` | ``_work`` | ``Recorder.run`` | 64 MiB | visits wait |
| ``DerivePool`` | ``_work`` | its processes | one request a process | visits wait |

It is over when nothing is queued and nothing is in flight. ``stop`` breaks visits off, gives their
leases back, and lets the recorder finish what it has.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog

from archiver.crawl.admit import retry_at
from archiver.crawl.endings import Ending
from archiver.crawl.frontier import Frontier
from archiver.crawl.recovery import recover
from archiver.crawl.requisites import Requisites
from archiver.crawl.tools import Tools
from archiver.crawl.visit import visit
from archiver.errors import FetchError, StoreError
from archiver.index import entries
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Job, Lease, State

IDLE_SECONDS = 1.0
"""How long until the queue is looked at again: another process may have added to it."""
RECOVERY_SECONDS = 30.0
TROUBLE_SECONDS = 15.0
"""How long the crawl rests after the disk or the index refused something."""
LEAST_REST = 2.0
"""A host that wants more rest than this, in seconds, is waited for on disk."""
NOTES = 500

log = structlog.get_logger()


class Pipeline:
    """One crawl. ``run`` is its whole life."""

    def __init__(
        self,
        tools: Tools,
        *,
        only: Sequence[int] | None = None,
        on_change: Callable[[Job], None] | None = None,
    ) -> None:
        settings = tools.settings
        self._tools = tools
        self._requisites = Requisites(tools)
        self._frontier = Frontier(
            tools.db,
            owner=tools.store.writer,
            room=settings.concurrency,
            each=settings.host_concurrency,
            only=only,
            resting=tools.throttle.resting_hosts,
        )
        self._window: asyncio.Queue[Lease] = asyncio.Queue(settings.concurrency)
        self._wake = asyncio.Event()
        self._on_change = on_change or (lambda _: None)
        self._recovered = 0.0

    def wake(self) -> None:
        """Say that there is something new in the queue."""
        self._wake.set()

    async def run(self, *, until_empty: bool) -> None:
        """Work the queue, until it is empty or for ever; leaves no lease behind."""
        recording = asyncio.create_task(self._tools.recorder.run(), name="recorder")
        try:
            async with asyncio.TaskGroup() as group:
                workers = [
                    group.create_task(self._work(), name=f"visit-{n}")
                    for n in range(self._tools.settings.concurrency)
                ]
                await self._dispatch(until_empty=until_empty)
                for worker in workers:
                    worker.cancel()
        finally:
            await self._tools.recorder.drain()
            recording.cancel()
            await asyncio.wait([recording])
            await self._frontier.give_all_back()

    async def _dispatch(self, *, until_empty: bool) -> None:
        while True:
            self._wake.clear()
            try:
                wait = await self._fill()
            except StoreError:
                log.exception("the index refused; resting", seconds=TROUBLE_SECONDS)
                wait = TROUBLE_SECONDS
            if wait is None:
                if until_empty:
                    return
                wait = IDLE_SECONDS
            await self._rest(wait)

    async def _fill(self) -> float | None:
        """Lease what fits; return seconds until the next look, None when all is done."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._recovered:
            self._recovered = loop.time() + RECOVERY_SECONDS
            await recover(self._tools.db, self._tools.store)
        leases = await self._frontier.lease()
        for lease in leases:
            self._window.put_nowait(lease)
        if leases:
            return IDLE_SECONDS
        await self._frontier.settle_only()
        due = await self._frontier.due_in()
        if due is None and not self._frontier.held:
            return IDLE_SECONDS if await self._note_changes() else None
        return min(due, IDLE_SECONDS) if due else IDLE_SECONDS

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _note_changes(self) -> bool:
        """Write down what was said of entries that no visit will close soon."""
        async with self._tools.db.read() as conn:
            changed = await entries.unrecorded(conn, NOTES)
        await self._tools.recorder.note([*changed])
        return bool(changed)

    async def _work(self) -> None:
        while True:
            lease = await self._window.get()
            if self._tools.throttle.resting(lease.host) > LEAST_REST:
                await self._frontier.give_back([lease], interrupted=lease.interrupted)
                continue
            self._tell(lease, State.FETCHING)
            ending = await self._attempt(lease)
            try:
                await self._tools.recorder.close(ending)
            except StoreError:
                await asyncio.sleep(TROUBLE_SECONDS)
                await self._frontier.give_back([lease])
            else:
                self._frontier.done(lease)
                self._tell_end(ending)
            self._wake.set()

    async def _attempt(self, lease: Lease) -> Ending:
        """One attempt, whose every failure is a value."""
        at = datetime.now(UTC).replace(microsecond=0)
        try:
            async with asyncio.timeout(2 * self._tools.settings.page_timeout):
                return Ending(lease, at, visit=await visit(self._tools, self._requisites, lease))
        except FetchError as error:
            failure = error.failure
        except TimeoutError:
            failure = Failure(FailureKind.TIMEOUT, "The page took longer than is allowed in all.")
        except Exception:
            log.exception("visit failed", url=lease.url)
            failure = Failure(FailureKind.INTERNAL, "Something went wrong here; the log says what.")
        again = retry_at(failure, lease, self._tools.settings, datetime.now(UTC))
        return Ending(lease, at, failure=failure, retry_at=again)

    def _tell(self, lease: Lease, state: State) -> None:
        self._on_change(
            Job(lease.job_id, lease.hash_url, lease.url, state, attempts=lease.attempts)
        )

    def _tell_end(self, ending: Ending) -> None:
        lease, visited = ending.lease, ending.visit
        state = State.SAVED if visited else State.QUEUED if ending.retry_at else State.FAILED
        self._on_change(
            Job(
                id=lease.job_id,
                hash_url=lease.hash_url,
                url=lease.url,
                state=state,
                title=visited.article.metadata.title if visited else "",
                attempts=lease.attempts + 1,
                failure=ending.failure,
                not_before=ending.retry_at,
                timestamp=visited.timestamp if visited else None,
            )
        )
