"""SQLite's own words for what other engines say otherwise."""

import json
from typing import Any

from sqlalchemy import Join, Select, Subquery, Table
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from archiver.index.dialect import functions
from archiver.index.dialect.listed_values import WRITERS, IsAmong, Numbers, Texts
from archiver.index.dialect.sqlite_words import SqliteWords


class Sqlite:
    """How SQLite says it."""

    is_shared = False
    words = SqliteWords()
    with_own_entry = (
        "LEFT JOIN document ON document.id = found.document_id AND {0}"
        " LEFT JOIN entry AS own ON own.id = document.entry_id AND own.document_id = document.id"
    )

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Each of ``groups`` beside the rows of a table whose ids ``first`` finds for it."""
        return groups.outerjoin(table, table.c.id.in_(first.correlate(groups)))


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
