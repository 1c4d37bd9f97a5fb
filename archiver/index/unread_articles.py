"""Snapshots whose article is to be read: left for later, or read by another extractor."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import snapshots
from archiver.index.bulk import among
from archiver.index.schema import snapshot
from archiver.model.page import UNREAD
from archiver.model.rendering import Rendering


@dataclass(frozen=True, slots=True)
class Unread:
    """A snapshot whose article is to be read, and the row id of its entry."""

    entry_id: int
    held: snapshots.Held


async def left_for_later(
    conn: AsyncConnection, row_id: int, *, limit: int
) -> tuple[list[Unread], int]:
    """Snapshots whose article was left for later, after a row, and the last row of them."""
    # Asked for by itself: where somebody had SQLite count rows, it would read all snapshots.
    unread = (
        select(snapshot.c.id)
        .where(snapshot.c.extractor == literal_column("''"), snapshot.c.id > row_id)
        .order_by(snapshot.c.id)
        .limit(limit)
    )
    query = snapshots.query_with_ids().where(snapshot.c.id.in_(unread)).order_by(snapshot.c.id)
    rows = (await conn.execute(query)).all()
    found = [Unread(row.owner_id, snapshots.to_held(row)) for row in rows]
    return found, rows[-1].snapshot_id if rows else row_id


async def read_by_others(
    conn: AsyncConnection, row_id: int, *, than: str, limit: int
) -> tuple[list[Unread], int]:
    """Among so many rows after one, snapshots that another extractor read; the last row looked at.

    Those left for later are not among them, nor those that a browser showed: their text is not that
    of the bytes that were sent. The last row is the first one where all are behind.
    """
    rows = await conn.execute(
        snapshots.query_with_ids()
        .where(
            snapshot.c.extractor.not_in((UNREAD, than)),
            snapshot.c.rendering != Rendering.DONE,
            snapshot.c.id > row_id,
            snapshot.c.id <= row_id + limit,
        )
        .order_by(snapshot.c.id)
    )
    found = [Unread(row.owner_id, snapshots.to_held(row)) for row in rows]
    return found, min(row_id + limit, await snapshots.last_row(conn))


async def read_by_others_of(
    conn: AsyncConnection, entry_ids: Sequence[int], *, than: str
) -> list[Unread]:
    """All snapshots of these entries that another extractor read, as above, oldest first."""
    rows = await conn.execute(
        snapshots.query_with_ids().where(
            snapshot.c.entry_id.in_(among(entry_ids)),
            snapshot.c.extractor.not_in((UNREAD, than)),
            snapshot.c.rendering != Rendering.DONE,
        )
    )
    found = [Unread(row.owner_id, snapshots.to_held(row)) for row in rows]
    return sorted(found, key=lambda each: each.held.snapshot.timestamp)


async def count_left(conn: AsyncConnection) -> int:
    """How many snapshots have an article that was left for later."""
    query = select(func.count()).where(snapshot.c.extractor == literal_column("''"))
    return (await conn.execute(query)).scalar() or 0
