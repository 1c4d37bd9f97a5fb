"""Counters and row ids.

A lease, a form or another process may still hold the number of a row that was thrown away; it must
not mean another one by then.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import capture_table, counter, document, entry_table, job, snapshot_table
from archiver.db.statements import Clash, insert_rows

ENTRIES = "entries"
SNAPSHOTS = "snapshots"
QUEUED = "queued"
FETCHING = "fetching"
SAVED = "saved"
FAILED = "failed"
_COLUMNS = ("name", "value")


async def change(conn: AsyncConnection, by: Mapping[str, int]) -> None:
    """Add to each named counter."""
    rows = sorted((name, value) for name, value in by.items() if value)
    await insert_rows(conn, counter, _COLUMNS, rows, Clash.ADDS)


async def put(conn: AsyncConnection, values: Mapping[str, int]) -> None:
    """Set each named counter."""
    await insert_rows(conn, counter, _COLUMNS, sorted(values.items()), Clash.GOES)


async def all_counters(conn: AsyncConnection) -> dict[str, int]:
    """Every counter by name; one that never changed is missing."""
    rows = await conn.execute(select(counter.c.name, counter.c.value))
    return dict(rows.all())


_KEPT = (entry_table.c.id, snapshot_table.c.id, capture_table.c.id, document.c.id, job.c.id)


async def next_number(conn: AsyncConnection, column: Column[Any]) -> int:
    """The number of the next new row, by the primary key of its table."""
    last = select(func.max(column)).scalar_subquery()
    mark = select(counter.c.value).where(counter.c.name == _name(column)).scalar_subquery()
    found = (await conn.execute(select(last, mark))).one()
    return max(found[0] or 0, found[1] or 0) + 1


async def keep_numbers(conn: AsyncConnection) -> None:
    """Note which numbers were given, before rows go."""
    await put(conn, {_name(each): await next_number(conn, each) - 1 for each in _KEPT})


def _name(column: Column[Any]) -> str:
    return f"last {column.table.name}"
