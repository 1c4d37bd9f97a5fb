"""Reindexing from WARC files.

Segments can be missing for harmless reasons: a disk that is not mounted, the wrong folder, an
object store that lists too little. An index built without them would lack their entries, so
``reindex`` refuses unless the user accepts that.

The queue is in no segment: seeds without an attempt, partly read import files, and user metadata
changed since the last record. It is copied from the old index if that can be read.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from archiver import __version__
from archiver.config import Settings
from archiver.crawl.archive import open_store_alone, places_of_index, replace_index
from archiver.crawl.derived_rows import compare_pending, rebuild_stale
from archiver.crawl.rebuild import Rebuilt, build_anew
from archiver.crawl.record_building import owed_record
from archiver.db import entries as db_entries
from archiver.db import feeds, imports, new_entries, rebuild_tables, segment_rows, tombstones
from archiver.db.engine import AsyncConnection, Database, Engines, engines_of
from archiver.db.schema_version import backups, copy_rows, keep_backup, outdated_revision
from archiver.db.statements import MOST, in_batches
from archiver.db.worker_locks import all_workers
from archiver.errors import (
    ArchiverError,
    ConfigurationError,
    IndexOutdated,
    IndexUnavailable,
    RecordsMissing,
    StoreError,
)
from archiver.http.timestamps import to_timestamp
from archiver.logs import get_log
from archiver.services.fixity import Finding
from archiver.services.import_receipts import receipts_of, restore_all, write_pending
from archiver.services.imports import carry_over_imports
from archiver.services.user_files import put_user_settings, remove_user_files, user_settings_of
from archiver.warc.locks import machine_of
from archiver.warc.records import Record
from archiver.warc.segment_inventory import Survey
from archiver.warc.segment_versions import is_replaced
from archiver.warc.segments import SegmentStore

MOST_NAMED = 10
_WHAT_TO_DO = (
    "The current index was left as it is. Mount the disk, correct --data or ARCHIVER_STORE, or "
    "restore the segments from a backup, then run `archiver reindex` again. To build an index "
    "without what they held, run `archiver reindex --accept-missing`."
)
_NO_SEGMENTS = (
    "There are no segments in {place}, but there is an index, which can't be read. " + _WHAT_TO_DO
)
_MISSING = "{count} segments that the current index uses can't be read:\n{segments}\n" + _WHAT_TO_DO
_LOST = (
    "The segments hold {entries} entries and {snapshots} snapshots less than the current index: "
    "some records are damaged, see `archiver verify`. " + _WHAT_TO_DO
)


@dataclass(frozen=True, slots=True)
class Losses:
    """Entries and snapshots that a new index lacks."""

    entries: int
    snapshots: int

    def __bool__(self) -> bool:
        return bool(self.entries or self.snapshots)


async def require_segments(old: Database, store: SegmentStore) -> None:
    """Check that every segment the current index uses is there, and not shorter than it was.

    Raises:
        RecordsMissing: one is not; the message names it.
        StoreError: the segments can't be listed.
    """
    async with old.read() as conn:
        indexed = await segment_rows.indexed(conn)
    found = await asyncio.to_thread(store.storage.survey)
    require_readable(dict(_missing(indexed, found)))


def require_any_segment(found: Survey, place: str) -> None:
    """Check that there are segments if an index exists that can't be read.

    Raises:
        RecordsMissing: there are none.
    """
    if not found.segments:
        raise RecordsMissing(_NO_SEGMENTS, place=place)


def require_readable(unreadable: Mapping[str, str]) -> None:
    """Check that all segments can be read.

    Args:
        unreadable: reasons by name.

    Raises:
        RecordsMissing: there are some; the message names them.
    """
    if not unreadable:
        return
    named = [f"  {name}: {why}" for name, why in sorted(unreadable.items())]
    if len(named) > MOST_NAMED:
        named[MOST_NAMED:] = [f"  and {len(named) - MOST_NAMED:,} more"]
    raise RecordsMissing(_MISSING, count=len(unreadable), segments="\n".join(named))


async def require_same_entries(old: Database, new: Database) -> None:
    """Check that a new index has every entry and snapshot of the current one.

    Raises:
        RecordsMissing: it lacks some.
    """
    if losses := await compare(old, new):
        raise RecordsMissing(_LOST, entries=losses.entries, snapshots=losses.snapshots)


async def compare(old: Database, new: Database) -> Losses:
    """Count the entries and snapshots of one index that another one lacks."""
    lost_entries = lost_snapshots = 0
    async for batch in in_batches(old, db_entries.snapshot_counts_after):
        async with new.read() as conn:
            known = await db_entries.snapshot_counts(conn, [key for key, _ in batch])
        lost_entries += sum(key not in known for key, _ in batch)
        lost_snapshots += sum(max(0, count - known.get(key, 0)) for key, count in batch)
    return Losses(lost_entries, lost_snapshots)


def _missing(indexed: Mapping[str, int], found: Survey) -> Iterator[tuple[str, str]]:
    sizes = {each.name: each.size for each in found.segments}
    unusable = {each.name: each.problem for each in found.unusable_files}
    for name, end in indexed.items():
        if not end or name in found.superseded:
            continue
        if name in sizes:
            if sizes[name] < end:
                yield name, f"It has {sizes[name]:,} bytes of at least {end:,}."
        elif name in unusable:
            yield name, unusable[name]
        elif not is_replaced(name, sizes):
            yield name, "It is missing."


MOST_OWED = 100_000
_QUEUE_UNREADABLE = (
    "{reason} What waits in the queue of an earlier version on a server can't be taken over: work "
    "it off with that version first, or accept that with `archiver reindex --accept-missing`."
)
_SETTINGS_UNREADABLE = (
    "{reason} The password, API tokens, feeds and cookies are in its table shared_file. Repair the "
    "table, or set them again after `archiver reindex --accept-missing`."
)
_IN_USE_ELSEWHERE = (
    "Another machine uses the archive. Stop the servers and crawls of every machine first."
)
SOFTWARE = f"archiver/{__version__}"
"""Another version may parse records differently, so its partial index is discarded."""


log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """Number of records read and snapshots indexed so far."""

    records: int
    snapshots: int


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """Counts of a rebuilt index, and problems.

    Attributes:
        segments, records, captures, snapshots: numbers read.
        queued: jobs copied from the previous index.
        problems: unusable records, with reasons.
        unreadable: segments that could not be read completely, with reasons.
    """

    segments: int
    records: int
    captures: int
    snapshots: int
    queued: int
    problems: tuple[Finding, ...]
    unreadable: Mapping[str, str]


async def reindex(
    settings: Settings,
    on_progress: Callable[[ReindexProgress], None] = lambda _: None,
    *,
    accept_missing: bool = False,
) -> ReindexReport:
    """Rebuild the index from the WARC files; the old one stays in use until the end.

    Args:
        settings: of the archive.
        on_progress: called after each batch of records.
        accept_missing: whether the new index may lack entries of the current one.

    Raises:
        ConfigurationError: another process is using the archive; the lock also keeps new ones out.
        RecordsMissing: segments or records are missing, and ``accept_missing`` is false.
        StoreError: the segments can't be listed.
    """
    async with open_store_alone(settings) as store:
        before, now = await asyncio.to_thread(places_of_index, settings)
        outdated = await asyncio.to_thread(outdated_revision, Path(before.place))
        async with _opened_if_readable(before, outdated, accept_missing=accept_missing) as old:
            if old and before.is_shared:
                await _refuse_beside_others(old, await asyncio.to_thread(machine_of, settings.data))
            if not accept_missing:
                await _require_segments(old, before, store)
            if old:
                await _write_pending(old, store)
                await write_pending(old, receipts_of(settings.data))
            user_settings = await _user_settings(before, old, accept_missing=accept_missing)
            new = await _open_to_fill(now.beside())
            try:
                report = await _build_index(
                    new,
                    store,
                    old,
                    lambda now: on_progress(ReindexProgress(now.records, now.snapshots)),
                )
                while await rebuild_stale(new, store) or await compare_pending(new, store):
                    pass
                if not accept_missing and old:
                    require_readable(report.unreadable)
                    await require_same_entries(old, new)
                await put_user_settings(user_settings, new, settings.data)
            except RecordsMissing:
                await new.close()
                await asyncio.to_thread(now.beside().remove)
                raise
            finally:
                await new.close()
        await asyncio.to_thread(_keep_only_backup, Path(before.place), outdated)
        await asyncio.to_thread(replace_index, settings, now)
        if now.is_shared:
            await asyncio.to_thread(remove_user_files, settings.data)
    return report


async def _require_segments(old: Database | None, place: Engines, store: SegmentStore) -> None:
    if old:
        await require_segments(old, store)
    elif await asyncio.to_thread(place.is_there):
        found = await asyncio.to_thread(store.storage.survey)
        require_any_segment(found, str(store.directory))


async def _user_settings(
    place: Engines, old: Database | None, *, accept_missing: bool
) -> dict[str, bytes] | None:
    """Return the user settings that the current index holds; None if it holds none."""
    try:
        return await user_settings_of(place, old)
    except IndexUnavailable as error:
        if not accept_missing:
            raise RecordsMissing(_SETTINGS_UNREADABLE, reason=str(error)) from error
        log.warning("the user settings in the old index can't be read; they are lost")
        return None


async def _refuse_beside_others(db: Database, machine: str) -> None:
    """Raise if a worker of another machine is alive."""
    async with db.read() as conn:
        found = await all_workers(conn)
    if any(each.machine != machine for each in found):
        raise ConfigurationError(_IN_USE_ELSEWHERE)


def _keep_only_backup(path: Path, outdated: str | None) -> None:
    """Keep an outdated index as a backup, and remove earlier backups."""
    kept = keep_backup(path, outdated) if outdated else None
    for each in backups(path):
        if each != kept:
            each.unlink()


@asynccontextmanager
async def _opened_if_readable(
    place: Engines, outdated: str | None, *, accept_missing: bool
) -> AsyncIterator[Database | None]:
    """Open the current index; of an outdated one a copy of its queue.

    Raises:
        RecordsMissing: it is outdated and on a server, so its queue can't be read.
    """
    copied = engines_of(Path(f"{place.place}.carried")) if outdated else None
    try:
        if copied:
            old = await _copied(Path(place.place), copied)
        elif await asyncio.to_thread(place.is_there):
            old = await Database.opened(place)
        else:
            old = None
    except IndexOutdated as error:
        if not accept_missing:
            raise RecordsMissing(_QUEUE_UNREADABLE, reason=str(error)) from error
        old = None
    except ArchiverError:
        log.warning("the old index can't be read; its queue is lost", path=place.place)
        old = None
    try:
        yield old
    finally:
        if old:
            await old.close()
        if copied:
            await asyncio.to_thread(copied.remove)


async def _copied(outdated: Path, place: Engines) -> Database:
    await asyncio.to_thread(place.remove)
    await asyncio.to_thread(place.prepare)
    await asyncio.to_thread(copy_rows, outdated, Path(place.place))
    return await Database.opened(place)


async def _open_to_fill(place: Engines) -> Database:
    """Open an empty index, or the partial one of an interrupted run."""
    with suppress(ArchiverError):
        if await asyncio.to_thread(place.is_there):
            left = await Database.opened(place)
            if await _can_go_on(left):
                return left
            await left.close()
    await asyncio.to_thread(place.remove)
    return await Database.opened(place)


async def _can_go_on(db: Database) -> bool:
    """Return whether a partial index is from an interrupted run of this version."""
    async with db.read() as conn:
        return await rebuild_tables.begun_by(conn) == SOFTWARE


async def _build_index(
    db: Database,
    store: SegmentStore,
    old: Database | None,
    on_progress: Callable[[Rebuilt], None],
) -> ReindexReport:
    """Fill an empty index from all segments; ``old`` is the one to be replaced.

    Raises:
        StoreError: the directory of the segments can't be read.
    """
    found = await asyncio.to_thread(store.storage.survey)
    problems = [Finding(each.name, each.problem, each.is_loss) for each in found.unusable_files]
    problems += await asyncio.to_thread(_cut_truncated_tails, store)
    rebuilt = await build_anew(
        db,
        store,
        [each.name for each in found.segments],
        software=SOFTWARE,
        on_progress=on_progress,
    )
    problems += [Finding(name, why) for name, why in rebuilt.unreadable.items()]
    problems += [
        Finding(f"{place.segment} at byte {place.offset:,}", problem)
        for place, problem in rebuilt.problems
    ]
    queued = await _take_over(old, db, receipts_of(store.directory.parent), problems)
    return ReindexReport(
        len(found.segments),
        rebuilt.records,
        rebuilt.captures,
        rebuilt.snapshots,
        queued,
        tuple(problems),
        rebuilt.unreadable,
    )


async def _take_over(
    old: Database | None, new: Database, receipts: Path, problems: list[Finding]
) -> int:
    """Take over what is in no segment, and note what is wrong with it; how many seeds that are."""
    queued = 0
    try:
        queued = await _carry_over(old, new) if old else 0
        problems += [Finding(*each) for each in await restore_all(new, receipts)]
        if old:
            await carry_over_imports(old, new)
    except IndexUnavailable as error:
        problems.append(Finding("the old index", f"What it had waiting is lost: {error}"))
    return queued


async def _write_pending(old: Database, store: SegmentStore) -> None:
    """Write records of deletions and list arrangements that have none yet."""
    async with old.read() as conn:
        owed = await tombstones.pending(conn, limit=MOST_OWED)
    if owed:
        made = [owed_record(json.loads(document)) for document in owed.values()]
        await asyncio.to_thread(_append, store, made)


def _append(store: SegmentStore, made: Sequence[Record]) -> None:
    store.append(made)
    store.sync()
    store.close()


def _cut_truncated_tails(store: SegmentStore) -> list[Finding]:
    """Cut truncated tails; segments that can't be cut are read as they are."""
    uncut = []
    for each in store.storage.survey_local().segments:
        try:
            store.storage.cut_truncated_tail(each.name, from_offset=0)
        except StoreError as error:
            uncut.append(Finding(each.name, str(error)))
    return uncut


async def _carry_over(old: Database, new: Database) -> int:
    """Copy data that is in no segment: unfinished imports, unwritten metadata, open seeds.

    Return the number of seeds.
    """
    async with old.read() as conn:
        left = await imports.unfinished(conn)
    async with new.write() as conn:
        for each in left:
            await imports.restore(conn, each)
    async for unrecorded in in_batches(old, new_entries.unrecorded_seeds):
        async with new.write() as conn:
            await new_entries.restore(conn, unrecorded, unrecorded=True)
    await _carry_over_feeds(old, new)
    count = 0
    async for seeds_open in in_batches(old, new_entries.open_seeds):
        async with new.write() as conn:
            count += await _enqueue_again(conn, seeds_open)
    return count


async def _carry_over_feeds(old: Database, new: Database) -> None:
    async with old.read() as conn:
        states = await feeds.states(conn)
    for url, state in states.items():
        async with new.write() as conn:
            await feeds.put_state(conn, url, state)
        after = ""
        while True:
            async with old.read() as conn:
                items = await feeds.items_of(conn, url, after=after, limit=MOST)
            if not items:
                break
            async with new.write() as conn:
                await feeds.note_items(conn, url, items, now=state.checked_at)
            after = items[-1]


async def _enqueue_again(conn: AsyncConnection, found: list[new_entries.OpenSeed]) -> int:
    """Queue open seeds with their list positions, unless a segment has their snapshot."""
    latest = await db_entries.latest_of(conn, [each.seed.hash_url for each in found])
    open_ = [
        each for each in found if latest.get(each.seed.hash_url, "") <= to_timestamp(each.made_at)
    ]
    for (moment, is_urgent), group in groupby(open_, key=attrgetter("sort_at", "is_urgent")):
        made = [each.seed for each in group]
        await new_entries.receive(conn, made, now=moment, recapture=is_urgent)
    return len(open_)
