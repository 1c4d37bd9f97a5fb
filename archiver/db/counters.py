"""Named counters, and allocation of row ids.

Ids of deleted rows are not used again, because a lease, a form in a browser or another process may
still refer to them.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import capture_table, counter, document, entry_table, job, snapshot_table
from archiver.db.statements import OnConflict, insert_rows

ENTRIES = "entries"
SNAPSHOTS = "snapshots"
QUEUED = "queued"
FETCHING = "fetching"
SAVED = "saved"
FAILED = "failed"


async def change(conn: AsyncConnection, increments: Mapping[str, int]) -> None:
    """Add the values in ``increments`` to the counters with these names."""
    rows = [{"name": name, "value": value} for name, value in sorted(increments.items()) if value]
    await insert_rows(conn, counter, rows, OnConflict.ADD)


async def put(conn: AsyncConnection, values: Mapping[str, int]) -> None:
    """Set the counters that ``values`` names."""
    rows = [{"name": name, "value": value} for name, value in sorted(values.items())]
    await insert_rows(conn, counter, rows, OnConflict.REPLACE)


_VALUE = select(counter.c.value).where(counter.c.name == bindparam("name"))


async def get(conn: AsyncConnection, name: str) -> int | None:
    """Return the value of a counter; None if it was never changed."""
    value: int | None = (await conn.execute(_VALUE, {"name": name})).scalar()
    return value


async def all_counters(conn: AsyncConnection) -> dict[str, int]:
    """Return the values of all counters that were ever changed, by name."""
    rows = await conn.execute(select(counter.c.name, counter.c.value))
    return dict(rows.all())


_NOT_REUSED = (entry_table.c.id, snapshot_table.c.id, capture_table.c.id, document.c.id, job.c.id)


async def next_id(conn: AsyncConnection, column: Column[Any]) -> int:
    """Return the next row id of a table, given its primary key."""
    last = select(func.max(column)).scalar_subquery()
    mark = select(counter.c.value).where(counter.c.name == _name(column)).scalar_subquery()
    row = (await conn.execute(select(last, mark))).one()
    return max(row[0] or 0, row[1] or 0) + 1


async def keep_last_ids(conn: AsyncConnection) -> None:
    """Store the highest row id of each table in ``_NOT_REUSED``, before rows are deleted."""
    await put(conn, {_name(each): await next_id(conn, each) - 1 for each in _NOT_REUSED})


def _name(column: Column[Any]) -> str:
    return f"last {column.table.name}"
