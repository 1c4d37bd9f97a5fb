"""SQL functions and value lists that differ between databases."""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    Text,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy import Dialect as SqlDialect
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

    Drivers return rows one by one and take the GIL for each, which a computing thread may hold for
    milliseconds.
    """

    inherit_cache = True
    type = JSON()


class HostOf(FunctionElement[str]):
    """Host part of a SURT."""

    inherit_cache = True
    type = Text()


class Now(FunctionElement[int]):
    """Current time of the server in milliseconds since 1970, not that of the transaction."""

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

    def bind_processor(self, dialect: SqlDialect) -> Callable[[Any], Any] | None:
        """Return the function that converts the parameter."""
        return WRITERS[dialect.name]


class ListedKeys(Listed):
    """Parameter type of a list of keys."""

    cache_ok = True

    def bind_processor(self, dialect: SqlDialect) -> Callable[[Any], Any] | None:
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
    """Return the condition that a column is one of a parameter's numbers."""
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
