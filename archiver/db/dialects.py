"""SQL that differs between SQLite and PostgreSQL.

Rows go in as an array for each column: a handful of typed parameters, however many rows there are,
where VALUES would leave the type of a column of NULLs to be guessed.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from sqlalchemy import ColumnClause, Join, Select, Subquery, Table, true
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from archiver.db import sql_functions
from archiver.db.full_text import PostgresWords, SqliteWords
from archiver.db.schema import SHORTENED
from archiver.db.sql_functions import WRITERS, IsAmong, Numbers, Texts, storable
from archiver.model.listing import SearchDocument

Words = tuple[str | bytes, ...]
"""A document as its row in an index of words has it."""


class WordIndex(Protocol):
    """How one engine keeps the words of documents, in tables of so many each, and finds them.

    ``matching`` writes what it is asked. In what follows, ``{0}`` is the name of such a table.

    Attributes:
        matches: whether a document of it matches the expression ``:match``.
        knows_places: whether it is told where words stand without reading the documents that have
            them.
        at_first: in so many parts words are looked for, before it is in all others, where a
            statement costs what it might do; None where it costs what it does.
        among: selects which documents (``id``) match, of the stretch from ``:first{1}`` to
            ``:last{1}``, or of ``:wanted{1}`` alone, where it is dear to look at each.
        chosen: selects which of the documents ``:wanted{1}`` match.
        vocabulary: selects its words (``term``) and how many documents have each (``doc``); empty
            where none are counted, and scores of all parts are alike.
        tried: selects which of the words ``:tried`` are there, as ``vocabulary`` does; empty where
            that does.
        columns: of a document, besides its ``rowid``.
        merge: puts pieces of it together, as far as so many ``:pages``, or all of them where that
            is little; empty where none lie apart.
        changes: selects how often a connection has changed something.
        pages: selects how many pages of it the words between ``:first`` and ``:beyond`` take; empty
            where that can't be told.
        longest: selects the ``:most`` words (``term``) between ``:first`` and ``:beyond`` that take
            most room in it, but for ``:known`` of them; empty where ``pages`` is.
    """

    def __hash__(self) -> int:
        """One of an engine is told from another's."""

    @property
    def matches(self) -> str:
        """Whether a document matches."""

    @property
    def knows_places(self) -> bool:
        """Whether a phrase is found without reading documents."""

    @property
    def at_first(self) -> int | None:
        """In how many parts words are looked for at first."""

    @property
    def among(self) -> str:
        """Which of some documents match."""

    @property
    def chosen(self) -> str:
        """Which of a few documents match."""

    @property
    def vocabulary(self) -> str:
        """Which words there are."""

    @property
    def tried(self) -> str:
        """Which of some words there are."""

    @property
    def merge(self) -> str:
        """Puts pieces together."""

    @property
    def changes(self) -> str:
        """How much was changed."""

    @property
    def pages(self) -> str:
        """How much a beginning of words costs."""

    @property
    def longest(self) -> str:
        """Which words that begin so are the most frequent."""

    @property
    def columns(self) -> tuple[ColumnClause[Any], ...]:
        """What is kept of a document."""

    def ddl(self, part: int) -> tuple[str, ...]:
        """How the table of a part is made."""

    def row(self, found_by: SearchDocument) -> Words:
        """A document as values of ``columns``."""

    def score(self, weights: Mapping[str, float]) -> str:
        """How good a document is, by how much a word in a column counts."""


class SqlDialect(Protocol):
    """How one engine says what others say otherwise.

    Attributes:
        is_shared: whether its indices are used by processes that see no file of each other's.
        with_own_entry: joins each row of ``found`` of which ``{0}`` is true with the entry
            (``own``) whose newest document it is, if there is one: one by one, however many rows
            are expected.
    """

    is_shared: bool
    with_own_entry: str

    def __hash__(self) -> int:
        """One of an engine is told from another's."""

    @property
    def words(self) -> WordIndex:
        """Its index of words."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Each of ``groups`` beside the rows of a table whose ids ``first`` finds for it.

        ``first`` speaks of ``groups``; one for which it finds none stands beside NULL.
        """


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
_write(sql_functions.Greatest, "max({})")
_write(sql_functions.KindOfFailure, "json_extract({}, '$.kind')")
_write(sql_functions.StatusOfFailure, "json_extract({}, '$.status')")
_write(sql_functions.YearOf, "strftime('%Y', {}, 'unixepoch')")
_write(sql_functions.JsonRow, "json_array({})")
_write(sql_functions.Gathered, "json_group_array({})")
_write(sql_functions.Now, "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER){}")
_write(sql_functions.History, "''{}")
_write(sql_functions.HostOf, "substr({0}, 1, instr({0}, ')') - 1)")
WRITERS["sqlite"] = lambda values: json.dumps([*values])

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


def _write_postgres(element: type[FunctionElement[Any]], template: str) -> None:
    """Let PostgreSQL write a function like this; the first field is its arguments."""

    @compiles(element, NAME)
    def written(each: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
        return template.format(compiler.process(each.clauses, **more))


@compiles(sql_functions.IsAmong, NAME)
def _is_among_postgres(each: sql_functions.IsAmong, compiler: SQLCompiler, **more: Any) -> str:
    column, values = (compiler.process(one, **more) for one in each.clauses)
    return f"{column} = ANY(CAST({values} AS BIGINT[]))"


_write_postgres(sql_functions.Numbers, "(SELECT unnest(CAST({} AS BIGINT[])) AS value)")
_write_postgres(sql_functions.Texts, '(SELECT unnest(CAST({} AS TEXT[])) COLLATE "C" AS value)')
_write_postgres(sql_functions.Greatest, "greatest({})")
_write_postgres(sql_functions.KindOfFailure, "(CAST({} AS JSON) ->> 'kind')")
_write_postgres(sql_functions.StatusOfFailure, "CAST(CAST({} AS JSON) ->> 'status' AS INTEGER)")
_write_postgres(sql_functions.YearOf, "to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY')")
_write_postgres(sql_functions.Gathered, "json_agg({})")
_write_postgres(sql_functions.JsonRow, "CAST(json_build_array({}) AS TEXT)")
_write_postgres(sql_functions.Now, "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT){}")
_write_postgres(sql_functions.History, "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8){}")
_write_postgres(sql_functions.HostOf, "split_part({}, ')', 1)")
sql_functions.WRITERS[NAME] = _listed
SHORTENED[NAME] = bounded

_SQLITE, _POSTGRES = Sqlite(), Postgres()


def dialect_of(conn: AsyncConnection) -> SqlDialect:
    """Return what differs for the database of a connection."""
    return dialect_named(conn.dialect.name)


def dialect_named(name: str) -> SqlDialect:
    """Return what differs for a database, by SQLAlchemy's name of it."""
    return _POSTGRES if name == "postgresql" else _SQLITE
