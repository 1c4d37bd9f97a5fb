"""Recorder with group commit.

All items that arrive while a batch is committed form the next batch. Rows are committed after the
records they refer to are on disk, and a job ends in the same transaction as its rows. So a process
can be killed at any time: ``crash_recovery`` then indexes the records that have no rows yet.

If the index rejects rows whose records are on disk, the jobs stay leased until the records are
indexed. Otherwise their pages would be visited again, and recovery would create two snapshots.

| queue | from | to | length | when full |
| --- | --- | --- | --- | --- |
| ``_waiting`` | visits | the committing task | 64 MiB, at least 16 KiB per item | visits wait |
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from archiver.crawl.batch_rows import BatchRows
from archiver.crawl.record_building import (
    EntryEdit,
    ExchangeItem,
    Item,
    Marker,
    PendingRecord,
    Plan,
    make_capture,
    plan_batch,
    resolve_futures,
)
from archiver.crawl.visit_result import VisitResult
from archiver.db import segment_rows
from archiver.db.engine import Database
from archiver.errors import ArchiverError, IndexUnavailable, StoreError, StoreUnavailable
from archiver.helpers import run_to_completion
from archiver.logs import get_log
from archiver.model.capture import Capture, CaptureRef, Exchange, Location
from archiver.warc.records import new_record_id
from archiver.warc.segments import SegmentStore

MAX_TRIES = 3
"""Attempts to index records that an available index rejects.

After the last attempt, the records stay unindexed until crash recovery or ``archiver reindex``.
"""

log = get_log(__name__)


class UnindexedRecords:
    """Segments of this process with unindexed records."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._names: set[str] = set()
        self._tries = 0

    def __bool__(self) -> bool:
        """Return whether any segment has unindexed records."""
        return bool(self._names)

    @contextmanager
    def note_unless_indexed(self, places: Sequence[Location]) -> Iterator[None]:
        """Note the segments of the records if the block fails to index them."""
        try:
            yield
        except BaseException:
            self._names.update(place.segment for place in places)
            raise

    async def index(self) -> None:
        """Index the records in one transaction and end their jobs; the segments must be closed.

        After an error the records stay unindexed, and the next call tries again. If the error
        persists although the index is available, give up after ``MAX_TRIES`` attempts.
        """
        if not self._names:
            return
        try:
            from archiver.crawl.rebuild import build_within

            async with self._db.write() as conn:
                indexed = await segment_rows.indexed_sizes(conn)
                tails = {name: indexed.get(name, 0) for name in self._names}
                rebuilt = await build_within(conn, self._store, tails)
        except (IndexUnavailable, StoreUnavailable):
            return
        except Exception:
            # A record that the index can't accept must not block all others.
            self._tries += 1
            log.exception("records were not indexed", segments=len(self._names), tries=self._tries)
            if self._tries < MAX_TRIES:
                return
        else:
            log.info("records were indexed", captures=rebuilt.captures, snapshots=rebuilt.snapshots)
        self._names.clear()
        self._tries = 0

    def raise_if_unindexed(self) -> None:
        """Raise if written records are not indexed, so that no visit is repeated.

        Raises:
            StoreError: some records are not indexed.
        """
        if self._names:
            raise StoreError("The index or the object store still rejects the last records.")


BATCH = 2048
GATHER_SECONDS = 0.1
"""Time to collect items for a batch: most costs of a small batch do not depend on its size."""
FEW_ITEMS = 64
"""Number of waiting items below which further items are collected."""
MAX_PENDING_BYTES = 64 << 20
LEAST_WEIGHT = 16 << 10
SPOOLED_BYTES = 1 << 20


class Recorder:
    """Writer of records and rows; ``run`` must be running as a task while items are added.

    Attributes:
        is_running: whether items that are added now will be committed.
    """

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._waiting: asyncio.Queue[Item] = asyncio.Queue()
        self._pending_bytes = 0
        self._batch_ended = asyncio.Event()
        self._disk: ThreadPoolExecutor | None = None
        self._has_failed = False
        self.is_running = False
        self._rows = BatchRows(db, store)
        self._unindexed = UnindexedRecords(db, store)

    async def keep(self, exchange: Exchange, capture: Capture | None = None) -> CaptureRef:
        """Accept an exchange, and close its body after its records are written.

        Wait while ``MAX_PENDING_BYTES`` or more are pending.

        Args:
            exchange: the exchange.
            capture: the capture of the exchange; None to create one with a new record id.
        """
        capture = capture or await make_capture(exchange, new_record_id())
        weight = LEAST_WEIGHT + min(exchange.payload_length, SPOOLED_BYTES)
        await self._put(Item(ExchangeItem(exchange, capture), weight))
        return CaptureRef.of(capture)

    async def end(self, visit_result: VisitResult) -> "asyncio.Future[VisitResult | None]":
        """Accept the result of an attempt.

        Wait while ``MAX_PENDING_BYTES`` or more are pending.

        Returns:
            A future that is done once the result is durable and indexed. Its value is the recorded
            result, which is a failure if the visit could not be recorded. If the whole batch could
            not be recorded, the future raises a ``StoreError``, and the job stays leased.
        """
        done = _future()
        renditions = visit_result.visit.renditions if visit_result.visit else ()
        weight = LEAST_WEIGHT + sum(len(each.content) for each in renditions)
        await self._put(Item(visit_result, weight, done))
        return done

    async def note(self, entry_ids: Sequence[int]) -> None:
        """Write pending metadata changes of entries."""
        await self._record([EntryEdit(each) for each in entry_ids])

    async def write_pending(self, pending: Mapping[int, str]) -> None:
        """Write pending records of deletions and lists; ``pending`` is their JSON by row id."""
        await self._record([PendingRecord(row_id, each) for row_id, each in pending.items()])

    async def end_segment(self) -> None:
        """Wait until all earlier items are indexed and their segment is closed."""
        await self._record([Marker(ends_segment=True)])

    async def flush(self) -> None:
        """Wait until all earlier items are durable and indexed.

        Raises:
            StoreError: the last batch could not be written.
        """
        await self._record([Marker()])

    async def _record(self, contents: Sequence[EntryEdit | PendingRecord | Marker]) -> None:
        """Queue items, and wait until they are durable and indexed."""
        waiting = []
        for each in contents:
            waiting.append(done := _future())
            size = len(each.document) if isinstance(each, PendingRecord) else 0
            await self._put(Item(each, LEAST_WEIGHT + size, done))
        for done in waiting:
            await done

    def raise_if_unindexed(self) -> None:
        """Raise if written records are not indexed; their jobs must not return to the queue.

        Raises:
            StoreError: some records are not indexed.
        """
        self._unindexed.raise_if_unindexed()

    async def wait_until_indexed(self) -> None:
        """Wait until all written records are indexed and their jobs have ended.

        Raises:
            StoreError: some records are not indexed; their jobs must not return to the queue.
        """
        if self._unindexed:
            await self.flush()
            self.raise_if_unindexed()

    async def run(self) -> None:
        """Commit batches until cancelled; all items that wait then are committed first."""
        self.is_running = True
        with ThreadPoolExecutor(1, thread_name_prefix="warc") as self._disk:
            try:
                while True:
                    await run_to_completion(self._take_batch(await self._waiting.get()))
                    if self._waiting.qsize() < FEW_ITEMS:
                        await asyncio.sleep(GATHER_SECONDS)
            finally:
                while not self._waiting.empty():
                    await run_to_completion(self._take_batch(self._waiting.get_nowait()))
                self.is_running = False

    async def _restart(self) -> None:
        """Restart after a batch whose records could not be indexed.

        Close the segment, so that later records go to a new one, and index its records.
        """
        self._has_failed = False
        try:
            await asyncio.get_running_loop().run_in_executor(self._disk, self._store.close)
        except OSError:
            log.exception("closing a segment failed")
        await self._unindexed.index()

    async def drain(self) -> None:
        """Wait until no items are pending."""
        await self._wait_for_pending(below=1)

    async def _put(self, item: Item) -> None:
        await self._wait_for_pending(below=MAX_PENDING_BYTES)
        self._pending_bytes += item.weight
        self._waiting.put_nowait(item)

    async def _wait_for_pending(self, *, below: int) -> None:
        """Wait until fewer than ``below`` bytes are pending."""
        while self._pending_bytes >= below:
            self._batch_ended.clear()
            await self._batch_ended.wait()

    async def _take_batch(self, first: Item) -> None:
        """Commit the items that wait, as one batch."""
        if self._has_failed or self._unindexed:
            await self._restart()
        batch = [first]
        while len(batch) < BATCH and not self._waiting.empty():
            batch.append(self._waiting.get_nowait())
        try:
            await self._commit(batch)
        except Exception as error:
            # All callers that wait for this batch must get the error; the recorder continues.
            log.exception("writing a batch failed", items=len(batch))
            resolve_futures(batch, _store_error(error))
            self._has_failed = True
        else:
            resolve_futures(batch, None)
        finally:
            self._pending_bytes -= sum(item.weight for item in batch)
            self._batch_ended.set()

    async def _commit(self, batch: Sequence[Item]) -> None:
        indexed = await self._rows.look_up(batch)
        plan = plan_batch(batch, indexed)
        loop = asyncio.get_running_loop()
        places = await loop.run_in_executor(self._disk, self._write, plan, batch)
        with self._unindexed.note_unless_indexed(places):
            await self._rows.index(batch, indexed, plan, places)

    def _write(self, plan: Plan, batch: Sequence[Item]) -> list[Location]:
        try:
            places = self._store.append(plan.records)
            self._store.sync()
            markers = [each.content for each in batch if isinstance(each.content, Marker)]
            if any(each.ends_segment for each in markers):
                self._store.close()
        finally:
            for item in batch:
                if isinstance(item.content, ExchangeItem):
                    item.content.exchange.body.close()
        return places


def _store_error(error: Exception) -> StoreError:
    """Return the error to show to users; database messages may contain statements."""
    if isinstance(error, ArchiverError | OSError):
        return StoreError(f"Cannot store records: {error}")
    return StoreError(
        "Cannot store records; the log has the reason. Nothing on disk is lost. Restart the "
        "service. If that does not help, stop it and run `archiver reindex`."
    )


def _future() -> "asyncio.Future[VisitResult | None]":
    return asyncio.get_running_loop().create_future()
