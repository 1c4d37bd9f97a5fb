"""Segments by name, and how many bytes of each the index has read."""

from collections.abc import Mapping, Sequence

from sqlalchemy import BigInteger, cast, func, select

from archiver.index.bulk import Clash, insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import segment


async def advance(conn: AsyncConnection, ends: Mapping[str, int]) -> dict[str, int]:
    """Note that each segment is indexed up to that byte; return row ids by name."""
    rows = sorted(ends.items())
    await insert_rows(conn, segment, ("name", "indexed_bytes"), rows, Clash.RISES)
    return await ids(conn, [*ends])


async def ids(conn: AsyncConnection, names: Sequence[str]) -> dict[str, int]:
    """Row ids of the segments that are known, by name."""
    rows = await conn.execute(select(segment.c.name, segment.c.id).where(segment.c.name.in_(names)))
    return dict(rows.all())


async def indexed(conn: AsyncConnection) -> dict[str, int]:
    """How many bytes of each segment are indexed."""
    rows = await conn.execute(select(segment.c.name, segment.c.indexed_bytes))
    return dict(rows.all())


async def indexed_of(conn: AsyncConnection, names: Sequence[str]) -> dict[str, int]:
    """How many bytes of some segments are indexed; those that are not known are left out."""
    statement = select(segment.c.name, segment.c.indexed_bytes).where(segment.c.name.in_(names))
    return dict((await conn.execute(statement)).all())


async def total_bytes(conn: AsyncConnection) -> int:
    """Bytes of all segments, as indexed."""
    return (
        await conn.execute(select(cast(func.sum(segment.c.indexed_bytes), BigInteger)))
    ).scalar() or 0


async def on_other_machines(conn: AsyncConnection, machine: str) -> int:
    """How many segments lie on machines other than this one, and nowhere else."""
    elsewhere = select(func.count()).where(
        segment.c.machine.is_not(None), segment.c.machine != machine
    )
    return (await conn.execute(elsewhere)).scalar_one()
