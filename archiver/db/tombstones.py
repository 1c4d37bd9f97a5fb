"""Tombstones of the entries, snapshots and captures that deletion records delete.

Tombstones keep deleted items from being added again when older records are read. The module
``db.deletions`` handles the deleted rows themselves.
"""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import counters
from archiver.db.dialects import among, text_values
from archiver.db.schema import (
    capture,
    entry,
    gone_capture,
    gone_entry,
    gone_snapshot,
    own_article,
    pending_record,
    restored,
    snapshot,
)
from archiver.db.statements import OnConflict, insert_rows
from archiver.model.capture import HashUrl, RecordId, Timestamp
from archiver.model.deletion import (
    DeletedEntry,
    DeletedSnapshot,
    Deletion,
    first_id_after,
    number_of,
)

_COUNTER = "deletions"
_ERASED = "deletions erased"
_BY_DELETION = (gone_entry, gone_snapshot, gone_capture)
_SNAPSHOTS_OF = (
    select(gone_snapshot)
    .where(gone_snapshot.c.hash_url.in_(text_values(bindparam("keys"))))
    .order_by(gone_snapshot.c.deletion.desc())
)


async def store(conn: AsyncConnection, deletions: Sequence[Deletion]) -> None:
    """Store the tombstones of deletion records, which may be in any order.

    Existing tombstones stay.
    """
    if not deletions:
        return
    await counters.change(conn, {_COUNTER: len(deletions)})
    for each in deletions:
        if each.restores:
            await _restore(conn, each.restores)
    rows = await conn.execute(
        select(restored.c.deletion).where(restored.c.deletion.in_(among(d.id for d in deletions)))
    )
    undone = set(rows.scalars())
    for each in deletions:
        if each.id not in undone:
            await _store(conn, each)


async def _store(conn: AsyncConnection, deletion: Deletion) -> None:
    await insert_rows(
        conn,
        gone_entry,
        [
            {"hash_url": each.hash_url, "deletion": deletion.id, "generation": each.generation}
            for each in deletion.deleted
            if each.generation is not None
        ],
        OnConflict.KEEP,
    )
    await insert_rows(
        conn,
        gone_snapshot,
        [
            {
                "hash_url": each.hash_url,
                "timestamp": int(one.timestamp),
                "record_id": one.page,
                "deletion": deletion.id,
            }
            for each in deletion.deleted
            for one in each.snapshots
        ],
        OnConflict.KEEP,
    )
    named = [{"record_id": each, "deletion": deletion.id} for each in deletion.captures]
    await insert_rows(conn, gone_capture, named, OnConflict.KEEP)
    await insert_rows(
        conn,
        own_article,
        [
            {
                "hash_url": each.hash_url,
                "timestamp": int(one.timestamp),
                "record_id": one.article,
            }
            for each in deletion.deleted
            for one in each.articles
        ],
        OnConflict.REPLACE,
    )


async def _restore(conn: AsyncConnection, deletions: Sequence[int]) -> None:
    for table in _BY_DELETION:
        await conn.execute(delete(table).where(table.c.deletion.in_(among(deletions))))
    rows = [{"deletion": each} for each in deletions]
    await insert_rows(conn, restored, rows, OnConflict.KEEP)


async def generations(
    conn: AsyncConnection, keys: Iterable[str], *, before: int | None = None
) -> dict[str, int]:
    """Return the highest deleted generation by hash_url, for entries that were ever deleted.

    Args:
        conn: a connection.
        keys: hash_urls.
        before: number of the last deletion to include; None for all deletions.
    """
    if not await count(conn):
        return {}
    query = (
        select(gone_entry.c.hash_url, func.max(gone_entry.c.generation))
        .where(gone_entry.c.hash_url.in_(text_values(keys)))
        .group_by(gone_entry.c.hash_url)
    )
    if before is not None:
        query = query.where(gone_entry.c.deletion < first_id_after(before))
    return dict((await conn.execute(query)).all())


async def snapshots(
    conn: AsyncConnection, keys: Collection[str]
) -> dict[tuple[HashUrl, Timestamp, RecordId], int]:
    """Return the deleted snapshots of entries, with the number of their first deletion.

    The keys are (hash_url, timestamp, record id of the page).
    """
    if not keys:
        return {}
    rows = await conn.execute(_SNAPSHOTS_OF, {"keys": keys})
    return {
        (
            HashUrl(row.hash_url),
            Timestamp(f"{row.timestamp:014d}"),
            RecordId(row.record_id),
        ): number_of(row.deletion)
        for row in rows
    }


async def own_articles(
    conn: AsyncConnection, keys: Iterable[str]
) -> dict[tuple[HashUrl, Timestamp], RecordId]:
    """Return the articles of remaining snapshots whose records refer to a deleted snapshot.

    The result maps (hash_url, timestamp) of a remaining snapshot to the record id of its article.
    """
    rows = await conn.execute(
        select(own_article).where(own_article.c.hash_url.in_(text_values(keys)))
    )
    return {
        (HashUrl(row.hash_url), Timestamp(f"{row.timestamp:014d}")): RecordId(row.record_id)
        for row in rows
    }


async def recorded(
    conn: AsyncConnection, deletion: int
) -> tuple[dict[HashUrl, DeletedEntry], list[RecordId]]:
    """Return the items that a deletion record deletes, without restored items.

    Returns:
        The deleted items of each entry by hash_url, and the record ids of deleted captures. If only
        snapshots of an entry are deleted, its item has no generation.
    """
    rows = await conn.execute(
        select(gone_entry.c.hash_url, gone_entry.c.generation).where(
            gone_entry.c.deletion == deletion
        )
    )
    generations = {HashUrl(row.hash_url): row.generation for row in rows}
    snapshots = await conn.execute(
        select(gone_snapshot).where(gone_snapshot.c.deletion == deletion)
    )
    by_entry: dict[HashUrl, list[DeletedSnapshot]] = {key: [] for key in generations}
    for row in snapshots:
        timestamp = Timestamp(f"{row.timestamp:014d}")
        one = DeletedSnapshot(timestamp, RecordId(row.record_id))
        by_entry.setdefault(HashUrl(row.hash_url), []).append(one)
    named = await conn.execute(
        select(gone_capture.c.record_id).where(gone_capture.c.deletion == deletion)
    )
    deleted = {
        key: DeletedEntry(key, generations.get(key), tuple(each)) for key, each in by_entry.items()
    }
    return deleted, [RecordId(each) for each in named.scalars()]


async def captures(conn: AsyncConnection, record_ids: Sequence[RecordId]) -> set[RecordId]:
    """Return the ids in ``record_ids`` that belong to deleted captures."""
    rows = await conn.execute(
        select(gone_capture.c.record_id).where(
            gone_capture.c.record_id.in_(text_values(record_ids))
        )
    )
    return {RecordId(each) for each in rows.scalars()}


async def count(conn: AsyncConnection) -> int:
    """Return the number of stored deletion records, including those of restorations."""
    return await counters.get(conn, _COUNTER) or 0


async def set_erased(conn: AsyncConnection, up_to: int) -> None:
    """Record that the items of the first ``up_to`` deletion records are erased from segments."""
    await counters.put(conn, {_ERASED: up_to})


async def is_erased(conn: AsyncConnection) -> bool:
    """Return whether all deleted items are erased from the segments."""
    return await count(conn) == (await counters.get(conn, _ERASED) or 0)


async def any_deleted(conn: AsyncConnection) -> bool:
    """Return whether there is any tombstone."""
    for table in _BY_DELETION:
        if (await conn.execute(select(table.c.deletion).limit(1))).scalar() is not None:
            return True
    return False


async def undeleted_entries(
    conn: AsyncConnection, keys: Collection[str] | None = None
) -> dict[int, int]:
    """Return entries that exist although a tombstone deletes them.

    Args:
        conn: a connection.
        keys: hash_urls of the entries to check; None for all entries.

    Returns:
        The number of the first deletion by row id of the entry.
    """
    query = (
        select(entry.c.id, func.min(gone_entry.c.deletion))
        .join(
            gone_entry,
            (gone_entry.c.hash_url == entry.c.hash_url)
            & (gone_entry.c.generation >= entry.c.generation),
        )
        .group_by(entry.c.id)
    )
    if keys is not None:
        query = query.where(entry.c.hash_url.in_(text_values(keys)))
    return {row: number_of(first) for row, first in await conn.execute(query)}


async def undeleted_snapshots(conn: AsyncConnection) -> dict[int, int]:
    """Return snapshots that exist although a tombstone deletes them.

    Returns:
        The number of the first deletion by row id of the snapshot.
    """
    query = (
        select(snapshot.c.id, func.min(gone_snapshot.c.deletion))
        .join(entry, entry.c.id == snapshot.c.entry_id)
        .join(capture, capture.c.id == snapshot.c.capture_id)
        .join(
            gone_snapshot,
            (gone_snapshot.c.hash_url == entry.c.hash_url)
            & (gone_snapshot.c.timestamp == snapshot.c.timestamp)
            & (gone_snapshot.c.record_id == capture.c.record_id),
        )
    )
    rows = await conn.execute(query.group_by(snapshot.c.id))
    return {row: number_of(first) for row, first in rows}


async def add_pending(conn: AsyncConnection, document: str) -> None:
    """Store a record that must be written to a segment, as JSON."""
    await insert_rows(conn, pending_record, [{"document": document}])


async def pending(conn: AsyncConnection, *, limit: int) -> dict[int, str]:
    """Return the oldest records that must be written to a segment, by row id."""
    rows = await conn.execute(
        select(pending_record.c.id, pending_record.c.document)
        .order_by(pending_record.c.id)
        .limit(limit)
    )
    return {row.id: row.document for row in rows}


async def remove_pending(conn: AsyncConnection, row_ids: Collection[int]) -> None:
    """Delete pending records that have been written."""
    if not row_ids:
        return
    await conn.execute(delete(pending_record).where(pending_record.c.id.in_(among(row_ids))))
