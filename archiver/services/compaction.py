"""Compaction of segments, and maintenance tasks in the background.

Each segment with deleted records is copied to a new segment without these records. Then the index
is updated and the old segment is removed. If other captures revisit the payload of a deleted
record, the payload is first moved to one of them. The archive is consistent after every step.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from archiver import __version__
from archiver.config import Settings
from archiver.crawl.archive import LOCKS
from archiver.crawl.compaction import (
    DeletedRecords,
    Plan,
    RecordAction,
    Revisit,
    RevisitChanges,
    ScannedRecord,
    choose_action,
    plan_moves,
    scan_segment,
    why_not_uploadable,
    write_version,
)
from archiver.crawl.crash_recovery import finish_compactions, recover
from archiver.db import captures, deletions, entries, record_locations, segment_rows, tombstones
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import ArchiverError, ConfigurationError, InputError, StoreError
from archiver.http.headers import parse_head
from archiver.logs import get_log
from archiver.model.capture import Capture, HashUrl, PayloadDigest
from archiver.services.fixity import Fixity, Progress
from archiver.services.health import store_check
from archiver.warc.locks import try_lock
from archiver.warc.reader import read_head
from archiver.warc.segment_inventory import SegmentFile
from archiver.warc.segments import SegmentStore

if TYPE_CHECKING:
    from archiver.model.message import Message

SOFTWARE = f"archiver/{__version__}"
_CHANGED = "It changed in the meantime."
_BUSY = "Another process is compacting this archive. Try again when it has finished."

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class _Moving:
    """Payloads of deleted records that must be moved.

    Attributes:
        moves: changes to the captures that revisit the payloads.
        holders: ids of the deleted records that contain the payloads; these records are kept until
            the payloads are moved.
        last_capture: row id of the newest capture when the plan was made.
        before: number of the last deletion to erase; later deletions stay in the bin. None erases
            all.
    """

    moves: RevisitChanges = field(default_factory=RevisitChanges)
    holders: frozenset[str] = frozenset()
    last_capture: int = 0
    before: int | None = None


@dataclass(slots=True)
class Compacted:
    """Result or preview of a compaction.

    Attributes:
        segments: number of rewritten segments.
        records: number of erased records.
        freed: bytes saved.
        left: segments that still contain deleted records, with the reason.
    """

    segments: int = 0
    records: int = 0
    freed: int = 0
    left: dict[str, str] = field(default_factory=dict)


OnProgress = Callable[[int, int], None]
"""Function that is called with the number of bytes read and of all bytes."""


class CompactionService:
    """Erasure of deleted records. ``close_segment`` closes the segment that this process writes."""

    def __init__(
        self,
        db: Database,
        store: SegmentStore,
        settings: Settings,
        close_segment: Callable[[], Awaitable[None]],
    ) -> None:
        self._db = db
        self._store = store
        self._locks = settings.data / LOCKS
        self._close_segment = close_segment
        self._keep_days = settings.bin_days

    async def compact(
        self,
        *,
        dry_run: bool = False,
        empty_bin: bool = False,
        on_progress: OnProgress = lambda _, __: None,
    ) -> Compacted:
        """Erase records deleted more than ``bin_days`` ago, which can't be restored afterwards.

        Args:
            dry_run: only compute what would be freed.
            empty_bin: erase all deleted records.
            on_progress: called with the progress.

        Raises:
            ConfigurationError: another process is compacting.
            StoreError: a segment can't be read or written.
        """
        async with self._locked():
            done = Compacted()
            before = None if empty_bin else bin_limit(self._keep_days, datetime.now(UTC))
            await self._close_segment()
            if dry_run:
                async with self._db.read() as conn:
                    is_due = await _is_due(conn, before)
                if is_due:
                    await self._process_segments(
                        done, _Moving(before=before), on_progress, dry_run=True
                    )
                return done
            await recover(self._db, self._store)
            await finish_compactions(self._db, self._store)
            await self._erase(done, before, on_progress)
            return done

    async def compact_at_quiet_hours(self, hour: int) -> None:
        """Compact each day when the hour ``hour`` begins (local time), forever.

        The clock is read once a minute, so a machine that slept at that hour compacts when it wakes
        up.
        """
        quiet = HourClock(hour, datetime.now().astimezone())
        while True:
            await asyncio.sleep(CLOCK_SECONDS)
            if not quiet.has_begun(datetime.now().astimezone()):
                continue
            done = await self.compact()
            log.info("compacted", segments=done.segments, freed=done.freed, left=len(done.left))

    async def _erase(self, done: Compacted, before: int | None, on_progress: OnProgress) -> None:
        async with self._db.write() as conn:
            is_due = await _is_due(conn, before)
            await deletions.erase_deleted(conn, before=before)
            count = await tombstones.count(conn)
        if not is_due:
            return
        moving = await self._moving(before)
        if moving.holders:
            await self._process_segments(done, moving, on_progress, only_moves=True)
            unfinished = await self._moving(before)
            moving = _Moving(
                holders=unfinished.holders, last_capture=unfinished.last_capture, before=before
            )
        await self._process_segments(done, moving, on_progress)
        async with self._db.write() as conn:
            if not (done.left or await deletions.is_anything_deleted(conn)):
                await tombstones.set_erased(conn, count)

    async def _process_segments(
        self,
        done: Compacted,
        moving: _Moving,
        on_progress: OnProgress,
        *,
        only_moves: bool = False,
        dry_run: bool = False,
    ) -> None:
        """Plan and rewrite all segments that have records to change.

        Args:
            done: the result, which is updated.
            moving: the payloads to move.
            on_progress: called after each segment.
            only_moves: rewrite only segments in which revisits change.
            dry_run: count the changes without making them.
        """
        files = (await asyncio.to_thread(self._store.storage.survey)).segments
        async with self._db.read() as conn:
            indexed = await segment_rows.indexed_sizes(conn)
        total, read = sum(each.size for each in files), 0
        for each in files:
            why_not = why_not_uploadable(each, files, indexed, self._store)
            try:
                plan = await self._plan(each.name, moving)
                wants = [action for _, action in plan.records if action is not RecordAction.KEEP]
                if only_moves and not {RecordAction.WHOLE, RecordAction.REFER} & {*wants}:
                    wants = []
                if wants and why_not:
                    done.left[each.name] = why_not
                elif wants and dry_run:
                    done.segments, done.records = done.segments + 1, done.records + plan.erased
                    done.freed += plan.freed
                elif wants:
                    await self._rewrite(each, plan, moving, done)
            except StoreError:
                if each.name not in indexed or await self._is_indexed(each.name):
                    raise
                done.left[each.name] = _CHANGED  # another machine compacted the segment
            read += each.size
            on_progress(read, total)

    async def _is_indexed(self, name: str) -> bool:
        async with self._db.read() as conn:
            return bool(await segment_rows.indexed_of(conn, [name]))

    async def _plan(self, name: str, moving: _Moving) -> Plan:
        plan = Plan()
        in_batches = scan_segment(self._store, name)
        while batch := await asyncio.to_thread(next, in_batches, None):
            async with self._db.read() as conn:
                deleted = await _deleted_records(conn, name, batch, moving)
            for each in batch:
                plan.add(each, choose_action(each, deleted, moving.moves))
        return plan

    async def _rewrite(
        self, segment: SegmentFile, plan: Plan, moving: _Moving, done: Compacted
    ) -> None:
        store = self._store
        version = await asyncio.to_thread(store.storage.next_version, segment.name, SOFTWARE)
        try:
            moved = await asyncio.to_thread(
                write_version, store, version, segment.name, plan, moving.moves
            )
            async with self._db.write() as conn:
                offsets = await record_locations.referenced_offsets(
                    conn, segment.name, before=moving.before
                )
                is_whole = offsets <= {each.old for each in moved}
                is_there = await segment_rows.indexed_of(conn, [segment.name])
                if not (is_whole and is_there) or await _is_revisited(conn, moving):
                    done.left[segment.name] = _CHANGED
                    return
                size = version.size
                await record_locations.switch_segment_version(
                    conn, segment.name, version.name, moved, size=size, before=moving.before
                )
                await asyncio.to_thread(store.storage.publish, version)
        finally:
            await asyncio.to_thread(version.discard)
        await asyncio.to_thread(store.storage.remove, segment.name)
        done.segments, done.records = done.segments + 1, done.records + plan.erased
        done.freed += segment.size - version.size

    async def _moving(self, before: int | None) -> _Moving:
        """Determine which captures receive the payloads of deleted records."""
        async with self._db.read() as conn:
            last = await captures.last_row(conn)
            locations = await record_locations.revisits_of_deleted(conn, before=before)
            digests = [*{each.payload_digest for each in locations}]
            living = await captures.originals(conn, digests)
            pairs = [(each.url, each.payload_digest) for each in locations]
            at_urls = await captures.originals_of_urls(conn, pairs)
            originals = {each: await captures.original_or_deleted(conn, each) for each in digests}
            going = frozenset(
                await record_locations.deleted_originals(conn, digests, before=before)
            )
            revisits = await asyncio.to_thread(lambda: [self._revisit(each) for each in locations])
            by_payload: dict[PayloadDigest, list[Capture]] = {}
            for each in (*living.values(), *at_urls.values()):
                by_payload.setdefault(each.payload_digest, []).append(each)
            moves = plan_moves(
                revisits, lambda each: by_payload.get(each, []), originals.get, going
            )
            waiting = {*moves.whole, *moves.refer}
            needed = {each.payload_digest for each in locations if each.record_id in waiting}
            holders = await record_locations.deleted_originals(conn, [*needed], before=before)
            return _Moving(moves, frozenset(holders), last, before)

    def _revisit(self, capture: Capture) -> Revisit:
        record = self._store.read(capture.location)
        is_chunked = bool(record.block_length) and parse_head(read_head(record)).is_chunked
        return Revisit(capture, record.get("warc-refers-to").strip("<>"), is_chunked)

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the compaction lock, and remove partial files of a killed process."""
        with try_lock(self._locks / "compact") as is_alone:
            if not is_alone:
                raise ConfigurationError(_BUSY)
            await asyncio.to_thread(self._store.storage.remove_partial_versions)
            yield


async def _is_due(conn: AsyncConnection, before: int | None) -> bool:
    """Return whether segments may contain records to erase."""
    if await tombstones.is_erased(conn):
        return False
    is_old = await deletions.is_anything_deleted(conn, before=before)
    return is_old or not await deletions.is_anything_deleted(conn)


async def _is_revisited(conn: AsyncConnection, moving: _Moving) -> bool:
    """Return whether a capture since the plan has a payload that is only in a deleted record."""
    revisits = await record_locations.revisits_of_deleted(
        conn, after=moving.last_capture, before=moving.before
    )
    digests = {each.payload_digest for each in revisits}
    return bool(digests - (await captures.originals(conn, [*digests])).keys())


async def _deleted_records(
    conn: AsyncConnection, name: str, batch: Sequence[ScannedRecord], moving: _Moving
) -> DeletedRecords:
    ids = [*{each.id for each in batch} | {each.related for each in batch}]
    keys = {each.hash_url for each in batch if each.hash_url}
    keys |= {each.referer for each in batch if each.referer}
    deleted_after: set[str] = set()
    deleted: set[str] = {*await tombstones.captures(conn, ids)}
    if moving.before is not None:
        deleted_after, still_needed = await record_locations.deleted_after(
            conn, keys, ids, moving.before
        )
        keys, deleted = keys - deleted_after, deleted - still_needed
    generations = await tombstones.generations(conn, keys)
    existing = await entries.states_of(conn, [*map(HashUrl, generations)])
    return DeletedRecords(
        captures=frozenset(deleted),
        generations=generations,
        entries=frozenset(generations.keys() - existing.keys()),
        snapshots=frozenset(await tombstones.snapshots(conn, keys)),
        articles=frozenset(await record_locations.articles_in(conn, name, before=moving.before)),
        payload_holders=moving.holders,
        referenced=frozenset(
            await record_locations.referenced_offsets(conn, name, before=moving.before)
        ),
    )


def bin_limit(days: int, now: datetime) -> int | None:
    """Return the number of the last deletion to erase; None if all deletions are erased.

    The number of a deletion is its time in milliseconds.
    """
    return int((now - timedelta(days=days)).timestamp() * 1000) if days else None


CLOCK_SECONDS = 60.0
"""Interval in seconds at which the clock is compared with the quiet hour."""


class HourClock:
    """Clock that detects when an hour of the day begins (local time); it is read repeatedly.

    The hour begins once a day, even if clocks change: an hour that is skipped begins when the clock
    is put forward, and of an hour that occurs twice, the first counts.
    """

    def __init__(self, hour: int, now: datetime) -> None:
        self._hour = hour
        self._last = self._begun_on(now)

    def has_begun(self, now: datetime) -> bool:
        """Return whether the hour has begun since the last call."""
        before, self._last = self._last, max(self._last, self._begun_on(now))
        return self._last > before

    def _begun_on(self, now: datetime) -> date:
        """Return the day on which the hour began last."""
        return (now.replace(tzinfo=None) - timedelta(hours=self._hour)).date()


class BackgroundMaintenance:
    """Verification and erasure as background tasks, one at a time.

    Attributes:
        task: running task: ``verify``, ``clean-up`` or ``empty-bin``; empty if none is running.
        progress: progress of the running task.
        erased: result of the last erasure; None if there was none or it failed.
        problem: why the last task failed; empty if it did not fail.
    """

    def __init__(self, data: Path, fixity: Fixity, compacting: CompactionService) -> None:
        self._data = data
        self._fixity = fixity
        self._compacting = compacting
        self._running: asyncio.Task[None] | None = None
        self.task = ""
        self.progress = Progress(0, 0, 0)
        self.erased: Compacted | None = None
        self.problem: Message | str = ""

    def start(self, task: str) -> None:
        """Start a task, unless one is running.

        Raises:
            InputError: there is no such task.
        """
        tasks: dict[str, Callable[[], Awaitable[None]]] = {
            "verify": self._verify,
            "clean-up": self._erase,
            "empty-bin": partial(self._erase, empty_bin=True),
        }
        if task not in tasks:
            raise InputError("This form is outdated. Reload the page and try again.")
        if not self.task:
            self.task, self.problem, self.progress = task, "", Progress(0, 0, 0)
            self._running = asyncio.create_task(self._run(tasks[task]), name=task)

    async def stop(self) -> None:
        """Cancel the running task."""
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except ArchiverError as error:
            log.exception("maintenance failed", task=self.task)
            self.problem = error.sentence
        finally:
            self.task = ""

    async def _erase(self, *, empty_bin: bool = False) -> None:
        def on_progress(done: int, total: int) -> None:
            self.progress = Progress(0, done, total)

        self.erased = None
        self.erased = await self._compacting.compact(empty_bin=empty_bin, on_progress=on_progress)

    async def _verify(self) -> None:
        problems = 0

        def on_progress(now: Progress) -> None:
            self.progress = now

        async for finding in self._fixity.verify(on_progress):
            problems += finding.is_wrong
        await store_check(self._data, records=self.progress.records, problems=problems)
