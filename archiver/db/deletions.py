"""Deletion and restoration of rows.

Deleted rows stay in their tables, with the number of the deletion in ``deleted_at``, until
compaction erases them. Queries read views without deleted rows (``schema.not_deleted``). To restore
a row, ``deleted_at`` is set to NULL. Tombstones (``db.tombstones``) keep deleted items from being
added again when their records are read.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Row, bindparam, case, delete, func, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import counters, queue, tags_and_lists, tombstones
from archiver.db.dialects import among, text_values
from archiver.db.schema import (
    attempt,
    capture,
    capture_table,
    document,
    edited,
    entry,
    entry_table,
    gone_capture,
    gone_entry,
    gone_snapshot,
    imports,
    job,
    need,
    rendition,
    snapshot,
    snapshot_table,
)
from archiver.http.timestamps import to_datetime
from archiver.model.capture import HashUrl, Timestamp
from archiver.model.deletion import RANDOM_BITS, BinnedItem, Deleted
from archiver.model.job import State

_LAST = "last deletion"
_BULK = 1
_TAGS, _LISTS = "tags", "lists"


@dataclass(frozen=True, slots=True)
class RestoredBatch:
    """Result of restoring those items of a deletion that one deletion record names.

    Attributes:
        record: id of the deletion record.
        captures: row ids of restored captures; empty if nothing was restored.
        entry_ids: row ids of restored entries.
        snapshots: number of restored snapshots.
        not_restored: hash_urls of entries that stay deleted or whose snapshots stay deleted. They
            were saved or deleted again after the deletion, or were not selected.
    """

    record: int
    captures: tuple[int, ...] = ()
    entry_ids: tuple[int, ...] = ()
    snapshots: int = 0
    not_restored: frozenset[HashUrl] = frozenset()

    @property
    def is_restored(self) -> bool:
        """Whether anything was restored."""
        return bool(self.entry_ids or self.snapshots)


async def begin(conn: AsyncConnection, now: datetime) -> int:
    """Return the number of a new deletion: the time in ms, at least the last number plus one."""
    last = await counters.get(conn, _LAST) or 0
    number = max(int(now.timestamp() * 1000), last + 1)
    await counters.put(conn, {_LAST: number})
    return number


async def size(conn: AsyncConnection, number: int) -> Deleted | None:
    """Return what of a deletion is still in the bin; None if there is nothing."""
    entries, snapshots = [
        (
            await conn.execute(
                select(func.count()).select_from(table).where(table.c.deleted_at == number)
            )
        ).scalar_one()
        for table in (entry_table, snapshot_table)
    ]
    return Deleted(number, entries, snapshots) if entries or snapshots else None


async def delete_entries(
    conn: AsyncConnection, entry_ids: Collection[int], *, number: int
) -> tuple[int, int]:
    """Delete entries with their snapshots; return how many entries and how many snapshots.

    The jobs of the entries are deleted, too. A worker that is fetching such an entry discards the
    visit.
    """
    if not entry_ids:
        return 0, 0
    await counters.keep_last_ids(conn)
    mine = among(entry_ids)
    labels = await tags_and_lists.labels_of_entries(conn, [*entry_ids])
    await _detach(conn, entry_ids)
    snapshots = await conn.execute(
        update(snapshot_table)
        .where(snapshot_table.c.entry_id.in_(mine), snapshot_table.c.deleted_at.is_(None))
        .values(deleted_at=number)
    )
    entries = await conn.execute(
        update(entry_table)
        .where(entry_table.c.id.in_(mine), entry_table.c.deleted_at.is_(None))
        .values(deleted_at=number)
    )
    labelled = [
        {"entry_id": key, "labels": json.dumps({_TAGS: each.tags, _LISTS: dict(each.lists)})}
        for key, each in labels.items()
        if each.tags or each.lists
    ]
    if labelled:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id == bindparam("entry_id"))
            .values(deleted_labels=bindparam("labels")),
            labelled,
        )
    return await _count(conn, entries.rowcount, snapshots.rowcount)


async def delete_snapshots(conn: AsyncConnection, row_ids: Collection[int], *, number: int) -> int:
    """Delete snapshots of entries that keep other snapshots; return how many were deleted."""
    if not row_ids:
        return 0
    mine = among(row_ids)
    await _detach_snapshots(conn, row_ids)
    done = await conn.execute(
        update(snapshot_table)
        .where(snapshot_table.c.id.in_(mine), snapshot_table.c.deleted_at.is_(None))
        .values(deleted_at=number)
        .returning(snapshot_table.c.entry_id)
    )
    owners = list(done.scalars())
    await _count(conn, 0, len(owners))
    await update_from_newest_snapshots(conn, {*owners})
    return len(owners)


async def delete_captures(conn: AsyncConnection, row_ids: Collection[int], *, number: int) -> None:
    """Mark captures as deleted."""
    if row_ids:
        await conn.execute(
            update(capture_table)
            .where(capture_table.c.id.in_(among(row_ids)))
            .values(deleted_at=number)
        )


async def delete_named_captures(conn: AsyncConnection, *, after: int) -> None:
    """Delete captures that have a tombstone and a row id above ``after``."""
    number = func.min(gone_capture.c.deletion).bitwise_rshift(RANDOM_BITS)
    named = select(number).where(gone_capture.c.record_id == capture_table.c.record_id)
    await conn.execute(
        update(capture_table)
        .where(
            capture_table.c.id > after,
            capture_table.c.deleted_at.is_(None),
            capture_table.c.record_id.in_(select(gone_capture.c.record_id)),
        )
        .values(deleted_at=named.scalar_subquery())
    )


def deleted_labels(stored: str | None) -> tags_and_lists.Labels:
    """Return the tags and lists of a deleted entry, as ``delete_entries`` stored them."""
    labels = json.loads(stored or "{}")
    return tags_and_lists.Labels(tuple(labels.get(_TAGS, ())), labels.get(_LISTS, {}))


async def erase_entries(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove entries and all rows that belong to them from the index."""
    if not entry_ids:
        return
    await counters.keep_last_ids(conn)
    mine = among(entry_ids)
    live = select(func.count()).select_from(snapshot).where(snapshot.c.entry_id.in_(mine))
    snapshots = (await conn.execute(live)).scalar_one()
    await _detach(conn, entry_ids)
    await _erase_snapshot_rows(
        conn, select(snapshot_table.c.id).where(snapshot_table.c.entry_id.in_(mine))
    )
    await conn.execute(delete(attempt).where(attempt.c.entry_id.in_(mine)))
    entries = await conn.execute(delete(entry_table).where(entry_table.c.id.in_(mine)))
    await _count(conn, entries.rowcount, snapshots)


async def erase_snapshots(conn: AsyncConnection, row_ids: Collection[int]) -> None:
    """Remove snapshots from the index, and update their entries, which keep other snapshots."""
    if not row_ids:
        return
    await counters.keep_last_ids(conn)
    query = select(snapshot.c.id, snapshot.c.entry_id).where(snapshot.c.id.in_(among(row_ids)))
    live = dict((await conn.execute(query)).all())
    await _detach_snapshots(conn, row_ids)
    await _erase_snapshot_rows(conn, among(row_ids))
    await _count(conn, 0, len(live))
    await update_from_newest_snapshots(conn, {*live.values()})


async def items_in_bin(
    conn: AsyncConnection, limit: int | None = None, keys: Collection[str] | None = None
) -> list[BinnedItem]:
    """Return deleted entries, and deleted snapshots of existing entries, last deleted first.

    Args:
        conn: a connection.
        limit: maximum number of items; None for all.
        keys: hash_urls of entries; None for all entries.
    """
    entry, snapshot = entry_table.c, snapshot_table.c
    is_requested = true() if keys is None else entry.hash_url.in_(text_values(keys))
    title = func.coalesce(func.nullif(entry.given_title, ""), entry.page_title)
    entries = await conn.execute(
        select(
            entry.deleted_at, entry.hash_url, entry.url, title.label("title"), entry.snapshot_count
        )
        .where(entry.deleted_at.is_not(None), is_requested)
        .order_by(entry.deleted_at.desc(), entry.id)
        .limit(limit)
    )
    items = [
        BinnedItem(row.deleted_at, row.hash_url, row.url, row.title, "", row.snapshot_count)
        for row in entries
    ]
    snapshots = await conn.execute(
        select(
            snapshot.deleted_at, entry.hash_url, entry.url, title.label("title"), snapshot.timestamp
        )
        .join(entry_table, entry.id == snapshot.entry_id)
        .where(snapshot.deleted_at.is_not(None), entry.deleted_at.is_(None), is_requested)
        .order_by(snapshot.deleted_at.desc(), snapshot.id)
        .limit(limit)
    )
    items += [
        BinnedItem(row.deleted_at, row.hash_url, row.url, row.title, f"{row.timestamp:014d}", 1)
        for row in snapshots
    ]
    return sorted(items, key=lambda each: -each.deletion)[:limit]


async def count_in_bin(conn: AsyncConnection) -> int:
    """Return the number of items in the bin."""
    entry, snapshot = entry_table.c, snapshot_table.c
    entries = select(func.count()).where(entry.deleted_at.is_not(None))
    snapshots = (
        select(func.count(snapshot.id))
        .join(entry_table, entry.id == snapshot.entry_id)
        .where(snapshot.deleted_at.is_not(None), entry.deleted_at.is_(None))
    )
    query = select(entries.scalar_subquery() + snapshots.scalar_subquery())
    return int((await conn.execute(query)).scalar_one())


async def is_in_bin(conn: AsyncConnection, hash_url: HashUrl) -> bool:
    """Return whether an entry with a hash_url was deleted and can be restored."""
    c = entry_table.c
    query = select(c.id).where(c.hash_url == hash_url, c.deleted_at.is_not(None)).limit(1)
    return (await conn.execute(query)).scalar() is not None


async def is_anything_deleted(conn: AsyncConnection, *, before: int | None = None) -> bool:
    """Return whether any row is deleted but not erased.

    Args:
        conn: a connection.
        before: number of the last deletion to include; None for all deletions.
    """
    for table in (entry_table, snapshot_table, capture_table):
        query = select(table.c.id).where(_is_deleted(table.c.deleted_at, before)).limit(1)
        if (await conn.execute(query)).scalar() is not None:
            return True
    return False


def _is_deleted(column: Any, before: int | None) -> Any:
    return column.is_not(None) if before is None else column <= before


async def erase_deleted(
    conn: AsyncConnection, number: int | None = None, *, before: int | None = None
) -> None:
    """Remove deleted entries and snapshots from the index; they can't be restored after that.

    Args:
        conn: a writing connection.
        number: number of the deletion; None for all deletions.
        before: number of the last deletion to erase, if ``number`` is None; None for no limit.
    """
    await counters.keep_last_ids(conn)

    def is_deleted(column: Any) -> Any:
        return column == number if number is not None else _is_deleted(column, before)

    deleted = select(entry_table.c.id).where(is_deleted(entry_table.c.deleted_at))
    c = snapshot_table.c
    await _erase_snapshot_rows(
        conn, select(c.id).where(or_(is_deleted(c.deleted_at), c.entry_id.in_(deleted)))
    )
    await conn.execute(delete(attempt).where(attempt.c.entry_id.in_(deleted)))
    await conn.execute(delete(entry_table).where(is_deleted(entry_table.c.deleted_at)))


async def restore(
    conn: AsyncConnection, number: int, only: Collection[str] | None = None
) -> list[RestoredBatch]:
    """Undo a deletion, except for entries that were saved or deleted again after it.

    If anything is restored and ``only`` is None, the items that can't be restored are erased.

    Args:
        conn: a writing connection.
        number: number of the deletion.
        only: hash_urls of entries to restore, while all other items stay in the bin; None to
            restore everything.

    Returns:
        A result for each deletion record that names items of the deletion.
    """
    restored = [
        await _restore_entries(conn, number, only, *each)
        for each in await _entries_of(conn, number)
    ]
    if only is not None:
        return restored
    touched = set[int]()
    for record, rows in await _snapshots_of(conn, number):
        restored.append(await _restore_snapshots(conn, number, record, rows))
        if restored[-1].snapshots:
            touched |= {row.entry_id for row in rows}
    await update_from_newest_snapshots(conn, touched)
    if any(each.is_restored for each in restored):
        await erase_deleted(conn, number)
    return restored


async def update_from_newest_snapshots(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Copy data of the newest snapshots to their entries, after snapshots changed."""
    if not entry_ids:
        return
    newest = (
        select(snapshot.c.entry_id, func.max(snapshot.c.timestamp), func.count(snapshot.c.id))
        .where(snapshot.c.entry_id.in_(among(entry_ids)))
        .group_by(snapshot.c.entry_id)
    )
    newest_by_entry = {row[0]: (row[1], row[2]) for row in await conn.execute(newest)}
    rows = await conn.execute(
        select(
            *(snapshot.c.entry_id, snapshot.c.timestamp, snapshot.c.title, snapshot.c.rendering),
            snapshot.c.score,
            *(capture.c.status, capture.c.media_type),
        )
        .join(capture, capture.c.id == snapshot.c.capture_id)
        .where(
            snapshot.c.entry_id.in_(among(newest_by_entry)),
            snapshot.c.timestamp.in_(among({latest for latest, _ in newest_by_entry.values()})),
        )
    )
    rows_by_entry = {
        row.entry_id: row for row in rows if row.timestamp == newest_by_entry[row.entry_id][0]
    }
    for entry_id, row in rows_by_entry.items():
        await _update_from_snapshot(conn, entry_id, row, newest_by_entry[entry_id][1])


async def _entries_of(
    conn: AsyncConnection, number: int
) -> list[tuple[int, list[Row[*tuple[Any, ...]]]]]:
    """Return the entries of a deletion, grouped by the deletion record that names them."""
    c = entry_table.c
    rows = await conn.execute(
        select(
            *(c.id, c.hash_url, c.generation, c.state, c.host, c.added_at),
            *(c.deleted_labels, gone_entry.c.deletion),
        )
        .join(
            gone_entry,
            (gone_entry.c.hash_url == c.hash_url) & (gone_entry.c.generation == c.generation),
        )
        .where(c.deleted_at == number)
        .order_by(gone_entry.c.deletion, c.id)
    )
    return _grouped(rows.all())


async def _snapshots_of(
    conn: AsyncConnection, number: int
) -> list[tuple[int, list[Row[*tuple[Any, ...]]]]]:
    """Return the snapshots that were deleted without their entry, by deletion record."""
    c = snapshot_table.c
    rows = await conn.execute(
        select(
            *(c.id, c.entry_id, c.timestamp, entry_table.c.hash_url),
            entry_table.c.deleted_at.label("owner_deleted_at"),
            gone_snapshot.c.deletion,
        )
        .join(entry_table, entry_table.c.id == c.entry_id)
        .join(capture_table, capture_table.c.id == c.capture_id)
        .join(
            gone_snapshot,
            (gone_snapshot.c.hash_url == entry_table.c.hash_url)
            & (gone_snapshot.c.timestamp == c.timestamp)
            & (gone_snapshot.c.record_id == capture_table.c.record_id),
        )
        .where(
            c.deleted_at == number,
            or_(entry_table.c.deleted_at.is_(None), entry_table.c.deleted_at != number),
        )
        .order_by(gone_snapshot.c.deletion, c.id)
    )
    return _grouped(rows.all())


def _grouped(
    rows: Sequence[Row[*tuple[Any, ...]]],
) -> list[tuple[int, list[Row[*tuple[Any, ...]]]]]:
    return [(record, [*group]) for record, group in groupby(rows, attrgetter("deletion"))]


async def _restore_entries(
    conn: AsyncConnection,
    number: int,
    only: Collection[str] | None,
    record: int,
    rows: Sequence[Row[*tuple[Any, ...]]],
) -> RestoredBatch:
    """Restore entries, unless they were saved or deleted again, or are not in ``only``."""
    keys = {row.hash_url: row.generation for row in rows}
    present = select(entry.c.hash_url).where(entry.c.hash_url.in_(text_values(keys)))
    saved_again = {*(await conn.execute(present)).scalars()}
    last = await tombstones.generations(conn, keys)
    not_restored = frozenset(
        HashUrl(key)
        for key, c in keys.items()
        if key in saved_again or last.get(key) != c or not (only is None or key in only)
    )
    back = {row.id: row for row in rows if row.hash_url not in not_restored}
    if not back:
        return RestoredBatch(record, not_restored=not_restored)
    captures = await _restore_captures(conn, number, record)
    c = snapshot_table.c
    snapshots = await conn.execute(
        update(snapshot_table)
        .where(c.entry_id.in_(among(back)), c.deleted_at == number)
        .values(deleted_at=None)
    )
    has_words = entry_table.c.document_id.is_not(None)
    await conn.execute(
        update(entry_table)
        .where(entry_table.c.id.in_(among(back)))
        .values(
            deleted_at=None,
            deleted_labels=None,
            document_id=None,
            document_stale=case((has_words, 1), else_=entry_table.c.document_stale),
        )
    )
    added = {key: row.added_at for key, row in back.items()}
    labels = {key: deleted_labels(row.deleted_labels) for key, row in back.items()}
    of_tags = {key: each.tags for key, each in labels.items() if each.tags}
    of_lists = {key: each.lists for key, each in labels.items() if each.lists}
    await tags_and_lists.attach(conn, of_tags, existing_ids=added, added=added)
    await tags_and_lists.set_lists(conn, of_lists, existing_ids=added, added=added)
    waiting = [(key, row.host) for key, row in back.items() if row.state == State.QUEUED]
    await queue.enqueue(conn, waiting, priority=_BULK, now=datetime.now(UTC))
    await _count(conn, -len(back), -snapshots.rowcount)
    return RestoredBatch(record, captures, tuple(back), snapshots.rowcount, not_restored)


async def _restore_snapshots(
    conn: AsyncConnection, number: int, record: int, rows: Sequence[Row[*tuple[Any, ...]]]
) -> RestoredBatch:
    """Restore the snapshots that a deletion record names: all of them, or none.

    None is restored if one of their entries is deleted, or if an entry already has a snapshot with
    the same timestamp as one of them.
    """
    occupied = await conn.execute(
        select(snapshot.c.id).where(
            snapshot.c.entry_id.in_(among({row.entry_id for row in rows})),
            snapshot.c.timestamp.in_(among({row.timestamp for row in rows})),
        )
    )
    if occupied.first() is not None or any(row.owner_deleted_at for row in rows):
        return RestoredBatch(record, not_restored=frozenset(HashUrl(row.hash_url) for row in rows))
    captures = await _restore_captures(conn, number, record)
    await conn.execute(
        update(snapshot_table)
        .where(snapshot_table.c.id.in_(among(row.id for row in rows)))
        .values(deleted_at=None)
    )
    await _count(conn, 0, -len(rows))
    return RestoredBatch(record, captures, snapshots=len(rows))


async def _restore_captures(conn: AsyncConnection, number: int, record: int) -> tuple[int, ...]:
    """Restore the captures of a deletion that a deletion record names; return their row ids."""
    named = select(gone_capture.c.record_id).where(gone_capture.c.deletion == record)
    rows = await conn.execute(
        update(capture_table)
        .where(capture_table.c.deleted_at == number, capture_table.c.record_id.in_(named))
        .values(deleted_at=None)
        .returning(capture_table.c.id)
    )
    return tuple(rows.scalars())


async def _update_from_snapshot(
    conn: AsyncConnection, entry_id: int, row: Row[*tuple[Any, ...]], count: int
) -> None:
    at = int(to_datetime(Timestamp(f"{row.timestamp:014d}")).timestamp())
    why = (
        select(attempt.c.failure)
        .where(attempt.c.entry_id == entry_id, attempt.c.at > at)
        .order_by(attempt.c.at.desc(), attempt.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    await conn.execute(
        update(entry_table)
        .where(entry_table.c.id == entry_id)
        .values(
            latest=row.timestamp,
            page_title=row.title,
            rendering=row.rendering,
            score=row.score,
            status=row.status,
            media_type=row.media_type,
            snapshot_count=count,
            changed=0,
            comparison_owed=int(count > 1),
            sort_at=at,
            failure=why,
            document_stale=case((entry_table.c.document_id.is_not(None), 1), else_=0),
        )
    )


async def _detach(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove the jobs, tags, lists, search documents and edits of entries."""
    mine = among(entry_ids)
    await _uncount_jobs(conn, entry_ids)
    await tags_and_lists.remove_labels(conn, entry_ids)
    for table in (edited, document, job):
        await conn.execute(delete(table).where(table.c.entry_id.in_(mine)))


async def _detach_snapshots(conn: AsyncConnection, row_ids: Collection[int]) -> None:
    await conn.execute(
        update(document).where(document.c.snapshot_id.in_(among(row_ids))).values(snapshot_id=None)
    )


async def _erase_snapshot_rows(conn: AsyncConnection, row_ids: Any) -> None:
    for table in (rendition, need):
        await conn.execute(delete(table).where(table.c.snapshot_id.in_(row_ids)))
    await conn.execute(delete(snapshot_table).where(snapshot_table.c.id.in_(row_ids)))


async def _uncount_jobs(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Subtract the jobs of entries from the counters.

    Open jobs of an import are counted as items without capture.
    """
    states = await conn.execute(
        select(job.c.state, func.count())
        .where(job.c.entry_id.in_(among(entry_ids)))
        .group_by(job.c.state)
    )
    await counters.change(conn, {state: -count for state, count in states})
    waiting = await conn.execute(
        select(job.c.import_id, func.count())
        .where(
            job.c.entry_id.in_(among(entry_ids)),
            job.c.import_id.is_not(None),
            job.c.state.in_([State.QUEUED, State.FETCHING]),
        )
        .group_by(job.c.import_id)
    )
    decrements = [{"import_id": number, "less": count} for number, count in waiting]
    if decrements:
        await conn.execute(
            update(imports)
            .where(imports.c.id == bindparam("import_id"))
            .values(without_capture=imports.c.without_capture + bindparam("less")),
            decrements,
        )


async def _count(conn: AsyncConnection, entries: int, snapshots: int) -> tuple[int, int]:
    """Subtract deleted entries and snapshots from the counters; return both numbers."""
    await counters.change(conn, {counters.ENTRIES: -entries, counters.SNAPSHOTS: -snapshots})
    return entries, snapshots
