"""SQL that differs between SQLite and PostgreSQL.

List parameters are passed as one typed parameter, so the number of parameters does not depend on
the number of values.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from sqlalchemy import (
    JSON,
    BigInteger,
    BindParameter,
    ColumnElement,
    Dialect,
    Integer,
    Join,
    Select,
    Subquery,
    Table,
    Text,
    bindparam,
    cast,
    func,
    select,
    true,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeEngine, UserDefinedType

from archiver.db.schema import SHORTENED


def storable(text: str) -> str:
    r"""Encode U+0000, which PostgreSQL can't store; the sort order stays the same.

    U+0000 becomes ``\x01\x01``, and U+0001 ``\x01\x02``.
    """
    if "\0" in text or "\x01" in text:
        return text.replace("\x01", "\x01\x02").replace("\0", "\x01\x01")
    return text


def as_it_was(text: str) -> str:
    """Decode a text encoded by ``storable``."""
    if "\x01" in text:
        return text.replace("\x01\x01", "\0").replace("\x01\x02", "\x01")
    return text


class Greatest(FunctionElement[int]):
    """Greatest of several numbers, none of them NULL."""

    inherit_cache = True
    type = Integer()


class KindOfFailure(FunctionElement[str]):
    """Kind of a failure stored as JSON; NULL if there is none."""

    inherit_cache = True
    type = Text()


class StatusOfFailure(FunctionElement[int]):
    """Status of a failure stored as JSON; NULL if there is none."""

    inherit_cache = True
    type = Integer()


class YearOf(FunctionElement[str]):
    """Year of a Unix time (UTC), four digits."""

    inherit_cache = True
    type = Text()


class JsonRow(FunctionElement[str]):
    """Columns as the text of a JSON array."""

    inherit_cache = True
    type = Text()


class Gathered(FunctionElement[list[Any] | None]):
    """All values of a column as one list; NULL or empty if there are none.

    Drivers acquire the GIL for every row, and another thread may hold it for milliseconds. One row
    needs it once.
    """

    inherit_cache = True
    type = JSON()


class HostOf(FunctionElement[str]):
    """Host part of a SURT."""

    inherit_cache = True
    type = Text()


class Now(FunctionElement[int]):
    """Current time of the server in milliseconds since 1970, not the transaction's start time."""

    inherit_cache = True
    type = BigInteger()


class History(FunctionElement[str]):
    """Timeline of the server, which changes after a failover.

    Empty with SQLite.
    """

    inherit_cache = True
    type = Text()


def reason(failure: ColumnElement[Any]) -> ColumnElement[str]:
    """Return the short form of a failure: kind, a space, and status."""
    status = func.coalesce(cast(StatusOfFailure(failure), Text), "")
    return cast(KindOfFailure(failure), Text).concat(" ").concat(status)


WRITERS: dict[str, Callable[[Iterable[Any]], Any]] = {}
"""Functions that convert a list to one parameter, by dialect name."""


class Listed(UserDefinedType[Any]):
    """Parameter type of a list of numbers or texts."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return the function that converts the parameter."""
        return WRITERS[dialect.name]


class ListedKeys(Listed):
    """Parameter type of a list of keys."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return the function that converts the parameter."""
        write, shortened = WRITERS[dialect.name], SHORTENED.get(dialect.name)
        return write if shortened is None else lambda values: write(map(shortened, values))


class ListedNumbers(Listed):
    """Parameter type of a list of integers."""

    cache_ok = True


class ListedTexts(Listed):
    """Parameter type of a list of texts."""

    cache_ok = True


class Values(FunctionElement[Any]):
    """Values of a list as a table with the column ``value``."""

    inherit_cache = True


class Numbers(Values):
    """Integers."""

    inherit_cache = True


class Texts(Values):
    """Texts."""

    inherit_cache = True


class IsAmong(FunctionElement[Any]):
    """Condition: a column (first argument) is one of a list of numbers (second).

    Written as an operator of the database if it has one, instead of a subquery.
    """

    inherit_cache = True
    type = NullType()


def is_among(column: ColumnElement[int], values: BindParameter[Any]) -> IsAmong:
    """Return the condition that a column is in a list of numbers, given as a parameter."""
    return IsAmong(column, _bound(values, ListedNumbers()))


def numbers(values: "Iterable[int] | BindParameter[Any]") -> Select[int]:
    """Return numbers for ``column.in_()``."""
    return _select(Numbers(_bound(values, ListedNumbers())), Integer())


def texts(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """Return texts for ``column.in_()``."""
    return _select(Texts(_bound(values, ListedTexts())), Text())


def keys(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """Return keys for ``column.in_()`` of a ``Key`` column."""
    return _select(Texts(_bound(values, ListedKeys())), Text())


def _select(values: Values, kind: TypeEngine[Any]) -> Select[Any]:
    values.type = kind
    return select(values.table_valued("value").c.value)


def _bound(values: "Iterable[Any] | BindParameter[Any]", kind: Listed) -> BindParameter[Any]:
    if isinstance(values, BindParameter):
        return bindparam(values.key, type_=kind)
    return bindparam(None, [*values], type_=kind)


class SqlDialect(Protocol):
    """SQL that differs between databases.

    Attributes:
        is_shared: the index is used by processes that do not share files.
        with_own_entry: left join of ``found`` with the entry (``own``) whose current document the
            row is, for rows that meet the condition ``{0}``. It is written so that the planner
            looks up each row instead of scanning the table.
    """

    is_shared: bool
    with_own_entry: str

    def __hash__(self) -> int:
        """Return a hash, for caches by dialect."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Left join each row of ``groups`` with the rows of ``table`` that ``first`` selects.

        ``first`` is a correlated query: it refers to ``groups`` and returns ids of ``table``.
        """


class Sqlite:
    """SQLite."""

    is_shared = False
    with_own_entry = (
        "LEFT JOIN document ON document.id = found.document_id AND {0}"
        " LEFT JOIN entry AS own ON own.id = document.entry_id AND own.document_id = document.id"
    )

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Left join each row of ``groups`` with the rows of ``table`` that ``first`` selects."""
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
_register_sqlite(Greatest, "max({})")
_register_sqlite(KindOfFailure, "json_extract({}, '$.kind')")
_register_sqlite(StatusOfFailure, "json_extract({}, '$.status')")
_register_sqlite(YearOf, "strftime('%Y', {}, 'unixepoch')")
_register_sqlite(JsonRow, "json_array({})")
_register_sqlite(Gathered, "json_group_array({})")
_register_sqlite(Now, "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER){}")
_register_sqlite(History, "''{}")
_register_sqlite(HostOf, "substr({0}, 1, instr({0}, ')') - 1)")
WRITERS["sqlite"] = lambda values: json.dumps([*values])

NAME = "postgresql"
MAX_OF_KEY = 2_000
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
    """Without LIMIT, PostgreSQL may overestimate the rows and scan all documents."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Left join each row of ``groups`` with the rows of ``table`` that ``first`` selects."""
        found = first.correlate(groups).lateral("found")
        return groups.outerjoin(found, true()).outerjoin(table, table.c.id == found.c.id)


def bounded(key: str | None) -> str | None:
    """Shorten a key to fit into an index row: its start and its digest.

    Long keys with the same start may be sorted differently.
    """
    if key is None or len(key) <= MAX_OF_KEY // 4 or len(encoded := key.encode()) <= MAX_OF_KEY:
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


@compiles(IsAmong, NAME)
def _compile_is_among_postgresql(each: IsAmong, compiler: SQLCompiler, **more: Any) -> str:
    column, values = (compiler.process(one, **more) for one in each.clauses)
    return f"{column} = ANY(CAST({values} AS BIGINT[]))"


_register_postgresql(Numbers, "(SELECT unnest(CAST({} AS BIGINT[])) AS value)")
_register_postgresql(Texts, '(SELECT unnest(CAST({} AS TEXT[])) COLLATE "C" AS value)')
_register_postgresql(Greatest, "greatest({})")
_register_postgresql(KindOfFailure, "(CAST({} AS JSON) ->> 'kind')")
_register_postgresql(StatusOfFailure, "CAST(CAST({} AS JSON) ->> 'status' AS INTEGER)")
_register_postgresql(YearOf, "to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY')")
_register_postgresql(Gathered, "json_agg({})")
_register_postgresql(JsonRow, "CAST(json_build_array({}) AS TEXT)")
_register_postgresql(Now, "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT){}")
_register_postgresql(History, "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8){}")
_register_postgresql(HostOf, "split_part({}, ')', 1)")
WRITERS[NAME] = _listed
SHORTENED[NAME] = bounded

_SQLITE, _POSTGRES = Sqlite(), Postgres()


def dialect_of(conn: AsyncConnection) -> SqlDialect:
    """Return the dialect of a connection."""
    return _POSTGRES if conn.dialect.name == NAME else _SQLITE
