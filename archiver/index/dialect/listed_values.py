"""Many values as one parameter: a mark for each costs time to write."""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Integer, Select, Text, bindparam, select
from sqlalchemy import Dialect as SqlDialect
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeEngine, UserDefinedType

from archiver.index.dialect.keys import SHORTENED

WRITERS: dict[str, Callable[[Iterable[Any]], Any]] = {}
"""How an engine, by the name of its dialect, takes a list as one parameter."""


class Listed(UserDefinedType[Any]):
    """A list of numbers or texts, as a parameter."""

    cache_ok = True

    def bind_processor(self, dialect: SqlDialect) -> Callable[[Any], Any] | None:
        """What writes the parameter."""
        return WRITERS[dialect.name]


class ListedKeys(Listed):
    """A list of keys."""

    cache_ok = True

    def bind_processor(self, dialect: SqlDialect) -> Callable[[Any], Any] | None:
        """What writes the parameter."""
        write, shortened = WRITERS[dialect.name], SHORTENED.get(dialect.name)
        return write if shortened is None else lambda values: write(map(shortened, values))


class ListedNumbers(Listed):
    """A list of whole numbers."""

    cache_ok = True


class ListedTexts(Listed):
    """A list of texts."""

    cache_ok = True


class Values(FunctionElement[Any]):
    """The values of a list as a table of one column, ``value``."""

    inherit_cache = True


class Numbers(Values):
    """Whole numbers."""

    inherit_cache = True


class Texts(Values):
    """Texts."""

    inherit_cache = True


class IsAmong(FunctionElement[Any]):
    """Whether a column, which comes first, is one of the numbers of a list, which follows.

    An engine that has a word for that, not only for tables of numbers, says it.
    """

    inherit_cache = True
    type = NullType()


def is_among(column: ColumnElement[int], values: BindParameter[Any]) -> IsAmong:
    """Whether a column is one of the numbers that a parameter has."""
    return IsAmong(column, _bound(values, ListedNumbers()))


def numbers(values: "Iterable[int] | BindParameter[Any]") -> Select[int]:
    """Numbers, for ``column.in_()``."""
    return _select(Numbers(_bound(values, ListedNumbers())), Integer())


def texts(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """Texts, for ``column.in_()``."""
    return _select(Texts(_bound(values, ListedTexts())), Text())


def keys(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """Keys, for ``column.in_()`` of a ``Key``."""
    return _select(Texts(_bound(values, ListedKeys())), Text())


def _select(values: Values, kind: TypeEngine[Any]) -> Select[Any]:
    values.type = kind
    return select(values.table_valued("value").c.value)


def _bound(values: "Iterable[Any] | BindParameter[Any]", kind: Listed) -> BindParameter[Any]:
    if isinstance(values, BindParameter):
        return bindparam(values.key, type_=kind)
    return bindparam(None, [*values], type_=kind)
