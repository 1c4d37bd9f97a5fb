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
MAX_CHANGES = 1000
ENDED = (State.SAVED, State.FAILED)
_BEGINNING = ChangeCursor(0, 0)


class ChangeStream:
    """Changes of jobs and imports. Of several changes between two polls, only the last is seen."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._imports = ImportStatuses(db, store)

    async def jobs(self, job_ids: Collection[int]) -> AsyncIterator[Job]:
        """Yield the current state of jobs, then their changes, until all are finished."""
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
        """Yield the current state of an import, then its changes, until it is finished."""
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
        """Return the position after all changes so far."""
        async with self._db.read() as conn:
            return await db_jobs.newest_change(conn)

    async def all_jobs(self, cursor: ChangeCursor) -> AsyncIterator[Change]:
        """Yield all changes after a position, forever.

        A position beyond the newest change means that the index was rebuilt: all changes are
        repeated.
        """
        if cursor.stamp > (await self.newest_change()).stamp:
            cursor = _BEGINNING
        while True:
            async with self._db.read() as conn:
                found = await db_jobs.changes_after(conn, cursor, limit=MAX_CHANGES)
            for change in found:
                yield change
                cursor = change.cursor
            if len(found) < MAX_CHANGES:
                await asyncio.sleep(POLL_SECONDS)
