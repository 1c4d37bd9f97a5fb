"""Reindexing from WARC files.

Segments can be missing for harmless reasons: a disk is not mounted, the directory is the wrong one,
or the object store does not list all segments. An index built without them would lack their
entries, so ``reindex`` refuses unless the user accepts that.

Data that only the current index has is copied from it (``previous_index``). If the index can't be
read, or has snapshots that no record has, its file is kept as a backup next to the new one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from archiver.config import Settings
from archiver.crawl.archive import index_locations, open_store_alone, replace_index
from archiver.crawl.crash_recovery import settle_interrupted
from archiver.crawl.derived_rows import compare_pending, rebuild_stale
from archiver.crawl.rebuild import Rebuilt, fill_index
from archiver.crawl.record_building import pending_record
from archiver.db import segment_rows, tombstones
from archiver.db.engine import Database, Engines, index_at
from archiver.db.schema_version import backups, copy_rows, keep_backup, outdated_revision
from archiver.errors import (
    ArchiverError,
    ConfigurationError,
    IndexDamaged,
    IndexNewer,
    IndexOutdated,
    IndexUnavailable,
    RecordsMissing,
    StoreError,
)
from archiver.logs import get_log
from archiver.services.compaction import bin_limit
from archiver.services.crawling import running_workers
from archiver.services.fixity import Finding
from archiver.services.health import missing_segments
from archiver.services.import_reports import reports_of, restore_all, write_pending
from archiver.services.previous_index import (
    OLD_INDEX,
    RestoreLosses,
    append_to_new_segments,
    copy_unrecorded_data,
    restore_missing,
)
from archiver.services.user_files import copy_user_files, remove_user_files
from archiver.warc.segments import SegmentStore

MAX_NAMED = 10
_WHAT_TO_DO = (
    "The current index is unchanged. Mount the disk, correct --data or ARCHIVER_STORE, restore "
    "the segments from a backup, or run `archiver serve` on other machines until they have "
    "uploaded theirs; then run `archiver reindex` again. To continue without them, run `archiver "
    "reindex --accept-missing`: it keeps addresses, titles, tags and notes, and marks the "
    "snapshots as lost."
)
_NO_SEGMENTS = "There are no segments in {place}, but an index that cannot be read. " + _WHAT_TO_DO
_MISSING = (
    "{count} segments that the current index uses cannot be read:\n{segments}\n"
) + _WHAT_TO_DO
_LOST = (
    "{snapshots} snapshots of the current index cannot be read from the segments, and {entries} "
    "entries have no other snapshot, because some records are damaged; run `archiver verify` for "
    "details. " + _WHAT_TO_DO
)


def _require_readable(unreadable: Mapping[str, str]) -> None:
    """Check that all segments can be read.

    Args:
        unreadable: segments that can't be read, with the reasons.

    Raises:
        RecordsMissing: there are unreadable segments; the message names them.
    """
    if not unreadable:
        return
    named = [f"  {name}: {why}" for name, why in sorted(unreadable.items())]
    if len(named) > MAX_NAMED:
        named[MAX_NAMED:] = [f"  and {len(named) - MAX_NAMED:,} more"]
    raise RecordsMissing(_MISSING, count=len(unreadable), segments="\n".join(named))


MAX_PENDING = 100_000
_QUEUE_UNREADABLE = (
    "{reason} This version cannot copy the waiting jobs from its queue. Finish them with the other "
    "version first, or build an index without them: `archiver reindex --accept-missing` (a current "
    "index file is kept next to the new one)."
)
_IN_USE_ELSEWHERE = (
    "Another machine uses the archive. Stop the servers and crawls of all machines first."
)


log = get_log(__name__)


OnProgress = Callable[[int, int], None]
"""Function that is called with the number of records read and of snapshots indexed so far."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """Counts of a rebuilt index, and problems.

    Attributes:
        segments, records, captures, snapshots: how many of them were read.
        queued: number of jobs copied from the previous index.
        lost: number of snapshots of the previous index that no record has.
        kept: file names of the backup of the previous index, if it has data that the new index
            lacks.
        problems: unusable files and records, and unreadable parts of the previous index, with
            reasons.
        unreadable: segments that could not be read completely, with reasons.
    """

    segments: int
    records: int
    captures: int
    snapshots: int
    queued: int
    problems: tuple[Finding, ...]
    unreadable: Mapping[str, str]
    lost: int = 0
    kept: tuple[str, ...] = ()


async def reindex(
    settings: Settings,
    on_progress: OnProgress = lambda _, __: None,
    *,
    accept_missing: bool = False,
) -> ReindexReport:
    """Rebuild the index from the WARC files; the old one stays in use until the end.

    Args:
        settings: settings of the archive.
        on_progress: called after each batch of records.
        accept_missing: whether the new index may lack entries of the current one.

    Raises:
        ConfigurationError: another process is using the archive.
        RecordsMissing: segments or records are missing, and ``accept_missing`` is false.
        StoreError: the segments can't be listed.
    """
    async with open_store_alone(settings) as store:
        before, now = await asyncio.to_thread(index_locations, settings)
        outdated = await asyncio.to_thread(outdated_revision, Path(before.place))
        async with _opened_if_readable(before, outdated, accept_missing=accept_missing) as opened:
            old = opened.index
            # Workers of this machine have released the archive's lock.
            if old and before.is_shared and await running_workers(old):
                raise ConfigurationError(_IN_USE_ELSEWHERE)
            if not accept_missing:
                await _require_segments(old, before, store)
            if old:
                await _settle(old, store, settings.data)
            new = await _open_to_fill(now.replacement())
            try:
                report = await _fill(
                    new,
                    store,
                    old,
                    lambda now: on_progress(now.records, now.snapshots),
                    accept_missing=accept_missing,
                    bin_after=bin_limit(settings.bin_days, datetime.now(UTC)),
                )
                if before.is_shared != now.is_shared:
                    await _copy_user_files(settings.data, before, new)
            except (ArchiverError, OSError):
                await new.close()
                await asyncio.to_thread(now.replacement().remove)
                raise
            finally:
                await new.close()
        mark = outdated or opened.mark or _mark_of(report)
        backups = await asyncio.to_thread(_keep_only_backup, Path(before.place), mark)
        await asyncio.to_thread(replace_index, settings, now)
        if now.is_shared:
            await asyncio.to_thread(remove_user_files, settings.data)
    return replace(report, kept=tuple(each.name for each in backups))


def _mark_of(report: ReindexReport) -> str:
    """Return the suffix for a backup of the old index; empty if the new index lacks nothing."""
    if any(each.where == OLD_INDEX for each in report.problems):
        return DAMAGED
    return MISSING if report.lost else ""


async def _settle(old: Database, store: SegmentStore, data: Path) -> None:
    """Write pending records and import reports to files, because only the index has them."""
    try:
        await settle_interrupted(old, store.lock)
        await _write_pending(old, store)
        await write_pending(old, reports_of(data), with_missing=True)
    except IndexUnavailable as error:
        if not error.is_damaged:
            raise
        log.warning("the old index is damaged", reason=str(error))


async def _fill(
    new: Database,
    store: SegmentStore,
    old: Database | None,
    on_progress: Callable[[Rebuilt], None],
    *,
    accept_missing: bool,
    bin_after: int | None,
) -> ReindexReport:
    """Fill an empty index from all segments and from the current index.

    Raises:
        RecordsMissing: the new index lacks snapshots, and ``accept_missing`` is false.
    """
    report = await _build_index(new, store, on_progress, bin_after)
    problems, queued, losses = [*report.problems], 0, RestoreLosses()
    if old and not accept_missing:
        _require_readable(report.unreadable)
    if old:
        losses = await _restore_missing(old, new, store, problems)
        queued, more = await copy_unrecorded_data(
            old, new, reports_of(store.directory.parent), bin_after
        )
        problems += more
    else:
        restored = await restore_all(new, reports_of(store.directory.parent))
        problems += [Finding(*each) for each in restored]
    if losses and not accept_missing:
        raise RecordsMissing(_LOST, entries=losses.entries, snapshots=losses.snapshots)
    while await rebuild_stale(new, store) or await compare_pending(new, store):
        pass
    return replace(report, problems=tuple(problems), queued=queued, lost=losses.snapshots)


async def _restore_missing(
    old: Database, new: Database, store: SegmentStore, problems: list[Finding]
) -> RestoreLosses:
    try:
        return await restore_missing(old, new, store)
    except IndexUnavailable as error:
        if not error.is_damaged:
            raise
        problems.append(Finding(OLD_INDEX, str(error)))
        return RestoreLosses()


async def _require_segments(old: Database | None, place: Engines, store: SegmentStore) -> None:
    """Check that no segment that the current index uses is missing or too short.

    If the index can't be read, check that there are segments.

    Raises:
        RecordsMissing: segments are missing; the message names them.
        StoreError: the segments can't be listed.
    """
    survey = await asyncio.to_thread(store.storage.survey)
    if old:
        try:
            async with old.read() as conn:
                indexed = await segment_rows.indexed_sizes(conn)
        except IndexUnavailable as error:
            if not error.is_damaged:
                raise
        else:
            _require_readable(dict(missing_segments(indexed, survey)))
            return
    if not survey.segments and await asyncio.to_thread(place.exists):
        raise RecordsMissing(_NO_SEGMENTS, place=str(store.directory))


async def _copy_user_files(data: Path, before: Engines, new: Database) -> None:
    source = Database(before)  # its schema may be of another version, but not that of these files
    try:
        await copy_user_files(data, source, new)
    finally:
        await source.close()


def _keep_only_backup(path: Path, mark: str) -> list[Path]:
    """Keep an index as a backup if ``mark`` is not empty, and remove earlier backups."""
    backup_paths = keep_backup(path, mark) if mark and path.exists() else []
    for each in backups(path):
        if each not in backup_paths:
            each.unlink()
    return backup_paths


DAMAGED, MISSING = "damaged", "complete"
"""Suffixes of backups: of a damaged index, and of an index with snapshots that no record has."""


@dataclass(slots=True)
class _Opened:
    """The current index, if it can be opened.

    Attributes:
        index: the index; None if there is none or it can't be read.
        mark: suffix of the backup of an index that can't be read; else empty.
    """

    index: Database | None = None
    mark: str = ""


@asynccontextmanager
async def _opened_if_readable(
    place: Engines, outdated: str | None, *, accept_missing: bool
) -> AsyncIterator[_Opened]:
    """Open the current index; if its format is outdated, open a copy of its job queue.

    Raises:
        RecordsMissing: the index is of a newer version, or the queue of an outdated index can't be
            read. Not raised if ``accept_missing`` is true.
        ArchiverError: the index can't be opened now, but is not damaged.
    """
    copied = index_at(Path(f"{place.place}.carried")) if outdated else None
    opened = _Opened()
    try:
        try:
            if copied:
                opened.index = await _copied(Path(place.place), copied)
            elif await asyncio.to_thread(place.exists):
                opened.index = await Database.opened(place)
        except (IndexOutdated, IndexNewer) as error:
            if not accept_missing:
                raise RecordsMissing(_QUEUE_UNREADABLE, reason=str(error)) from error
            opened.mark = "unread"
        except IndexDamaged:
            log.warning("cannot read the old index; its queue is lost", path=place.place)
            opened.mark = DAMAGED
        yield opened
    finally:
        if opened.index:
            await opened.index.close()
        if copied:
            await asyncio.to_thread(copied.remove)


async def _copied(outdated: Path, place: Engines) -> Database:
    await asyncio.to_thread(place.remove)
    await asyncio.to_thread(place.prepare)
    await asyncio.to_thread(copy_rows, outdated, Path(place.place))
    return await Database.opened(place)


async def _open_to_fill(place: Engines) -> Database:
    """Open an empty index; the partial one of an interrupted run is removed."""
    await asyncio.to_thread(place.remove)
    try:
        return await Database.opened(place)
    except ArchiverError:
        await asyncio.to_thread(place.remove)
        raise


async def _build_index(
    db: Database,
    store: SegmentStore,
    on_progress: Callable[[Rebuilt], None],
    bin_after: int | None,
) -> ReindexReport:
    """Fill an empty index from all segments.

    Raises:
        StoreError: the directory of the segments can't be read.
    """
    survey = await asyncio.to_thread(store.storage.survey)
    problems = [
        Finding(each.name, each.problem, each.has_lost_data) for each in survey.unusable_files
    ]
    problems += await asyncio.to_thread(_cut_truncated_tails, store)
    rebuilt = await fill_index(
        db,
        store,
        [each.name for each in survey.segments],
        bin_after=bin_after,
        on_progress=on_progress,
    )
    problems += [Finding(name, why) for name, why in rebuilt.unreadable.items()]
    problems += [
        Finding(f"{place.segment} at byte {place.offset:,}", problem)
        for place, problem in rebuilt.problems
    ]
    return ReindexReport(
        len(survey.segments),
        rebuilt.records,
        rebuilt.captures,
        rebuilt.snapshots,
        0,
        tuple(problems),
        rebuilt.unreadable,
    )


async def _write_pending(old: Database, store: SegmentStore) -> None:
    """Write the pending records of deletions and list arrangements."""
    async with old.read() as conn:
        pending = await tombstones.pending(conn, limit=MAX_PENDING)
    if pending:
        records = [pending_record(json.loads(document)) for document in pending.values()]
        await asyncio.to_thread(append_to_new_segments, store, records)


def _cut_truncated_tails(store: SegmentStore) -> list[Finding]:
    """Cut truncated tails off segments; return findings for segments that can't be cut."""
    uncut = []
    for each in store.storage.survey_local().segments:
        try:
            store.storage.cut_truncated_tail(each.name, from_offset=0)
        except StoreError as error:
            uncut.append(Finding(each.name, str(error)))
    return uncut
