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
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from archiver.crawl.rebuild import build_within
from archiver.crawl.record_building import snapshot_note
from archiver.crawl.stored_content import record_from_index
from archiver.db import (
    attempts,
    captures,
    entries,
    feeds,
    imports,
    new_entries,
    screenshots,
    segment_rows,
    snapshot_resources,
    snapshots,
    tombstones,
)
from archiver.db.attempts import FailedAttempt
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Revised
from archiver.db.snapshots import SnapshotRow
from archiver.db.statements import MAX_BATCH, in_batches
from archiver.errors import IndexUnavailable
from archiver.http.timestamps import to_timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State
from archiver.model.listing import SearchDocument
from archiver.model.seed import RevisedSeed, Seed
from archiver.search.search_document import link_document
from archiver.services.fixity import Finding
from archiver.services.import_reports import restore_all
from archiver.services.imports import carry_over_imports
from archiver.warc.records import Record
from archiver.warc.segments import SegmentStore

_WAS_LOST = (
    "{} of its snapshots could not be read from the WARC files when the index was rebuilt. Save it "
    "again, or restore the segments from a backup and run `archiver reindex`."
)
OLD_INDEX = "the old index"
"""``Finding.where`` of damage in the previous index."""
_PART_LOST = "The old index is damaged, and its {} can't be read: {}"


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
    problems = list[Finding]()

    async def copied(name: str, copy: Callable[[Database, Database], Awaitable[int | None]]) -> int:
        try:
            return await copy(old, new) or 0
        except IndexUnavailable as error:
            if not error.is_damaged:
                raise
            problems.append(Finding(OLD_INDEX, _PART_LOST.format(name, error)))
            return 0

    await copied("unfinished imports", _take_over_imports)
    await copied("edits without a record", _take_over_edits)
    if bin_after is not None:
        await copied("bin", partial(_take_over_bin, bin_after=bin_after))
    await copied("feeds", _take_over_feeds)
    queued = await copied("queue", _take_over_queue)
    problems += [Finding(*each) for each in await restore_all(new, reports)]
    await copied("imports", carry_over_imports)
    return queued, problems


async def _take_over_imports(old: Database, new: Database) -> int:
    async with old.read() as conn:
        unfinished_imports = await imports.unfinished(conn)
    async with new.write() as conn:
        for each in unfinished_imports:
            await imports.restore(conn, each)
    return len(unfinished_imports)


async def _take_over_edits(old: Database, new: Database) -> int:
    count = 0
    async for unrecorded in in_batches(old, new_entries.unrecorded_seeds):
        async with new.write() as conn:
            await new_entries.restore(conn, unrecorded, unrecorded=True)
        count += len(unrecorded)
    return count


async def _take_over_bin(old: Database, new: Database, *, bin_after: int) -> int:
    """Copy deleted entries that no record has, because they were never attempted.

    Deletions up to the number ``bin_after`` are due to be erased, so they are not copied.
    """
    count = 0
    deleted_after = partial(new_entries.seeds_in_bin, bin_after=bin_after)
    async for batch in in_batches(old, deleted_after):
        async with new.write() as conn:
            await new_entries.restore_in_bin(conn, batch)
        count += len(batch)
    return count


async def _take_over_feeds(old: Database, new: Database) -> int:
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
    return len(states)


async def _take_over_queue(old: Database, new: Database) -> int:
    count = 0
    async for seeds_open in in_batches(old, new_entries.open_seeds):
        async with new.write() as conn:
            count += await _enqueue_again(conn, seeds_open)
    return count


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
    before = {
        (revised.entry.hash_url, snapshot_row.snapshot.timestamp): snapshot_row
        for revised, snapshot_row in restored
    }
    rows = [snapshot_row.row_id for snapshot_row in before.values()]
    async with old.read() as conn:
        needs = await snapshot_resources.packed(conn, rows)
        drawn = await screenshots.of_snapshots(conn, rows)
    async with new.write() as conn:
        ids = await entries.rows_of(conn, [key for key, _ in before])
        rows_by_id: dict[int, SnapshotRow] = {}
        for snapshot_rows in (await snapshots.of_entries(conn, [*ids.values()])).values():
            for each in snapshot_rows:
                if snapshot_row := before.get((each.snapshot.hash_url, each.snapshot.timestamp)):
                    rows_by_id[each.row_id] = snapshot_row
        await snapshots.store_requisite_counts(
            conn,
            [
                (row_id, snapshot_row.snapshot.requisite_count, snapshot_row.snapshot.missing_count)
                for row_id, snapshot_row in rows_by_id.items()
            ],
        )
        await snapshots.store_scores(
            conn,
            [
                (row_id, snapshot_row.snapshot.score)
                for row_id, snapshot_row in rows_by_id.items()
                if snapshot_row.snapshot.score is not None
            ],
        )
        await snapshot_resources.store_packed(
            conn,
            {
                row_id: needs[snapshot_row.row_id]
                for row_id, snapshot_row in rows_by_id.items()
                if snapshot_row.row_id in needs
            },
        )
        segments = await segment_rows.indexed_sizes(conn)
        known_ids = await segment_rows.ids(conn, [*segments])
        renditions = {
            row_id: tuple(
                each
                for each in drawn.get(snapshot_row.row_id, ())
                if each.location.segment in known_ids
            )
            for row_id, snapshot_row in rows_by_id.items()
        }
        await screenshots.put(conn, renditions, known_ids)


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
                failed.append(
                    FailedAttempt(summary.row_id, now, why, final=True, search_document=_link(each))
                )
        await attempts.add_failures(conn, failed, skip_stored=True)
    return bare, lost


def _link(revised: Revised) -> SearchDocument:
    entry = revised.entry
    return link_document(
        entry.annotation, url=entry.url, host=entry.host, revision=revised.revision
    )
