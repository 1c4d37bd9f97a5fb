"""Capturing: working the queue, and following what happens to it, in whichever process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime

from archiver.crawl.context import CrawlContext
from archiver.crawl.pipeline import Pipeline
from archiver.index import imports, jobs
from archiver.model.importing import ImportStatus
from archiver.model.job import Job, QueueCounts, State

POLL_SECONDS = 0.4
MOST_CHANGES = 1000
ENDED = (State.SAVED, State.FAILED)


class Crawling:
    """The crawl of this process, and the queue of all."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._db = context.db
        self._running: Pipeline | None = None

    def wake(self) -> None:
        """Say that there is something new in the queue."""
        if self._running:
            self._running.wake()

    async def work(
        self,
        *,
        only: Sequence[int] | None = None,
        on_change: Callable[[Job], None] | None = None,
        until_empty: bool = True,
    ) -> QueueCounts:
        """Work the queue until it is empty, or only those jobs until each had an attempt.

        Returns where the jobs of the whole queue stand afterwards.
        """
        self._running = Pipeline(self._context, only=only, on_change=on_change)
        try:
            await self._running.run(until_empty=until_empty)
        finally:
            self._running = None
        return await self.counts()

    async def counts(self) -> QueueCounts:
        """How many jobs stand where."""
        async with self._db.read() as conn:
            return await jobs.queue_counts(conn)

    async def events(
        self, *, job_ids: Sequence[int] | None = None, import_id: int | None = None
    ) -> AsyncIterator[Job | ImportStatus]:
        """What changes in the queue, from now on, whichever process changes it.

        Args:
            job_ids: first these as they stand, then their changes, until all are at an end.
            import_id: that import, whenever it moves, until it is at its end.
        """
        if job_ids is not None:
            async for job in self._follow_jobs(set(job_ids)):
                yield job
        elif import_id is not None:
            async for status in self._follow_import(import_id):
                yield status
        else:
            async for job in self._follow_all():
                yield job

    async def _follow_jobs(self, waiting: set[int]) -> AsyncIterator[Job]:
        told: dict[int, Job] = {}
        while waiting:
            async with self._db.read() as conn:
                found = await jobs.by_ids(conn, sorted(waiting))
            for job in found:
                if told.get(job.id) != job:
                    told[job.id] = job
                    yield job
            open_ = {job.id for job in found if job.state not in ENDED}
            waiting &= open_
            if waiting:
                await asyncio.sleep(POLL_SECONDS)

    async def _follow_import(self, import_id: int) -> AsyncIterator[ImportStatus]:
        told = None
        while True:
            async with self._db.read() as conn:
                status = await imports.status(conn, import_id)
            if status is None:
                return
            if status != told:
                told = status
                yield status
            if not status.reading and not status.counts.open:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _follow_all(self) -> AsyncIterator[Job]:
        since = int(datetime.now(UTC).timestamp() * 1000)
        told: dict[int, int] = {}
        while True:
            async with self._db.read() as conn:
                changes = await jobs.changed_since(conn, since, limit=MOST_CHANGES)
            fresh = [(at, job) for at, job in changes if told.get(job.id) != at]
            for _, job in fresh:
                yield job
            if changes:
                since = changes[-1][0]
                told = {job.id: at for at, job in changes if at == since}
            if len(changes) < MOST_CHANGES:
                await asyncio.sleep(POLL_SECONDS)
