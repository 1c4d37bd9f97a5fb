"""Entries whose metadata records are pending."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import bindparam, case, func, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import attempt, entry, entry_table
from archiver.db.statements import among
from archiver.model.job import State


async def beyond_records(
    conn: AsyncConnection, ids: Sequence[int], *, whole_segments: bool
) -> list[int]:
    """Return entries whose current state is not in their snapshots' records.

    Args:
        conn: a connection.
        ids: row ids.
        whole_segments: the records of edits, and those of last failures, are available too.
    """
    known = [entry.c.state == State.SAVED]
    if whole_segments:
        made = select(func.count()).where(attempt.c.entry_id == entry.c.id).scalar_subquery()
        known.append((entry.c.state == State.FAILED) & (made <= 1))
    is_changed = entry.c.unrecorded == 1 if whole_segments else entry.c.revision > 0
    rows = await conn.execute(
        select(entry.c.id)
        .where(entry.c.id.in_(among(ids)), or_(is_changed, not_(or_(*known))))
        .order_by(entry.c.id)
    )
    return list(rows.scalars())


async def oldest(conn: AsyncConnection, limit: int) -> list[int]:
    """Return entries with unrecorded edits, by row id.

    Entries that wait for their first visit are skipped, since it will record them.
    """
    rows = await conn.execute(
        select(entry.c.id)
        .where(entry.c.unrecorded == 1, entry.c.state != State.QUEUED)
        .order_by(entry.c.id)
        .limit(limit)
    )
    return list(rows.scalars())


async def mark_unrecorded(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Mark the records and search documents of entries as outdated."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id == bindparam("entry_id"))
            .values(
                unrecorded=1,
                revision=entry_table.c.revision + 1,
                document_stale=case(
                    (entry_table.c.document_id.is_not(None), 1), else_=entry_table.c.document_stale
                ),
            ),
            [{"entry_id": entry_id} for entry_id in sorted(entry_ids)],
        )


async def mark_recorded(conn: AsyncConnection, revisions: Mapping[int, int]) -> None:
    """Record that these revisions of annotations are in records, by row id.

    An annotation that was changed in the meantime stays unrecorded.
    """
    if revisions:
        await conn.execute(
            update(entry_table)
            .where(
                entry_table.c.id == bindparam("entry_id"),
                entry_table.c.revision == bindparam("read"),
            )
            .values(unrecorded=0),
            [{"entry_id": each, "read": read} for each, read in revisions.items()],
        )
