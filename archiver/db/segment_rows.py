"""Segment rows: how many bytes of each segment are indexed."""

from collections.abc import Mapping, Sequence

from sqlalchemy import BigInteger, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import segment
from archiver.db.statements import OnConflict, insert_rows


async def set_indexed_with_ids(conn: AsyncConnection, ends: Mapping[str, int]) -> dict[str, int]:
    """Store the indexed size of each segment; return row ids by name."""
    await set_indexed(conn, ends)
    return await ids(conn, [*ends])


async def set_indexed(conn: AsyncConnection, ends: Mapping[str, int]) -> None:
    """Store the indexed size of each segment, unless the stored size is greater."""
    rows = [{"name": name, "indexed_bytes": end} for name, end in sorted(ends.items())]
    await insert_rows(conn, segment, rows, OnConflict.MAX)


async def ids(conn: AsyncConnection, names: Sequence[str]) -> dict[str, int]:
    """Return row ids of known segments, by name."""
    rows = await conn.execute(select(segment.c.name, segment.c.id).where(segment.c.name.in_(names)))
    return dict(rows.all())


async def indexed_sizes(conn: AsyncConnection) -> dict[str, int]:
    """Return the indexed size of each segment."""
    rows = await conn.execute(select(segment.c.name, segment.c.indexed_bytes))
    return dict(rows.all())


async def indexed_of(conn: AsyncConnection, names: Sequence[str]) -> dict[str, int]:
    """Return the indexed sizes of some segments by name; unknown ones are left out."""
    statement = select(segment.c.name, segment.c.indexed_bytes).where(segment.c.name.in_(names))
    return dict((await conn.execute(statement)).all())


async def total_bytes(conn: AsyncConnection) -> int:
    """Return the indexed size of all segments."""
    return (
        await conn.execute(select(cast(func.sum(segment.c.indexed_bytes), BigInteger)))
    ).scalar() or 0
