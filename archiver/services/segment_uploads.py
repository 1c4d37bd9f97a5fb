"""Uploads of closed segments to the object store."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.config import Settings
from archiver.crawl.archive import LOCKS
from archiver.crawl.compaction import why_not_uploadable
from archiver.db import segment_rows
from archiver.db.engine import Database
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.model.message import Message
from archiver.warc.locks import try_lock
from archiver.warc.segment_inventory import SegmentFile
from archiver.warc.segment_versions import created_of
from archiver.warc.segments import SegmentStore

POLL_SECONDS = 1.0
RETRY_SECONDS = 5.0
"""Time until the next attempt after an upload failed; obstore retries each request before that."""
FINISH_SECONDS = 30.0
"""Time for which an exiting process continues to upload; the next process uploads the rest."""

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Segments on this machine that are not uploaded.

    Attributes:
        bytes: total size.
        since: creation time of the oldest segment; None if there is none. The object store has all
            earlier data, so this is the recovery point.
        is_full: whether fetching is paused until the backlog is smaller.
        problem: error of the last upload; None if it succeeded.
    """

    bytes: int = 0
    since: datetime | None = None
    is_full: bool = False
    problem: Message | None = None


class SegmentUploads:
    """Uploads of the closed segments in a data directory.

    Each process that writes segments runs this; a lock ensures that only one process at a time
    uploads. ``watch`` and ``upload`` run as tasks; ``finish`` is called on exit.

    Args:
        db: the index.
        store: segment store of this process, with an object store.
        settings: settings with the limits.
        close_segment: closes the segment that this process writes.
    """

    def __init__(
        self,
        db: Database,
        store: SegmentStore,
        settings: Settings,
        close_segment: Callable[[], Awaitable[None]],
    ) -> None:
        self._db = db
        self._store = store
        self._storage = store.storage
        self._settings = settings
        self._close_segment = close_segment
        self._lock = settings.data / LOCKS / "upload"
        self._uploading = threading.Lock()
        self._problem: Message | None = None
        self.backlog = Backlog()

    async def watch(self) -> None:
        """Close the open segment when it is old or large, and measure the backlog, forever."""
        while True:
            if self._store.is_due:
                await self._close_segment()
            self._measure(await self._local_segments())
            await asyncio.sleep(POLL_SECONDS)

    async def upload(self) -> None:
        """Upload closed segments, forever."""
        while True:
            try:
                await self.upload_closed()
            except StoreError as error:
                if not self._problem:
                    log.warning("segments wait to be uploaded", reason=str(error))
                self._problem = error.sentence
            else:
                self._problem = None
            await asyncio.sleep(RETRY_SECONDS if self._problem else POLL_SECONDS)

    async def upload_closed(self) -> None:
        """Upload closed segments, the oldest first, unless another process uploads.

        Raises:
            StoreError: an upload failed.
        """
        for name in await self._closed_segments():
            if not await asyncio.to_thread(self._upload, name):
                break

    async def finish(self) -> None:
        """Close the segment of this process, and upload for a limited time."""
        await self._close_segment()
        try:
            async with asyncio.timeout(FINISH_SECONDS):
                await self.upload_closed()
        except (StoreError, TimeoutError) as error:
            log.warning("segments wait to be uploaded", reason=str(error) or "no time is left")

    def _upload(self, name: str) -> bool:
        """Upload a segment; return False if another process is uploading.

        The thread continues if the task is cancelled: the next upload waits for it.
        """
        with self._uploading, try_lock(self._lock) as is_alone:
            if is_alone and (self._storage.directory / name).exists():
                started = time.monotonic()
                self._storage.upload(name)
                self._storage.forget(self._settings.uploaded_bytes)
                log.info("uploaded", segment=name, seconds=round(time.monotonic() - started, 2))
            return is_alone

    async def _local_segments(self) -> tuple[SegmentFile, ...]:
        return (await asyncio.to_thread(self._storage.survey_local)).segments

    async def _closed_segments(self) -> list[str]:
        local = await self._local_segments()
        if not local:
            return []
        async with self._db.read() as conn:
            indexed = await segment_rows.indexed_of(conn, [each.name for each in local])
        return [
            each.name for each in local if not why_not_uploadable(each, local, indexed, self._store)
        ]

    def _measure(self, local: Sequence[SegmentFile]) -> None:
        waiting = sum(each.size for each in local)
        created = [moment for each in local if (moment := created_of(each.name))]
        self._storage.is_full = waiting > self._settings.backlog_bytes
        self.backlog = Backlog(
            waiting, min(created, default=None), self._storage.is_full, self._problem
        )


def recovery_seconds(backlog: Backlog) -> float:
    """Return the age in seconds of the oldest data that would be lost with this machine's disk.

    Return 0 if no data would be lost.
    """
    return (datetime.now(UTC) - backlog.since).total_seconds() if backlog.since else 0.0
