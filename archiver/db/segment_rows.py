"""Segment rows and how far each segment is indexed.

``machine`` is of shared indices: NULL where the store has the segment.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, cast, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import segment
from archiver.db.statements import Clash, among_texts, insert_rows

_ADVANCED = ("name", "indexed_bytes", "machine")


@dataclass(frozen=True, slots=True)
class Unsealed:
    """A segment that lies on one machine, and in no store yet: lost with that machine.

    Attributes:
        machine: the name of it.
        name: of the segment.
        bytes: of it, as indexed.
    """

    machine: str
    name: str
    bytes: int


async def advance(conn: AsyncConnection, ends: Mapping[str, int]) -> dict[str, int]:
    """``reach``, where nobody knows on which machine they lie; return row ids by name."""
    await reach(conn, ends)
    return await ids(conn, [*ends])


async def reach(
    conn: AsyncConnection, ends: Mapping[str, int], *, machine: str | None = None
) -> None:
    """Note that each segment is indexed up to that byte.

    Args:
        conn: a writing connection.
        ends: the byte, by name.
        machine: where those lie that are new; None where that is nobody's to know.
    """
    rows = [(name, end, machine) for name, end in sorted(ends.items())]
    await insert_rows(conn, segment, _ADVANCED, rows, Clash.RISES)


async def unsealed(conn: AsyncConnection) -> list[Unsealed]:
    """Every segment that lies on one machine alone, by machine and age."""
    rows = await conn.execute(
        select(segment.c.machine, segment.c.name, segment.c.indexed_bytes)
        .where(segment.c.machine.is_not(None))
        .order_by(segment.c.machine, segment.c.name)
    )
    return [Unsealed(*row) for row in rows]


async def of_machine(conn: AsyncConnection, machine: str) -> set[str]:
    """The segments that lie on a machine alone."""
    rows = await conn.execute(select(segment.c.name).where(segment.c.machine == machine))
    return {*rows.scalars()}


async def lie_at(conn: AsyncConnection, names: Collection[str], machine: str | None) -> None:
    """Note that segments lie on a machine alone, or, with None, in the store."""
    if names:
        which = segment.c.name.in_(among_texts(names))
        await conn.execute(update(segment).where(which).values(machine=machine))


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
