"""Segment rows: how many bytes of each segment are indexed, and where it is.

In an index that machines share, ``machine`` is the machine that has the segment; NULL if the
segment was uploaded to the object store.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, cast, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import text_values
from archiver.db.schema import segment
from archiver.db.statements import OnConflict, insert_rows


@dataclass(frozen=True, slots=True)
class UnuploadedSegment:
    """Segment that exists on one machine only and would be lost with it.

    Attributes:
        machine: name of the machine.
        name: segment name.
        bytes: indexed size.
    """

    machine: str
    name: str
    bytes: int


async def set_indexed_with_ids(conn: AsyncConnection, ends: Mapping[str, int]) -> dict[str, int]:
    """Store the indexed size of each segment, without a machine; return row ids by name."""
    await set_indexed(conn, ends)
    return await ids(conn, [*ends])


async def set_indexed(
    conn: AsyncConnection, ends: Mapping[str, int], *, machine: str | None = None
) -> None:
    """Store the indexed size of each segment.

    Args:
        conn: a writing connection.
        ends: indexed size by name. A smaller size than the stored one is ignored.
        machine: machine that has the new segments; None if they are in the object store.
    """
    rows = [
        {"name": name, "indexed_bytes": end, "machine": machine}
        for name, end in sorted(ends.items())
    ]
    await insert_rows(conn, segment, rows, OnConflict.MAX)


async def not_uploaded(conn: AsyncConnection) -> list[UnuploadedSegment]:
    """Return all segments that exist on one machine only, sorted by machine and age."""
    rows = await conn.execute(
        select(segment.c.machine, segment.c.name, segment.c.indexed_bytes)
        .where(segment.c.machine.is_not(None))
        .order_by(segment.c.machine, segment.c.name)
    )
    return [UnuploadedSegment(*row) for row in rows]


async def of_machine(conn: AsyncConnection, machine: str) -> set[str]:
    """Return the segments that exist on this machine only."""
    rows = await conn.execute(select(segment.c.name).where(segment.c.machine == machine))
    return {*rows.scalars()}


async def set_machine(conn: AsyncConnection, names: Collection[str], machine: str | None) -> None:
    """Set the machine of segments; None if they are in the store."""
    if names:
        which = segment.c.name.in_(text_values(names))
        await conn.execute(update(segment).where(which).values(machine=machine))


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


async def on_other_machines(conn: AsyncConnection, machine: str) -> int:
    """Return how many segments exist only on other machines."""
    elsewhere = select(func.count()).where(
        segment.c.machine.is_not(None), segment.c.machine != machine
    )
    return (await conn.execute(elsewhere)).scalar_one()
