"""Many rows at once.

A statement that is run for row after row hands Python's lock over at each of them, and a thread
that computes meanwhile keeps it for milliseconds. So rows go in as parts of one statement.
"""

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any

from sqlalchemy import Select, Table, bindparam

from archiver.index.connection import AsyncConnection
from archiver.index.dialect import lists
from archiver.index.dialect.rows import Clash, OverRows, given, insertion, over

__all__ = ["Clash", "OverRows", "given", "over"]

THESE: Select[int] = lists.numbers(bindparam("these"))
"""``among`` of a statement that is made once: the numbers are its parameter ``these``.

To make a statement takes longer than to run it, where it is of the rows of one page.
"""


async def insert_rows(
    conn: AsyncConnection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    taken: Clash = Clash.FAILS,
) -> None:
    """Insert rows of plain values, in the order of ``columns``."""
    await execute_rows(conn, insertion(table, tuple(columns), taken), rows)


async def execute_rows(
    conn: AsyncConnection, statement: OverRows, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Run a statement over rows.

    A stretch of rows is put together while the engine is at the one before, and begun once that
    went well: after some failures SQLite has ended the transaction, and what is run then stays.
    """
    under_way: Awaitable[object] | None = None
    for following in conn.dialect.batches(statement, rows):
        if under_way:
            await under_way
        under_way = conn.exec_driver_sql(*following)
    if under_way:
        await under_way


async def scalars_of(
    conn: AsyncConnection, query: OverRows, rows: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """The values that a query of one column gives over rows; no NULL."""
    found: list[Any] = []
    for batch in conn.dialect.batches(query, rows):
        answer = await conn.exec_driver_sql(*batch)
        found += [value for (value,) in answer if value is not None]
    return found


def among(values: Iterable[int]) -> Select[int]:
    """Many numbers as one parameter, for ``column.in_()``: a mark for each costs time to write."""
    return lists.numbers(values)


def among_texts(values: Iterable[str]) -> Select[str]:
    """The same of texts."""
    return lists.texts(values)


def among_keys(values: Iterable[str]) -> Select[str]:
    """The same of keys (``dialect.keys``)."""
    return lists.keys(values)
