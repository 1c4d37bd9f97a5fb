"""Deletion of entries and snapshots, and its undo.

Everything happens in the caller's transaction, which also adds a pending deletion record
(``db.tombstones``), so that a rebuild of the index does not restore what was deleted. A visit to an
entry that was deleted during the visit is deleted in the same way.

A capture is deleted only if no remaining snapshot is replayed from it.
"""

import asyncio
import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from archiver.crawl.stored_content import read_snapshot_record
from archiver.crawl.visit_result import UnwantedVisit, replay_urls
from archiver.db import captures as db_captures
from archiver.db import deletions, entries, snapshot_resources, snapshots, tombstones
from archiver.db.deletions import RestoredBatch
from archiver.db.engine import AsyncConnection
from archiver.db.snapshot_resources import MAX_ROUNDS, KnownCapture
from archiver.db.snapshots import SnapshotRow
from archiver.errors import StoreError
from archiver.http.timestamps import to_datetime
from archiver.model.capture import HashUrl, RecordId, Timestamp
from archiver.model.deletion import (
    DeletedEntry,
    DeletedSnapshot,
    Deletion,
    RemainingArticle,
    new_id,
)
from archiver.warc.metadata_records import SnapshotRecord, write_deletion
from archiver.warc.segments import SegmentStore

MOVE_BATCH = 250
"""Maximum number of entries whose rows one statement deletes."""


@dataclass(frozen=True, slots=True)
class ReplayedUrl:
    """URL that a snapshot is replayed from, and the snapshot's timestamp."""

    url: str
    timestamp: int


async def delete_entries(
    conn: AsyncConnection, store: SegmentStore, entry_ids: Sequence[int], *, number: int
) -> tuple[int, int]:
    """Delete at most a few hundred entries; return the numbers of entries and snapshots.

    Args:
        conn: a writing connection.
        store: the segment store.
        entry_ids: row ids.
        number: id of the deletion, for undo.
    """
    deleted = await entries.with_revisions(conn, entry_ids)
    rows = await _snapshots_of(conn, [*deleted])
    records = await asyncio.to_thread(_read_all, store, rows)
    replayed = [each for one in rows for each in _replayed_urls(one, records[one.row_id])]
    entry_urls = {each.entry.url for each in deleted.values()}
    captures = await _captures_to_delete(conn, replayed, entry_urls, {one.row_id for one in rows})
    excluded = await _existing_excluded_responses(
        conn, [each.excluded_responses for each in records.values() if each]
    )
    removed = await deletions.delete_entries(conn, [*deleted], number=number)
    deleted_entries = [
        DeletedEntry(
            each.entry.hash_url,
            each.generation,
            tuple(_deleted_snapshot(one) for one in rows if one.entry_id == row),
        )
        for row, each in deleted.items()
    ]
    await _record_deletion(conn, deleted_entries, captures, excluded, number=number)
    return removed


async def delete_snapshots(
    conn: AsyncConnection,
    store: SegmentStore,
    entry_id: int,
    timestamps: Sequence[Timestamp],
    *,
    number: int,
) -> int:
    """Delete some, but not all, snapshots of an entry; return how many were deleted."""
    all_of_it = await _snapshots_of(conn, [entry_id])
    dead = [each for each in all_of_it if each.snapshot.timestamp in timestamps]
    if not dead:
        return 0
    records = await asyncio.to_thread(_read_all, store, all_of_it)
    replayed = [each for one in dead for each in _replayed_urls(one, records[one.row_id])]
    captures = await _captures_to_delete(conn, replayed, set(), {one.row_id for one in dead})
    living = [each for each in all_of_it if each not in dead]
    articles = await asyncio.to_thread(_own_articles, store, living, records)
    removed = await deletions.delete_snapshots(conn, [each.row_id for each in dead], number=number)
    deleted_snapshots = tuple(map(_deleted_snapshot, dead))
    deleted = DeletedEntry(dead[0].snapshot.hash_url, None, deleted_snapshots, articles)
    gone_too = [named.excluded_responses for one in dead if (named := records[one.row_id])]
    await _record_deletion(
        conn, [deleted], captures, await _existing_excluded_responses(conn, gone_too), number=number
    )
    return removed


async def delete_unwanted_visits(conn: AsyncConnection, visits: Sequence[UnwantedVisit]) -> None:
    """Delete visits to entries that were deleted during the visit, or whose lease was lost."""
    if not visits:
        return
    replayed = [
        ReplayedUrl(url, int(each.timestamp))
        for each in visits
        for url in dict.fromkeys(each.needs)
    ]
    captures = await _captures_to_delete(conn, replayed, set(), set())
    deleted = [
        DeletedEntry(each.hash_url, None, (DeletedSnapshot(each.timestamp, each.page),))
        for each in visits
    ]
    excluded = await _existing_excluded_responses(
        conn, [each.excluded_responses for each in visits]
    )
    number = await deletions.begin(conn, datetime.now(UTC))
    await _record_deletion(conn, deleted, captures, excluded, number=number, is_final=True)


async def delete_named(conn: AsyncConnection, *, after: int, bin_after: int | None = None) -> None:
    """Delete rows that are still in the index although a deletion record names them.

    This happens if they were indexed before the deletion record, or indexed again after it.

    Args:
        conn: a writing connection.
        after: only captures with a higher row id are checked.
        bin_after: number of a deletion. Rows that later deletions name go to the bin, and all other
            named rows are erased. If None, all named rows are erased.
    """
    if not await tombstones.any_deleted(conn):
        return
    named = await tombstones.undeleted_entries(conn)
    await deletions.erase_entries(conn, _not_after(named, bin_after))
    single = await tombstones.undeleted_snapshots(conn)
    await deletions.erase_snapshots(conn, _not_after(single, bin_after))
    if bin_after is not None:
        for number in sorted({*named.values(), *single.values()}):
            if number > bin_after:
                await _move_to_bin(conn, number, named, single)
    await deletions.delete_named_captures(conn, after=after)


def _not_after(numbers: Mapping[int, int], bin_after: int | None) -> list[int]:
    return [row for row, number in numbers.items() if bin_after is None or number <= bin_after]


async def _move_to_bin(
    conn: AsyncConnection, number: int, named: Mapping[int, int], single: Mapping[int, int]
) -> None:
    """Move the entries and single snapshots of the deletion ``number`` to the bin."""
    rows = [row for row, each in named.items() if each == number]
    for start in range(0, len(rows), MOVE_BATCH):
        await deletions.delete_entries(conn, rows[start : start + MOVE_BATCH], number=number)
    of_this = [row for row, each in single.items() if each == number]
    await deletions.delete_snapshots(conn, of_this, number=number)


async def move_earlier_to_bin(conn: AsyncConnection, generations: Mapping[HashUrl, int]) -> None:
    """Move deleted entries to the bin before their address is restored in a later generation.

    An address that was deleted and saved again has several generations of entries.

    Args:
        conn: a writing connection.
        generations: the generation that the caller restores next, by hash_url. Only entries of
            earlier generations are moved.
    """
    deleted = await tombstones.undeleted_entries(conn, generations)
    revised = await entries.with_revisions(conn, [*deleted])
    for row, each in revised.items():
        if each.generation < generations[each.entry.hash_url]:
            await deletions.delete_entries(conn, [row], number=deleted[row])


async def restore(
    conn: AsyncConnection, store: SegmentStore, number: int, only: Collection[str] | None = None
) -> tuple[int, int, int]:
    """Undo a deletion, and add pending records of the restoration.

    Entries that were saved or deleted again since then stay deleted.

    Args:
        conn: a writing connection.
        store: the segment store.
        number: id of the deletion.
        only: hash_urls of the entries to restore; None for all.

    Returns:
        The numbers of restored entries, of restored snapshots, and of entries that were not or only
        partly restored.
    """
    batches = await deletions.restore(conn, number, only)
    now = datetime.now(UTC).replace(microsecond=0)
    restored = [each for each in batches if each.is_restored]
    for each in restored:
        if each.not_restored:
            await _add_pending_record(conn, await _still_deleted(conn, store, each, number, now))
    if complete := tuple(each.record for each in restored if not each.not_restored):
        await _add_pending_record(conn, Deletion(new_id(), now, restores=complete))
    return (
        sum(len(each.entry_ids) for each in restored),
        sum(each.snapshots for each in restored),
        sum(
            len(each.not_restored if only is None else each.not_restored & {*only})
            for each in batches
        ),
    )


async def _still_deleted(
    conn: AsyncConnection, store: SegmentStore, batch: RestoredBatch, number: int, now: datetime
) -> Deletion:
    """Build the record that replaces the record of a partly restored deletion.

    A capture is deleted again unless a snapshot that is not deleted is replayed from it.
    """
    recorded, named = await tombstones.recorded(conn, batch.record)
    rows = await _snapshots_of(conn, batch.entry_ids)
    records = await asyncio.to_thread(_read_all, store, rows)
    captures = await snapshot_resources.by_ids(conn, batch.captures)
    revised = await entries.with_revisions(conn, batch.entry_ids)
    entry_urls = {each.entry.url for each in revised.values()}
    needed = await _needed(
        conn, await snapshot_resources.connected(conn, {each.url for each in captures}), set()
    )
    back = {each.record_id for each in captures if each.id in needed or each.url in entry_urls}
    back |= set(
        await _existing_excluded_responses(
            conn, [each.excluded_responses for each in records.values() if each]
        )
    )
    again = [each.id for each in captures if each.record_id not in back]
    await deletions.delete_captures(conn, again, number=number)
    return Deletion(
        new_id(number),
        now,
        deleted=tuple(each for key, each in recorded.items() if key in batch.not_restored),
        captures=tuple(each for each in named if each not in back),
        restores=(batch.record,),
    )


async def _record_deletion(
    conn: AsyncConnection,
    deleted: Sequence[DeletedEntry],
    captures: Mapping[int, RecordId],
    excluded: Iterable[RecordId],
    *,
    number: int,
    is_final: bool = False,
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    records = tuple(dict.fromkeys([*captures.values(), *excluded]))
    deletion = Deletion(new_id(None if is_final else number), now, tuple(deleted), records)
    await deletions.delete_captures(conn, [*captures], number=number)
    await _add_pending_record(conn, deletion)


async def _add_pending_record(conn: AsyncConnection, deletion: Deletion) -> None:
    await tombstones.store(conn, [deletion])
    await tombstones.add_pending(conn, json.dumps(write_deletion(deletion)))


async def _existing_excluded_responses(
    conn: AsyncConnection, named: Iterable[tuple[RecordId, ...]]
) -> Iterable[RecordId]:
    """Return the ids in ``named`` that belong to stored responses which replay does not use.

    Such responses are partial, or answer a request other than GET. Each response belongs to one
    snapshot and can be deleted with the snapshot. The ids are checked, because an imported snapshot
    may name any record.

    Args:
        conn: a connection.
        named: ``SnapshotRecord.excluded_responses`` of each snapshot.
    """
    return await db_captures.excluded_response_locations(
        conn, {each for one in named for each in one}
    )


async def _captures_to_delete(
    conn: AsyncConnection, replayed: Sequence[ReplayedUrl], entry_urls: set[str], dead: set[int]
) -> dict[int, RecordId]:
    """Return record ids of captures that only the deleted snapshots are replayed from, by row.

    Args:
        conn: a connection.
        replayed: URLs of the deleted snapshots.
        entry_urls: URLs of deleted entries; all their captures may be deleted, also those of failed
            visits.
        dead: rows of the deleted snapshots.
    """
    by_url = await snapshot_resources.connected(
        conn, {*entry_urls, *(each.url for each in replayed)}
    )
    failed = [ReplayedUrl(url, each.timestamp) for url in entry_urls for each in by_url[url]]
    candidates = replayed_captures([*replayed, *failed], by_url)
    candidates |= {each.id: each for url in entry_urls for each in by_url[url]}
    needed = await _needed(conn, by_url, dead)
    return {row: RecordId(each.record_id) for row, each in candidates.items() if row not in needed}


async def _needed(
    conn: AsyncConnection, by_url: Mapping[str, Sequence[KnownCapture]], dead: set[int]
) -> set[int]:
    """Return rows of the captures that snapshots outside ``dead`` are replayed from."""
    users = await snapshot_resources.snapshots_needing(conn, by_url)
    living = {row: urls for row, urls in users.items() if row not in dead}
    moments = await snapshot_resources.moments(conn, living)
    replayed = [ReplayedUrl(url, moments[row][0]) for row, urls in living.items() for url in urls]
    return replayed_captures(replayed, by_url).keys() | {page for _, page in moments.values()}


def replayed_captures(
    replayed: Iterable[ReplayedUrl], by_url: Mapping[str, Sequence[KnownCapture]]
) -> dict[int, KnownCapture]:
    """Return the captures that URLs are replayed from, following redirects, by row id.

    Pure. ``by_url`` has the captures of each URL in order of time.
    """
    captures_by_id: dict[int, KnownCapture] = {}
    done: set[tuple[str, int]] = set()
    for wanted_url in replayed:
        step: str | None = wanted_url.url
        for _ in range(MAX_ROUNDS):
            if not step or (step, wanted_url.timestamp) in done:
                break
            done.add((step, wanted_url.timestamp))
            capture = nearest_capture(by_url.get(step, ()), wanted_url.timestamp)
            if capture is None:
                break
            captures_by_id[capture.id] = capture
            step = capture.redirect_to
    return captures_by_id


def nearest_capture(captures: Sequence[KnownCapture], timestamp: int) -> KnownCapture | None:
    """Return the capture nearest in time, as replay does.

    If several captures have the same timestamp, return the last.
    """
    behind = bisect_right(captures, timestamp, key=lambda each: each.timestamp)
    before = captures[behind - 1] if behind else None
    if behind == len(captures):
        return before
    moment = captures[behind].timestamp
    last = bisect_right(captures, moment, key=lambda each: each.timestamp)
    after = captures[last - 1]
    if before is None:
        return after
    seconds = _seconds(timestamp)
    return after if _seconds(moment) - seconds < seconds - _seconds(before.timestamp) else before


def _seconds(timestamp: int) -> float:
    return to_datetime(Timestamp(f"{timestamp:014d}")).timestamp()


async def _snapshots_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> list[SnapshotRow]:
    """Return all snapshots of entries, oldest first."""
    rows = chain.from_iterable((await snapshots.of_entries(conn, entry_ids)).values())
    return sorted(rows, key=lambda each: (each.snapshot.timestamp, each.row_id))


def _deleted_snapshot(row: SnapshotRow) -> DeletedSnapshot:
    return DeletedSnapshot(row.snapshot.timestamp, row.snapshot.capture.record_id)


def _replayed_urls(row: SnapshotRow, record: SnapshotRecord | None) -> list[ReplayedUrl]:
    """Return the URLs that a snapshot is replayed from; ``record`` is None if it is unreadable."""
    snapshot = row.snapshot
    urls = replay_urls(snapshot.url, snapshot.final_url, record.requisites if record else ())
    return [ReplayedUrl(url, int(snapshot.timestamp)) for url in urls]


def _read_all(store: SegmentStore, rows: Sequence[SnapshotRow]) -> dict[int, SnapshotRecord | None]:
    """Read the records of snapshots, by row id; None for an unreadable record."""
    records: dict[int, SnapshotRecord | None] = {each.row_id: None for each in rows}
    for each in rows:
        with suppress(StoreError):
            records[each.row_id] = read_snapshot_record(store, each.record)
    return records


def _own_articles(
    store: SegmentStore,
    living: Sequence[SnapshotRow],
    records: Mapping[int, SnapshotRecord | None],
) -> tuple[RemainingArticle, ...]:
    """Return the articles of remaining snapshots whose records refer to a deleted snapshot."""
    articles = []
    for each in living:
        record, article = records[each.row_id], each.snapshot.article
        if record and record.article_of:
            own = store.read(article).id if article else RecordId("")
            articles.append(RemainingArticle(each.snapshot.timestamp, own))
    return tuple(articles)
