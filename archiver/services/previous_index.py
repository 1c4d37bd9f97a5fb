"""Copying of data that only the previous index has into a rebuilt index.

Some data is never in a segment: queued seeds that were never attempted, unfinished imports, feed
states, and edits that are not in a WARC record yet. Other data is missing from the segments because
records were lost or damaged. In that case the entry's metadata is copied. A snapshot is restored if
its page record is intact. Otherwise it is lost, and a failure is stored for its entry.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from archiver.crawl.batch_rows import failed_attempt
from archiver.crawl.rebuild import build_within
from archiver.crawl.record_building import snapshot_note
from archiver.crawl.stored_content import record_from_index
from archiver.db import (
    attempts,
    captures,
    entries,
    feeds,
    import_reports,
    imports,
    new_entries,
    queue,
    screenshots,
    segment_rows,
    snapshot_resources,
    snapshots,
    tags_and_lists,
    tombstones,
)
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Revised
from archiver.db.snapshots import SnapshotRow
from archiver.db.statements import MAX_BATCH, in_batches
from archiver.errors import IndexUnavailable
from archiver.http.timestamps import to_timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State
from archiver.model.seed import RevisedSeed, Seed
from archiver.services.crawling import pause_import
from archiver.services.fixity import Finding
from archiver.services.import_reports import restore_all
from archiver.warc.records import Record
from archiver.warc.segments import SegmentStore

_WAS_LOST = (
    "{} of its snapshots could not be read from the WARC files when the index was rebuilt. Save it "
    "again, or restore the segments from a backup and run `archiver reindex`."
)
OLD_INDEX = "the old index"
"""``Finding.where`` of damage in the previous index."""
_PART_LOST = "The old index is damaged, and its {} can't be read: {}"


_Each = TypeVar("_Each")


@dataclass(frozen=True, slots=True)
class RestoreLosses:
    """Number of entries and snapshots of the previous index that could not be restored.

    Attributes:
        entries: number of entries that have lost all their snapshots.
        snapshots: number of lost snapshots.
    """

    entries: int = 0
    snapshots: int = 0

    def __bool__(self) -> bool:
        return bool(self.snapshots)


async def copy_unrecorded_data(
    old: Database, new: Database, reports: Path, bin_after: int | None
) -> tuple[int, list[Finding]]:
    """Copy data that is in no segment; return the number of queued seeds, and the problems.

    If the previous index is damaged, the kinds of data that can still be read are copied.

    Raises:
        IndexUnavailable: an index can't be read or written now.
    """
    problems, queued = list[Finding](), 0

    async def copied(name: str, copy: Callable[[Database, Database], Awaitable[object]]) -> None:
        try:
            await copy(old, new)
        except IndexUnavailable as error:
            if not error.is_damaged:
                raise
            problems.append(Finding(OLD_INDEX, _PART_LOST.format(name, error)))

    async def enqueue(conn: AsyncConnection, batch: list[new_entries.OpenSeed]) -> None:
        nonlocal queued
        queued += await _enqueue_again(conn, batch)

    add_edits = partial(new_entries.restore, unrecorded=True)
    await copied("unfinished imports", _copy_imports)
    await copied("edits without a record", _copier(new_entries.unrecorded_seeds, add_edits))
    if bin_after is not None:
        # These entries were never attempted. Deletions up to this number are due to be erased.
        in_bin = partial(new_entries.seeds_in_bin, bin_after=bin_after)
        await copied("bin", _copier(in_bin, new_entries.restore_in_bin))
    await copied("feeds", _copy_feeds)
    await copied("queue", _copier(new_entries.open_seeds, enqueue))
    problems += [Finding(*each) for each in await restore_all(new, reports)]
    await copied("imports", _carry_over_imports)
    return queued, problems


def _copier(
    read_after: Callable[..., Awaitable[tuple[list[_Each], int]]],
    write: Callable[[AsyncConnection, list[_Each]], Awaitable[object]],
) -> Callable[[Database, Database], Awaitable[None]]:
    """Return a function that copies items between two indexes in batches."""

    async def copy(old: Database, new: Database) -> None:
        async for batch in in_batches(old, read_after):
            async with new.write() as conn:
                await write(conn, batch)

    return copy


async def _copy_imports(old: Database, new: Database) -> None:
    async with old.read() as conn:
        unfinished_imports = await imports.unfinished(conn)
    async with new.write() as conn:
        for each in unfinished_imports:
            await imports.restore(conn, each)


async def _copy_feeds(old: Database, new: Database) -> None:
    async with old.read() as conn:
        states = await feeds.states(conn)
    for url, state in states.items():
        async with new.write() as conn:
            await feeds.put_state(conn, url, state)
        after = ""
        while True:
            async with old.read() as conn:
                items = await feeds.items_of(conn, url, after=after, limit=MAX_BATCH)
            if not items:
                break
            async with new.write() as conn:
                await feeds.store_items(conn, url, items, now=state.checked_at)
            after = items[-1]


async def _enqueue_again(conn: AsyncConnection, batch: list[new_entries.OpenSeed]) -> int:
    """Queue seeds with unfinished jobs again, and return their number.

    Entries keep their sort keys. A seed is skipped if its entry has a snapshot that is newer than
    the job.
    """
    latest = await entries.latest_of(conn, [each.seed.hash_url for each in batch])
    open_ = [
        each for each in batch if latest.get(each.seed.hash_url, "") <= to_timestamp(each.made_at)
    ]
    for (moment, is_urgent), group in groupby(open_, key=attrgetter("sort_at", "is_urgent")):
        seeds = [each.seed for each in group]
        await new_entries.receive(conn, seeds, now=moment, recapture=is_urgent)
    return len(open_)


async def _carry_over_imports(old: Database, new: Database) -> None:
    """Copy import data that is only in the index from an old index to a rebuilt one.

    This data is: the reports of unfinished imports; for each list, entry and open job, the import
    that created it; and which imports are paused.
    """
    async with old.read() as conn:
        unfinished = [each.id for each in await imports.unfinished(conn)]
        whole = await import_reports.with_complete_data(conn)
        created_lists = await tags_and_lists.creators(conn)
    async with new.write() as conn:
        await import_reports.mark_fully_known(conn, whole)
        await tags_and_lists.restore_creators(conn, created_lists)
    for number in unfinished:
        await _carry_over_report(old, new, number)
    async for creators in in_batches(old, imports.creators_after):
        async with new.write() as conn:
            await imports.restore_creators(conn, creators)
    async for of_imports in in_batches(old, imports.open_jobs_after):
        async with new.write() as conn:
            await imports.restore_jobs(conn, of_imports)
    async with old.read() as conn:
        paused = await queue.paused_imports(conn)
    for each in paused:
        await pause_import(new, each, paused=True)


async def _carry_over_report(old: Database, new: Database, number: int) -> None:
    after = 0
    while True:
        async with old.read() as conn:
            rows = await import_reports.page(conn, number, after=after, limit=MAX_BATCH)
        if not rows:
            return
        async with new.write() as conn:
            await import_reports.add_rows(conn, number, rows)
        after = rows[-1].row


async def restore_missing(old: Database, new: Database, store: SegmentStore) -> RestoreLosses:
    """Restore entries, edits and snapshots that the segments lack.

    Return the numbers of entries and snapshots that can't be restored.

    Raises:
        IndexUnavailable: an index can't be read or written now.
        StoreError: a record can't be written.
    """
    lost_entries = lost_snapshots = 0
    async for batch in in_batches(old, entries.summaries_after):
        async with new.read() as conn:
            keys = [each.hash_url for each in batch]
            generations = await tombstones.generations(conn, keys)
            summaries = await entries.summaries(conn, keys)
        alive = [each for each in batch if each.generation > generations.get(each.hash_url, -1)]
        lacking = {
            each.row_id
            for each in alive
            if each.hash_url not in summaries or summaries[each.hash_url].revision < each.revision
        }
        fewer = {
            each.row_id
            for each in alive
            if each.hash_url not in summaries
            or summaries[each.hash_url].snapshot_count < each.snapshot_count
        }
        if lacking | fewer:
            async with old.read() as conn:
                revised = await entries.with_revisions(conn, sorted(lacking | fewer))
            await _restore_entries(new, [revised[each] for each in sorted(lacking)])
            deleted = await _restore_snapshots(
                old, new, store, {each: revised[each] for each in fewer}
            )
            one, many = await _mark_lost(new, [*revised.values()], deleted)
            lost_entries, lost_snapshots = lost_entries + one, lost_snapshots + many
    return RestoreLosses(lost_entries, lost_snapshots)


async def _restore_entries(new: Database, lacking: Sequence[Revised]) -> None:
    seeds = [
        RevisedSeed(
            Seed(each.entry.hash_url, each.entry.url, each.entry.host, each.entry.annotation),
            each.revision,
            each.entry.state == State.LINK,
        )
        for each in lacking
    ]
    if seeds:
        async with new.write() as conn:
            await new_entries.restore(conn, seeds, unrecorded=True)


async def _restore_snapshots(
    old: Database, new: Database, store: SegmentStore, fewer: Mapping[int, Revised]
) -> Counter[str]:
    """Write new records of snapshots whose own records are damaged, and index them.

    Returns:
        The number of snapshots that have a tombstone, by ``hash_url`` of their entry.
    """
    deleted = Counter[str]()
    async with old.read() as conn:
        snapshot_row = await snapshots.of_entries(conn, [*fewer])
    rows_by_timestamp = {
        row_id: {each.snapshot.timestamp: each for each in snapshot_row.get(row_id, ())}
        for row_id in fewer
    }
    async with new.read() as conn:
        keys = {each.entry.hash_url for each in fewer.values()}
        tombstones_by_key = await tombstones.snapshots(conn, keys)
        ids = await entries.rows_of(conn, [*keys])
        of_new = await snapshots.of_entries(conn, [*ids.values()])
        pages = await captures.of_records(
            conn,
            [
                (each.snapshot.final_url, each.snapshot.capture.record_id)
                for rows in snapshot_row.values()
                for each in rows
            ],
        )
    lacking: list[tuple[Revised, SnapshotRow]] = []
    for row_id, rows in rows_by_timestamp.items():
        key = fewer[row_id].entry.hash_url
        existing = {each.snapshot.timestamp for each in of_new.get(ids[key], ())}
        for timestamp, each in rows.items():
            page = each.snapshot.capture.record_id
            if (key, timestamp, page) in tombstones_by_key:
                deleted[key] += 1
            elif timestamp not in existing and (each.snapshot.final_url, page) in pages:
                lacking.append((fewer[row_id], each))
    if lacking:
        records = [
            snapshot_note(revised, record_from_index(row.snapshot)) for revised, row in lacking
        ]
        names = await asyncio.to_thread(append_to_new_segments, store, records)
        async with new.write() as conn:
            await build_within(conn, store, dict.fromkeys(names, 0))
        await _copy_details(old, new, lacking)
    return deleted


def append_to_new_segments(store: SegmentStore, records: Sequence[Record]) -> set[str]:
    """Append records to new segments and sync them to disk; return the names of the segments."""
    places = store.append(records)
    store.sync()
    store.close()
    return {each.segment for each in places}


async def _copy_details(
    old: Database, new: Database, restored: Sequence[tuple[Revised, SnapshotRow]]
) -> None:
    """Copy data of restored snapshots that is not in their records.

    The data are the number of requisites, the score, the resource list and the screenshots.
    """
    before = {(revised.entry.hash_url, row.snapshot.timestamp): row for revised, row in restored}
    row_ids = [row.row_id for row in before.values()]
    async with old.read() as conn:
        resources = await snapshot_resources.packed(conn, row_ids)
        renditions = await screenshots.of_snapshots(conn, row_ids)
    async with new.write() as conn:
        ids = await entries.rows_of(conn, [key for key, _ in before])
        after = await snapshots.of_entries(conn, [*ids.values()])
        copied = [
            (each.row_id, row)
            for each in chain.from_iterable(after.values())
            if (row := before.get((each.snapshot.hash_url, each.snapshot.timestamp)))
        ]
        await snapshots.store_requisite_counts(
            conn,
            [(to, row.snapshot.requisite_count, row.snapshot.missing_count) for to, row in copied],
        )
        scores = [(to, row.snapshot.score) for to, row in copied if row.snapshot.score is not None]
        await snapshots.store_scores(conn, scores)
        await snapshot_resources.store_packed(
            conn, {to: resources[row.row_id] for to, row in copied if row.row_id in resources}
        )
        segments = await segment_rows.ids(conn, [*await segment_rows.indexed_sizes(conn)])
        drawn = {
            to: tuple(
                each for each in renditions.get(row.row_id, ()) if each.location.segment in segments
            )
            for to, row in copied
        }
        await screenshots.put(conn, drawn, segments)


async def _mark_lost(
    new: Database, before: Sequence[Revised], deleted: Mapping[str, int]
) -> tuple[int, int]:
    """Store a failure for each entry with lost snapshots.

    The previous failure of an entry that never had a snapshot is copied.

    Returns:
        Number of entries that have lost all their snapshots, and number of lost snapshots.
    """
    now = datetime.now(UTC)
    failed, bare, lost = [], 0, 0
    async with new.write() as conn:
        summaries = await entries.summaries(conn, [each.entry.hash_url for each in before])
        for each in before:
            summary = summaries[each.entry.hash_url]
            expected = summary.snapshot_count + deleted.get(each.entry.hash_url, 0)
            count = each.entry.snapshot_count - expected
            why = each.entry.failure
            if count > 0:
                lost, bare = lost + count, bare + (not summary.snapshot_count)
                why = Failure(FailureKind.LOST, _WAS_LOST.format(count))
            elif each.entry.state != State.FAILED or summary.snapshot_count:
                continue
            if why is not None:
                failed.append(failed_attempt(summary.row_id, each, now, why))
        await attempts.add_failures(conn, failed, skip_stored=True)
    return bare, lost
