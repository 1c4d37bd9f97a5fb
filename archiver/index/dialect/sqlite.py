"""SQLite's own words for what other engines say otherwise."""

import json
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import Join, Select, Subquery, Table
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from archiver.index.dialect import functions
from archiver.index.dialect.listed_values import WRITERS, IsAmong, Numbers, Texts
from archiver.index.dialect.rows import MARK, OverRows
from archiver.index.dialect.sqlite_words import SqliteWords

_T = TypeVar("_T")

MOST_VALUES = 8000
"""Of one statement; SQLite takes 32,766."""
MOST_TEXTS = 64
"""Of statements that are kept: some ten kilobytes each."""


class Sqlite:
    """How SQLite says it."""

    is_shared = False
    words = SqliteWords()
    numbers = "SELECT value FROM json_each({0})"
    empties = "DELETE FROM {}"
    with_own_entry = (
        "LEFT JOIN document ON document.id = found.document_id AND {0}"
        " LEFT JOIN entry AS own ON own.id = document.entry_id AND own.document_id = document.id"
    )

    def batches(
        self, statement: OverRows, rows: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """A statement over stretches of rows, as VALUES."""
        width = len(rows[0]) if rows else 1
        for some in stretches(rows, width=width):
            yield _written_for(statement, len(some), width), tuple(chain.from_iterable(some))

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Each of ``groups`` beside the rows of a table whose ids ``first`` finds for it."""
        return groups.outerjoin(table, table.c.id.in_(first.correlate(groups)))


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


@cache
def _written(statement: OverRows) -> str:
    compiled = statement.statement.compile(
        dialect=dialect(), compile_kwargs={"literal_binds": True}
    )
    return str(compiled)


@lru_cache(MOST_TEXTS)
def _written_for(statement: OverRows, rows: int, width: int) -> str:
    """The statement over so many rows of so many values."""
    mark = f"({', '.join('?' * width)})"
    return _written(statement).replace(MARK, f"VALUES {', '.join([mark] * rows)}")


def _write(element: type[FunctionElement[Any]], template: str) -> None:
    """Let SQLite write a function like this; the first field is its arguments."""

    @compiles(element, "sqlite")
    def written(each: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
        return template.format(compiler.process(each.clauses, **more))


_AMONG = "{} IN (SELECT value FROM json_each({}))"


@compiles(IsAmong, "sqlite")
def _is_among(each: IsAmong, compiler: SQLCompiler, **more: Any) -> str:
    return _AMONG.format(*(compiler.process(one, **more) for one in each.clauses))


_write(Numbers, "json_each({})")
_write(Texts, "json_each({})")
_write(functions.Greatest, "max({})")
_write(functions.KindOfFailure, "json_extract({}, '$.kind')")
_write(functions.StatusOfFailure, "json_extract({}, '$.status')")
_write(functions.YearOf, "strftime('%Y', {}, 'unixepoch')")
_write(functions.JsonRow, "json_array({})")
_write(functions.Gathered, "json_group_array({})")
_write(functions.Now, "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER){}")
_write(functions.History, "''{}")
_write(functions.HostOf, "substr({0}, 1, instr({0}, ')') - 1)")
WRITERS["sqlite"] = lambda values: json.dumps([*values])
