"""SQL that differs between SQLite and PostgreSQL.

List parameters are passed as one typed parameter, so the number of parameters does not depend on
the number of values.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Protocol

from sqlalchemy import Join, Select, Subquery, Table, true
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from archiver.db import sql_functions
from archiver.db.schema import SHORTENED
from archiver.db.sql_functions import WRITERS, IsAmong, Numbers, Texts, storable


class SqlDialect(Protocol):
    """SQL of a database that others write differently.

    Attributes:
        is_shared: the index is used by processes that do not share files.
        with_own_entry: joins each row of ``found`` for which ``{0}`` is true with the entry
            (``own``) whose current document it is, if any; row by row, even if the planner
            expects many rows.
    """

    is_shared: bool
    with_own_entry: str

    def __hash__(self) -> int:
        """Return a hash, for caches by dialect."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Join ``groups`` with the rows of ``table`` whose ids ``first`` selects for each.

        ``first`` refers to ``groups``. Groups without rows get NULL columns (LEFT JOIN).
        """


class Sqlite:
    """SQLite."""

    is_shared = False
    with_own_entry = (
        "LEFT JOIN document ON document.id = found.document_id AND {0}"
        " LEFT JOIN entry AS own ON own.id = document.entry_id AND own.document_id = document.id"
    )

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Join ``groups`` with the rows of ``table`` whose ids ``first`` selects for each."""
        return groups.outerjoin(table, table.c.id.in_(first.correlate(groups)))


def _register_sqlite(element: type[FunctionElement[Any]], template: str) -> None:
    """Register the SQLite form of a function; ``{}`` is replaced by its arguments."""

    @compiles(element, "sqlite")
    def written(each: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
        return template.format(compiler.process(each.clauses, **more))


_AMONG = "{} IN (SELECT value FROM json_each({}))"


@compiles(IsAmong, "sqlite")
def _compile_is_among_sqlite(each: IsAmong, compiler: SQLCompiler, **more: Any) -> str:
    return _AMONG.format(*(compiler.process(one, **more) for one in each.clauses))


_register_sqlite(Numbers, "json_each({})")
_register_sqlite(Texts, "json_each({})")
_register_sqlite(sql_functions.Greatest, "max({})")
_register_sqlite(sql_functions.KindOfFailure, "json_extract({}, '$.kind')")
_register_sqlite(sql_functions.StatusOfFailure, "json_extract({}, '$.status')")
_register_sqlite(sql_functions.YearOf, "strftime('%Y', {}, 'unixepoch')")
_register_sqlite(sql_functions.JsonRow, "json_array({})")
_register_sqlite(sql_functions.Gathered, "json_group_array({})")
_register_sqlite(sql_functions.Now, "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER){}")
_register_sqlite(sql_functions.History, "''{}")
_register_sqlite(sql_functions.HostOf, "substr({0}, 1, instr({0}, ')') - 1)")
WRITERS["sqlite"] = lambda values: json.dumps([*values])

NAME = "postgresql"
MOST_OF_KEY = 2_000
"""Maximum key size in bytes; an index row of PostgreSQL may have 2,704 with all columns."""
SHORTENED_TO = 1_900
PARTED = "\x02"
"""Separator that no key contains."""


class Postgres:
    """PostgreSQL."""

    is_shared = True
    with_own_entry = (
        "LEFT JOIN LATERAL (SELECT entry.id, entry.added_at FROM document"
        " JOIN entry ON entry.id = document.entry_id AND entry.document_id = document.id"
        " WHERE document.id = found.document_id AND {0} LIMIT 1) AS own ON true"
    )
    """The limit keeps PostgreSQL from reading all documents after a wrong estimate."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Join ``groups`` with the rows of ``table`` whose ids ``first`` selects for each."""
        found = first.correlate(groups).lateral("found")
        return groups.outerjoin(found, true()).outerjoin(table, table.c.id == found.c.id)


def bounded(key: str | None) -> str | None:
    """Shorten a key to fit into an index row: its start and its digest.

    Long keys with the same start may be sorted differently.
    """
    if key is None or len(key) <= MOST_OF_KEY // 4 or len(encoded := key.encode()) <= MOST_OF_KEY:
        return key
    beginning = encoded[:SHORTENED_TO].decode("utf-8", "ignore")
    return f"{beginning}{PARTED}{hashlib.sha256(encoded).hexdigest()}"


def _listed(values: Iterable[Any]) -> list[Any]:
    return [storable(each) if isinstance(each, str) else each for each in values]


def _register_postgresql(element: type[FunctionElement[Any]], template: str) -> None:
    """Register the PostgreSQL form of a function; ``{}`` is replaced by its arguments."""

    @compiles(element, NAME)
    def written(each: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
        return template.format(compiler.process(each.clauses, **more))


@compiles(sql_functions.IsAmong, NAME)
def _compile_is_among_postgresql(
    each: sql_functions.IsAmong, compiler: SQLCompiler, **more: Any
) -> str:
    column, values = (compiler.process(one, **more) for one in each.clauses)
    return f"{column} = ANY(CAST({values} AS BIGINT[]))"


_register_postgresql(sql_functions.Numbers, "(SELECT unnest(CAST({} AS BIGINT[])) AS value)")
_register_postgresql(
    sql_functions.Texts, '(SELECT unnest(CAST({} AS TEXT[])) COLLATE "C" AS value)'
)
_register_postgresql(sql_functions.Greatest, "greatest({})")
_register_postgresql(sql_functions.KindOfFailure, "(CAST({} AS JSON) ->> 'kind')")
_register_postgresql(
    sql_functions.StatusOfFailure, "CAST(CAST({} AS JSON) ->> 'status' AS INTEGER)"
)
_register_postgresql(sql_functions.YearOf, "to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY')")
_register_postgresql(sql_functions.Gathered, "json_agg({})")
_register_postgresql(sql_functions.JsonRow, "CAST(json_build_array({}) AS TEXT)")
_register_postgresql(
    sql_functions.Now, "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT){}"
)
_register_postgresql(
    sql_functions.History, "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8){}"
)
_register_postgresql(sql_functions.HostOf, "split_part({}, ')', 1)")
sql_functions.WRITERS[NAME] = _listed
SHORTENED[NAME] = bounded

_SQLITE, _POSTGRES = Sqlite(), Postgres()


def dialect_of(conn: AsyncConnection) -> SqlDialect:
    """Return the dialect of a connection."""
    return _POSTGRES if conn.dialect.name == NAME else _SQLITE
