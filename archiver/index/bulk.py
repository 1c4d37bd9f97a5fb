"""Many rows at once: past SQLAlchemy's handling of each parameter, which is most of the cost."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncConnection


async def insert_rows(
    conn: AsyncConnection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows of plain values, in the order of ``columns``."""
    names = ", ".join(table.c[name].name for name in columns)
    marks = ", ".join("?" * len(columns))
    # Names are the schema's own; values are bound.
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608
    await conn.exec_driver_sql(statement, list(rows))


async def execute_rows(
    conn: AsyncConnection, statement: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Run a statement of SQLite's own once for each row of values."""
    if rows:
        await conn.exec_driver_sql(statement, list(rows))
