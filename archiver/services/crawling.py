"""Crawling of queued jobs."""

import asyncio
from collections.abc import Callable, Sequence

from archiver.crawl.context import CrawlContext
from archiver.crawl.derived_rows import compare_pending, rebuild_stale
from archiver.crawl.pipeline import Pipeline
from archiver.db import jobs
from archiver.model.job import Job, Lease, QueueCounts
from archiver.model.message import Message


class Crawling:
    """The crawl of this process, and the shared queue."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._db = context.db
        self._running: Pipeline | None = None
        self._left: Sequence[Lease] = ()

    @property
    def is_running(self) -> bool:
        """Whether the crawl is running, and so records are written."""
        return self._running is not None

    @property
    def browser_problem(self) -> Message | None:
        """Why pages can't be rendered in a browser, in a sentence; None if they can."""
        renderer = self._context.renderer
        return renderer.problem if renderer else Message("No page is shown by a browser here.")

    async def prove_browser(self) -> None:
        """Test whether a browser can start, for ``browser_problem``."""
        if self._context.renderer:
            await self._context.renderer.prove()

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

        Changed user metadata is searchable when it returns.
        Returns the states of all jobs afterwards.
        """
        while True:
            running = Pipeline(self._context, only=only, on_change=on_change, left=self._left)
            self._running = running
            try:
                await running.run(until_empty=until_empty)
            finally:
                self._left = running.left
                self._running = None
            if not running.is_broken_off:
                break
        store = self._context.store
        while await compare_pending(self._db, store) or await rebuild_stale(self._db, store):
            pass
        return await self.counts()

    async def write_down_changes(self) -> None:
        """Write pending records of user metadata, without capturing."""
        await self.work(only=())

    async def close_segment(self) -> None:
        """Close the current segment of this process; the next record opens a new one."""
        if self._running:
            await self._context.recorder.end_segment()
        else:
            await asyncio.to_thread(self._context.store.close)

    async def counts(self) -> QueueCounts:
        """Return the number of jobs by state."""
        async with self._db.read() as conn:
            return await jobs.queue_counts(conn)
