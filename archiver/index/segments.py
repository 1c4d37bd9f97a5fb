"""Segments by name, and how many bytes of each the index has read."""

from collections.abc import Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.dialects.sqlite import insert

from archiver.index.connection import AsyncConnection
from archiver.index.schema import segment


async def advance(conn: AsyncConnection, ends: Mapping[str, int]) -> dict[str, int]:
    """Note that each segment is indexed up to that byte; return row ids by name."""
    statement = insert(segment)
    await conn.execute(
        statement.on_conflict_do_update(
            index_elements=["name"],
            set_={
                "indexed_bytes": func.max(segment.c.indexed_bytes, statement.excluded.indexed_bytes)
            },
        ),
        [{"name": name, "indexed_bytes": end} for name, end in ends.items()],
    )
    return await ids(conn, [*ends])


async def ids(conn: AsyncConnection, names: Sequence[str]) -> dict[str, int]:
    """Row ids of the segments that are known, by name."""
    rows = await conn.execute(select(segment.c.name, segment.c.id).where(segment.c.name.in_(names)))
    return dict(rows.all())


async def indexed(conn: AsyncConnection) -> dict[str, int]:
    """How many bytes of each segment are indexed."""
    rows = await conn.execute(select(segment.c.name, segment.c.indexed_bytes))
    return dict(rows.all())


async def total_bytes(conn: AsyncConnection) -> int:
    """Bytes of all segments, as indexed."""
    return (await conn.execute(select(func.sum(segment.c.indexed_bytes)))).scalar() or 0
