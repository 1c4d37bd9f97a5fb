"""Row numbers that are given once: also after the rows that had the greatest are gone.

A lease, a form or another process may still hold the number of a row that was thrown away; it must
not mean another one by then.
"""

from typing import Any

from sqlalchemy import Column, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import counters
from archiver.index.schema import capture_table, counter, document, entry_table, job, snapshot_table

_KEPT = (entry_table.c.id, snapshot_table.c.id, capture_table.c.id, document.c.id, job.c.id)


async def next_number(conn: AsyncConnection, column: Column[Any]) -> int:
    """The number of the next new row, by the primary key of its table."""
    last = select(func.max(column)).scalar_subquery()
    mark = select(counter.c.value).where(counter.c.name == _name(column)).scalar_subquery()
    found = (await conn.execute(select(last, mark))).one()
    return max(found[0] or 0, found[1] or 0) + 1


async def keep_numbers(conn: AsyncConnection) -> None:
    """Note which numbers were given, before rows go."""
    await counters.put(conn, {_name(each): await next_number(conn, each) - 1 for each in _KEPT})


def _name(column: Column[Any]) -> str:
    return f"last {column.table.name}"
