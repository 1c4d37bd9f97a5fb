"""Statements for many rows, and reading of tables in batches."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence, Sized
from enum import Enum, auto
from functools import lru_cache
from itertools import repeat
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Dialect, Insert, Table, UniqueConstraint, UpdateBase
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.engine import Database
from archiver.db.schema import POSTGRESQL


class OnConflict(Enum):
    """Handling of a new row whose key exists already."""

    FAIL = auto()
    """The statement fails."""
    KEEP = auto()
    """The existing row stays, the new one is skipped."""
    REPLACE = auto()
    """The new row replaces the existing one."""
    ADD = auto()
    """The new row's numbers are added to the existing ones."""
    MAX = auto()
    """The first column becomes the greater of both values; other columns stay."""
    MIN = auto()
    """The first column becomes the smaller of both values; other columns stay."""


async def insert_rows(
    conn: AsyncConnection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    on_conflict: OnConflict = OnConflict.FAIL,
) -> None:
    """Insert rows, given as values by column; all rows have the same columns."""
    if rows:
        statement = _insertion(table, tuple(rows[0]), on_conflict, conn.dialect.name)
        await execute_rows(conn, statement, rows)


async def execute_rows(
    conn: AsyncConnection, statement: UpdateBase, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Run a statement for each row of parameters; all rows have the same names.

    The rows go to the driver as tuples, because SQLAlchemy takes longer to prepare the named
    parameters of a row than SQLite takes to insert it. The compiled statement is cached, so
    ``statement`` must be a constant.
    """
    if not rows:
        return
    text, parameters = _compiled(statement, tuple(rows[0]), conn.dialect)
    columns = []
    for name, constant, convert in parameters:
        is_given = name in rows[0]
        values = map(itemgetter(name), rows) if is_given else repeat(constant, len(rows))
        columns.append(map(convert, values) if convert else values)
    await conn.exec_driver_sql(text, [*zip(*columns, strict=True)])


@lru_cache(256)
def _compiled(
    statement: UpdateBase, names: tuple[str, ...], dialect: Dialect
) -> tuple[str, list[tuple[str, Any, Callable[[Any], Any] | None]]]:
    """Compile a statement.

    Returns:
        The SQL; for each of its parameters, the name, the value if the statement sets it, and the
        function that converts the value if this database needs it converted.
    """
    compiled = statement.compile(dialect=dialect, column_keys=names)
    binds = [(name, compiled.binds[name]) for name in compiled.positiontup or ()]
    return str(compiled), [
        (name, bind.value, bind.type.dialect_impl(dialect).bind_processor(dialect))
        for name, bind in binds
    ]


@lru_cache(256)
def _insertion(
    table: Table, columns: tuple[str, ...], on_conflict: OnConflict, dialect: str
) -> Insert:
    module: Any = postgresql if dialect == POSTGRESQL else sqlite
    insert: postgresql.Insert = module.insert(table).inline()  # both dialects have the same methods
    if on_conflict is OnConflict.FAIL:
        return insert
    if on_conflict is OnConflict.KEEP:
        return insert.on_conflict_do_nothing()
    key = _key(table, columns)
    remaining = [name for name in columns if name not in key]
    first, new = remaining[0], insert.excluded
    changed: dict[str, Any]
    where: ColumnElement[bool] | None
    if on_conflict is OnConflict.REPLACE:
        changed, where = {name: new[name] for name in remaining}, None
    elif on_conflict is OnConflict.ADD:
        changed, where = {name: table.c[name] + new[name] for name in remaining}, None
    else:
        is_further = new[first] > table.c[first]
        if on_conflict is OnConflict.MIN:
            is_further = new[first] < table.c[first]
        changed, where = {first: new[first]}, is_further
    return insert.on_conflict_do_update(index_elements=key, set_=changed, where=where)


def _key(table: Table, columns: Sequence[str]) -> list[str]:
    """Return the columns of a primary key or unique constraint that ``columns`` contains."""
    keys = [[each.name for each in table.primary_key.columns]]
    unique = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    keys += [[each.name for each in one.columns] for one in unique]
    for key in keys:
        if key and set(key) <= set(columns):
            return key
    raise TypeError(f"{table.name} has no key among these columns")


MAX_BATCH = 1_000

_Batch = TypeVar("_Batch", bound=Sized)


async def in_batches(
    db: Database,
    read_after: Callable[..., Awaitable[tuple[_Batch, Any]]],
    *,
    after: object = 0,
    most: int = MAX_BATCH,
) -> AsyncIterator[_Batch]:
    """Yield all items in batches of at most ``most``, each read in its own transaction.

    ``read_after`` gets a connection, a position and a ``limit``. It returns the items after that
    position, and the position of the last item. ``after`` is the first position.
    """
    while True:
        async with db.read() as conn:
            batch, after = await read_after(conn, after, limit=most)
        if not batch:
            return
        yield batch
