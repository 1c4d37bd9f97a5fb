"""PostgreSQL's own words for what other engines say otherwise.

Rows go in as an array for each column: a handful of typed parameters, however many rows there are,
where VALUES would leave the type of a column of NULLs to be guessed.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    Join,
    Select,
    Subquery,
    Table,
    true,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from archiver.index.dialect import functions, listed_values
from archiver.index.dialect.keys import SHORTENED
from archiver.index.dialect.postgres_text import storable
from archiver.index.dialect.postgres_words import PostgresWords

NAME = "postgresql"
MOST_OF_KEY = 2_000
"""Bytes; with its other columns, a row of a tree may have 2,704."""
SHORTENED_TO = 1_900
PARTED = "\x02"
"""In no key."""


class Postgres:
    """How PostgreSQL says it."""

    is_shared = True
    words = PostgresWords()
    with_own_entry = (
        "LEFT JOIN LATERAL (SELECT entry.id, entry.added_at FROM document"
        " JOIN entry ON entry.id = document.entry_id AND entry.document_id = document.id"
        " WHERE document.id = found.document_id AND {0} LIMIT 1) AS own ON true"
    )
    """Without the limit, all documents there are may be read for those that are expected."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Each of ``groups`` beside the rows of a table whose ids ``first`` finds for it."""
        found = first.correlate(groups).lateral("found")
        return groups.outerjoin(found, true()).outerjoin(table, table.c.id == found.c.id)


def bounded(key: str | None) -> str | None:
    """A key that a row of a tree holds: of a long one the beginning, and its digest.

    The others that begin so may follow it in another order.
    """
    if key is None or len(key) <= MOST_OF_KEY // 4 or len(encoded := key.encode()) <= MOST_OF_KEY:
        return key
    beginning = encoded[:SHORTENED_TO].decode("utf-8", "ignore")
    return f"{beginning}{PARTED}{hashlib.sha256(encoded).hexdigest()}"


def _listed(values: Iterable[Any]) -> list[Any]:
    return [storable(each) if isinstance(each, str) else each for each in values]


def _write(element: type[FunctionElement[Any]], template: str) -> None:
    """Let PostgreSQL write a function like this; the first field is its arguments."""

    @compiles(element, NAME)
    def written(each: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
        return template.format(compiler.process(each.clauses, **more))


@compiles(listed_values.IsAmong, NAME)
def _is_among(each: listed_values.IsAmong, compiler: SQLCompiler, **more: Any) -> str:
    column, values = (compiler.process(one, **more) for one in each.clauses)
    return f"{column} = ANY(CAST({values} AS BIGINT[]))"


_write(listed_values.Numbers, "(SELECT unnest(CAST({} AS BIGINT[])) AS value)")
_write(listed_values.Texts, '(SELECT unnest(CAST({} AS TEXT[])) COLLATE "C" AS value)')
_write(functions.Greatest, "greatest({})")
_write(functions.KindOfFailure, "(CAST({} AS JSON) ->> 'kind')")
_write(functions.StatusOfFailure, "CAST(CAST({} AS JSON) ->> 'status' AS INTEGER)")
_write(functions.YearOf, "to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY')")
_write(functions.Gathered, "json_agg({})")
_write(functions.JsonRow, "CAST(json_build_array({}) AS TEXT)")
_write(functions.Now, "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT){}")
_write(functions.History, "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8){}")
_write(functions.HostOf, "split_part({}, ')', 1)")
listed_values.WRITERS[NAME] = _listed
SHORTENED[NAME] = bounded
