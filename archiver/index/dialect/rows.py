"""Statements over many rows of plain values, in whatever way an engine takes these."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from sqlalchemy import CTE, ClauseElement, ColumnElement, Table, UniqueConstraint, text

MARK = "{rows}"
"""Stands for the rows in what a statement is compiled to."""


class Clash(Enum):
    """What becomes of a row whose key is taken, as an upsert says it."""

    FAILS = ""
    STAYS = "DO NOTHING"
    """The row that is there stays as it is."""
    GOES = "DO UPDATE SET {name} = excluded.{name}"
    """The new one takes its place."""
    ADDS = "DO UPDATE SET {name} = {table}.{name} + excluded.{name}"
    """Its numbers are added to those that are there."""
    RISES = "DO UPDATE SET {name} = excluded.{name} WHERE excluded.{name} > {table}.{name}"
    """The greater of two numbers stays; columns behind it are of new rows alone."""
    SINKS = "DO UPDATE SET {name} = excluded.{name} WHERE excluded.{name} < {table}.{name}"
    """The lesser of two numbers stays, in the same way."""


@dataclass(frozen=True, eq=False)
class OverRows:
    """A statement over rows.

    Attributes:
        statement: has ``MARK`` where the rows go, and no other parameter.
        columns: of the rows, as they are typed.
        key: the places in a row of what no two rows may share, where that matters.
    """

    statement: ClauseElement
    columns: Iterable[ColumnElement[Any]]
    key: tuple[int, ...] = ()


def given(name: str, *columns: ColumnElement[Any]) -> CTE:
    """The rows of a statement, as a table of that name; they are typed as these columns are."""
    rows = text(MARK).columns(*columns)
    rows.name_cte_columns = True
    return rows.cte(name)


def over(rows: CTE, statement: ClauseElement) -> OverRows:
    """A statement that reads what ``given`` made."""
    return OverRows(statement, rows.c)


@cache
def insertion(table: Table, names: tuple[str, ...], taken: Clash) -> OverRows:
    """Puts rows into a table; ``names`` are its columns, in the order of the rows' values."""
    columns = tuple(table.c[name] for name in names)
    listed = ", ".join(f'"{each.name}"' for each in columns)
    # Names are the schema's own.
    statement = f'INSERT INTO "{table.name}" ({listed}) {MARK}'
    if taken in (Clash.FAILS, Clash.STAYS):
        conflict = f" ON CONFLICT {taken.value}" if taken is Clash.STAYS else ""
        return OverRows(text(statement + conflict), columns)
    key = _key(table, columns)
    others = [f'"{each.name}"' for each in columns if each not in key]
    if taken in (Clash.RISES, Clash.SINKS):
        others = others[:1]
    first, *more = (taken.value.format(table=f'"{table.name}"', name=each) for each in others)
    sets = ", ".join([first, *(each.removeprefix("DO UPDATE SET ") for each in more)])
    on = ", ".join(f'"{each.name}"' for each in key)
    statement = f"{statement} ON CONFLICT ({on}) {sets}"
    return OverRows(text(statement), columns, tuple(columns.index(each) for each in key))


def _key(table: Table, columns: Sequence[ColumnElement[Any]]) -> Sequence[ColumnElement[Any]]:
    """The columns by which a row is known to be there."""
    keys = [[*table.primary_key.columns]]
    keys += [[*each.columns] for each in table.constraints if isinstance(each, UniqueConstraint)]
    for key in keys:
        if all(any(each is column for column in columns) for each in key):
            return key
    raise TypeError(f"{table.name} has no key among these columns")
