"""Many rows at once.

A statement that is run for row after row hands Python's lock over at each of them, and a thread
that computes meanwhile keeps it for milliseconds. So rows go in as one statement's VALUES.
"""

import json
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import Select, Table, func, select

from archiver.index.connection import AsyncConnection

_T = TypeVar("_T")

MOST_VALUES = 8000
"""Of one statement; SQLite takes 32,766."""


async def insert_rows(
    conn: AsyncConnection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows of plain values, in the order of ``columns``."""
    names = ", ".join(table.c[name].name for name in columns)
    # Names are the schema's own; values are bound.
    await execute_rows(conn, f'INSERT INTO "{table.name}" ({names}) {{rows}}', rows)


async def execute_rows(
    conn: AsyncConnection, statement: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Run a statement of SQLite's own over rows; ``{rows}`` in it stands for their VALUES.

    As a table their columns are called column1, column2, and so on. A stretch of rows is put
    together while SQLite is at the one before, and begun once that went well: after some failures
    SQLite has ended the transaction, and what is run then stays.
    """
    under_way: Awaitable[object] | None = None
    for some in stretches(rows, width=len(rows[0]) if rows else 1):
        following = _over(statement, some)
        if under_way:
            await under_way
        under_way = conn.exec_driver_sql(*following)
    if under_way:
        await under_way


async def scalars_of(
    conn: AsyncConnection, query: str, rows: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """The values that a query of one column gives over rows, as for ``execute_rows``; no NULL."""
    found: list[Any] = []
    for some in stretches(rows, width=len(rows[0]) if rows else 1):
        answer = await conn.exec_driver_sql(*_over(query, some))
        found += [value for (value,) in answer if value is not None]
    return found


def among(values: Iterable[int | str]) -> Select[Any]:
    """Many values as one parameter, for ``column.in_()``: a mark for each costs time to write."""
    return select(func.json_each(json.dumps([*values])).table_valued("value").c.value)


def stretches(values: Sequence[_T], *, width: int) -> Iterator[Sequence[_T]]:
    """Stretches of 1, 2, 4, 8 … rows of so many values, each short enough for one statement.

    A driver keeps what it prepared for each number of rows: with any number, each batch's last
    stretch was prepared anew, and 128 statements, large ones, were kept by each connection.
    """
    start, most = 0, (MOST_VALUES // width).bit_length()
    while start < len(values):
        size = 1 << min((len(values) - start).bit_length(), most) - 1
        yield values[start : start + size]
        start += size


def _over(statement: str, rows: Sequence[tuple[Any, ...]]) -> tuple[str, tuple[Any, ...]]:
    mark = f"({', '.join('?' * len(rows[0]))})"
    values = f"VALUES {', '.join([mark] * len(rows))}"
    return statement.replace("{rows}", values), tuple(chain.from_iterable(rows))
