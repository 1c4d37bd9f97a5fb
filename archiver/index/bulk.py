"""Many rows at once.

A statement that is run for row after row hands Python's lock over at each of them, and a thread
that computes meanwhile keeps it for milliseconds. So rows go in as parts of one statement.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, Table, bindparam
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect import dialect_of, listed_values
from archiver.index.dialect.rows import Clash, OverRows, given, insertion, over

__all__ = ["Clash", "OverRows", "given", "over"]

THESE: Select[int] = listed_values.numbers(bindparam("these"))
"""``among`` of a statement that is made once: the numbers are its parameter ``these``.

To make a statement takes longer than to run it, where it is of the rows of one page.
"""


def is_one_of_these(column: ColumnElement[int]) -> ColumnElement[bool]:
    """``column.in_(THESE)``, in the word of an engine that finds rows of a small table so, too."""
    return listed_values.is_among(column, bindparam("these"))


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
    """Run a statement over rows."""
    for batch in dialect_of(conn).batches(statement, rows):
        await conn.exec_driver_sql(*batch)


async def scalars_of(
    conn: AsyncConnection, query: OverRows, rows: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """The values that a query gives over rows, one after the other; no NULL."""
    found: list[Any] = []
    for batch in dialect_of(conn).batches(query, rows):
        answer = await conn.exec_driver_sql(*batch)
        found += [value for row in answer for value in row if value is not None]
    return found


def among(values: Iterable[int]) -> Select[int]:
    """Many numbers as one parameter, for ``column.in_()``: a mark for each costs time to write."""
    return listed_values.numbers(values)


def among_texts(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """The same of texts; of a statement that is made once, the parameter that has them."""
    return listed_values.texts(values)


def among_keys(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """The same of keys (``dialect.keys``)."""
    return listed_values.keys(values)
