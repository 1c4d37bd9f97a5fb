"""Statements over many rows, and lists of values as one parameter."""

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    Insert,
    Select,
    Table,
    UniqueConstraint,
    bindparam,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect import listed_values

THESE: Select[int] = listed_values.numbers(bindparam("these"))
"""``among`` in a statement that is built once: the numbers are its parameter ``these``."""


class Clash(Enum):
    """What happens to a new row whose key exists."""

    FAILS = auto()
    """The statement fails."""
    STAYS = auto()
    """The existing row is kept."""
    GOES = auto()
    """The new row replaces it."""
    ADDS = auto()
    """The new row's numbers are added to the existing ones."""
    RISES = auto()
    """The greater of both numbers is kept; further columns are of new rows only."""
    SINKS = auto()
    """The lesser of both numbers is kept; further columns are of new rows only."""


async def insert_rows(
    conn: AsyncConnection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    taken: Clash = Clash.FAILS,
) -> None:
    """Insert rows whose values are in the order of ``columns``."""
    statement = _insertion(table, tuple(columns), taken, conn.dialect.name)
    await execute_rows(conn, statement, columns, rows)


async def execute_rows(
    conn: AsyncConnection,
    statement: Executable,
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Run a statement for each row; ``names`` are the parameters that a row's values are."""
    if rows:
        await conn.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])


@cache
def _insertion(table: Table, columns: tuple[str, ...], taken: Clash, dialect: str) -> Insert:
    module: Any = postgresql if dialect == "postgresql" else sqlite
    insert: postgresql.Insert = module.insert(table).inline()  # both have the same methods
    if taken is Clash.FAILS:
        return insert
    if taken is Clash.STAYS:
        return insert.on_conflict_do_nothing()
    key = _key(table, columns)
    others = [name for name in columns if name not in key]
    first, new = others[0], insert.excluded
    changed: dict[str, Any]
    where: ColumnElement[bool] | None
    if taken is Clash.GOES:
        changed, where = {name: new[name] for name in others}, None
    elif taken is Clash.ADDS:
        changed, where = {name: table.c[name] + new[name] for name in others}, None
    else:
        is_further = new[first] > table.c[first]
        if taken is Clash.SINKS:
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


def is_one_of_these(column: ColumnElement[int]) -> ColumnElement[bool]:
    """``column.in_(THESE)``, in the word of an engine that finds rows of a small table so, too."""
    return listed_values.is_among(column, bindparam("these"))


def among(values: Iterable[int]) -> Select[int]:
    """Many numbers as one parameter, for ``column.in_()``."""
    return listed_values.numbers(values)


def among_texts(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """The same of texts; of a statement that is built once, the parameter that has them."""
    return listed_values.texts(values)


def among_keys(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """The same of keys (``dialect.keys``)."""
    return listed_values.keys(values)
