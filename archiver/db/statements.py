"""Statements over many rows or values."""

from collections.abc import AsyncIterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from operator import itemgetter
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    ColumnElement,
    Dialect,
    Executable,
    Insert,
    Table,
    UniqueConstraint,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.engine import Database
from archiver.db.schema import POSTGRESQL


class OnConflict(Enum):
    """What happens to a new row whose key exists."""

    FAIL = auto()
    """The statement fails."""
    KEEP = auto()
    """The existing row is kept."""
    REPLACE = auto()
    """The new row replaces it."""
    ADD = auto()
    """The new row's numbers are added to the existing ones."""
    MAX = auto()
    """The greater of both numbers is kept; further columns are of new rows only."""
    MIN = auto()
    """The lesser of both numbers is kept; further columns are of new rows only."""


async def insert_rows(
    conn: AsyncConnection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    taken: OnConflict = OnConflict.FAIL,
) -> None:
    """Insert rows whose values are in the order of ``columns``.

    The driver gets tuples: SQLAlchemy takes longer to prepare the named parameters of a row than
    SQLite takes to insert it.
    """
    if not rows:
        return
    text, places, processors = _compiled(table, tuple(columns), taken, conn.dialect)
    values = [*rows] if len(places) == 1 else [*map(itemgetter(*places), rows)]
    for at, process in processors:
        values = [(*row[:at], process(row[at]), *row[at + 1 :]) for row in values]
    await conn.exec_driver_sql(text, values)


async def execute_rows(
    conn: AsyncConnection,
    statement: Executable,
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Run a statement for each row; ``names`` are the parameter names of a row's values."""
    if rows:
        await conn.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])


@lru_cache(256)
def _compiled(
    table: Table, columns: tuple[str, ...], taken: OnConflict, dialect: Dialect
) -> tuple[str, list[int], list[tuple[int, Any]]]:
    """Return an INSERT as text, and how its parameters are made of a row.

    Returns:
        The text, the index in ``columns`` of each parameter, and by parameter the functions that
        convert values for this database.
    """
    statement = _insertion(table, columns, taken, dialect.name)
    compiled = statement.compile(dialect=dialect, column_keys=columns)
    names = compiled.positiontup or []
    processors = []
    for at, name in enumerate(names):
        if process := table.c[name].type.dialect_impl(dialect).bind_processor(dialect):
            processors.append((at, process))
    return str(compiled), [columns.index(name) for name in names], processors


def _insertion(table: Table, columns: tuple[str, ...], taken: OnConflict, dialect: str) -> Insert:
    module: Any = postgresql if dialect == POSTGRESQL else sqlite
    insert: postgresql.Insert = module.insert(table).inline()  # both dialects have the same methods
    if taken is OnConflict.FAIL:
        return insert
    if taken is OnConflict.KEEP:
        return insert.on_conflict_do_nothing()
    key = _key(table, columns)
    others = [name for name in columns if name not in key]
    first, new = others[0], insert.excluded
    changed: dict[str, Any]
    where: ColumnElement[bool] | None
    if taken is OnConflict.REPLACE:
        changed, where = {name: new[name] for name in others}, None
    elif taken is OnConflict.ADD:
        changed, where = {name: table.c[name] + new[name] for name in others}, None
    else:
        is_further = new[first] > table.c[first]
        if taken is OnConflict.MIN:
            is_further = new[first] < table.c[first]
        changed, where = {first: new[first]}, is_further
    return insert.on_conflict_do_update(index_elements=key, set_=changed, where=where)


def _key(table: Table, columns: Sequence[str]) -> list[str]:
    """The columns that identify an existing row."""
    keys = [[each.name for each in table.primary_key.columns]]
    unique = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    keys += [[each.name for each in one.columns] for one in unique]
    for key in keys:
        if key and set(key) <= set(columns):
            return key
    raise TypeError(f"{table.name} has no key among these columns")


MAX_BATCH = 1_000

_Each = TypeVar("_Each")


class _PageReader(Protocol[_Each]):
    """Function that returns a page of items after a number, and the last number."""

    async def __call__(
        self, conn: AsyncConnection, after: int, /, *, limit: int
    ) -> tuple[list[_Each], int]: ...


async def in_batches(
    db: Database, behind: _PageReader[_Each], *, most: int = MAX_BATCH
) -> AsyncIterator[list[_Each]]:
    """Iterate over all items in batches."""
    after = 0
    while True:
        async with db.read() as conn:
            found, after = await behind(conn, after, limit=most)
        if not found:
            return
        yield found
