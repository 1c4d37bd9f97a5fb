"""Stream of job and import changes."""

import asyncio
from collections.abc import AsyncIterator, Collection

from archiver.db import jobs as db_jobs
from archiver.db.engine import Database
from archiver.model.imports import ImportStatus
from archiver.model.job import Change, ChangeCursor, Job, State
from archiver.services.import_reading import ImportStatuses
from archiver.warc.segments import SegmentStore

POLL_SECONDS = 0.4
MOST_CHANGES = 1000
ENDED = (State.SAVED, State.FAILED)
_BEGINNING = ChangeCursor(0, 0)


class ChangeStream:
    """What changes. It is no history: of changes between two looks, the last is seen."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._imports = ImportStatuses(db, store)

    async def jobs(self, job_ids: Collection[int]) -> AsyncIterator[Job]:
        """First these jobs as they stand, then their changes, until all are at an end."""
        seen: dict[int, Job] = {}
        open_ = set(job_ids)
        while open_:
            async with self._db.read() as conn:
                found = await db_jobs.by_ids(conn, sorted(open_))
            for job in found:
                if seen.get(job.id) != job:
                    seen[job.id] = job
                    yield job
            open_ = {job.id for job in found if job.state not in ENDED}
            if open_:
                await asyncio.sleep(POLL_SECONDS)

    async def one_import(self, import_id: int) -> AsyncIterator[ImportStatus]:
        """An import as it stands, then whenever it moves, until all of it is at its end."""
        seen = None
        while True:
            status = await self._imports.find(import_id)
            if status is None:
                return
            if status != seen:
                seen = status
                yield status
            if not status.is_open:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def newest_change(self) -> ChangeCursor:
        """The place behind every change so far."""
        async with self._db.read() as conn:
            return await db_jobs.newest_change(conn)

    async def all_jobs(self, cursor: ChangeCursor) -> AsyncIterator[Change]:
        """Every change behind a place, for ever; none is missed.

        A place that is not reached yet is one of an index that was built again since: everything
        is told from the beginning.
        """
        if cursor.stamp > (await self.newest_change()).stamp:
            cursor = _BEGINNING
        while True:
            async with self._db.read() as conn:
                found = await db_jobs.changes_after(conn, cursor, limit=MOST_CHANGES)
            for change in found:
                yield change
                cursor = change.cursor
            if len(found) < MOST_CHANGES:
                await asyncio.sleep(POLL_SECONDS)
