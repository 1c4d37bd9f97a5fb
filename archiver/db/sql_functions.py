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
    r"""A text as PostgreSQL can hold it, which holds no U+0000; it sorts as it did.

    U+0000 becomes ``\x01\x01``, and U+0001 ``\x01\x02``.
    """
    if "\0" in text or "\x01" in text:
        return text.replace("\x01", "\x01\x02").replace("\0", "\x01\x01")
    return text


def as_it_was(text: str) -> str:
    """The text that ``storable`` was given."""
    if "\x01" in text:
        return text.replace("\x01\x01", "\0").replace("\x01\x02", "\x01")
    return text


class Greatest(FunctionElement[int]):
    """The greatest of some numbers, none of them NULL."""

    inherit_cache = True
    type = Integer()


class KindOfFailure(FunctionElement[str]):
    """The kind of a failure that is kept as JSON; NULL where there is none."""

    inherit_cache = True
    type = Text()


class StatusOfFailure(FunctionElement[int]):
    """The status of a failure that is kept as JSON; NULL where there is none."""

    inherit_cache = True
    type = Integer()


class YearOf(FunctionElement[str]):
    """The year of a moment in Unix seconds (UTC), in four digits."""

    inherit_cache = True
    type = Text()


class JsonRow(FunctionElement[str]):
    """Some columns as the text of a JSON array."""

    inherit_cache = True
    type = Text()


class Gathered(FunctionElement[list[Any] | None]):
    """All values of a column as one list; NULL, or an empty one, where there are none.

    A driver hands rows over one by one, and Python's lock with each of them: a thread that computes
    meanwhile keeps it for milliseconds.
    """

    inherit_cache = True
    type = JSON()


class HostOf(FunctionElement[str]):
    """The host of a SURT: what stands before its bracket."""

    inherit_cache = True
    type = Text()


class Now(FunctionElement[int]):
    """The moment of the server's clock, in milliseconds since 1970: not of the transaction."""

    inherit_cache = True
    type = BigInteger()


class History(FunctionElement[str]):
    """Which history of the server this is: a replica that takes its place goes on in another one.

    Empty where there are none.
    """

    inherit_cache = True
    type = Text()


def reason(failure: ColumnElement[Any]) -> ColumnElement[str]:
    """Why something failed, in a few letters: the kind and, behind a space, the status."""
    status = func.coalesce(cast(StatusOfFailure(failure), Text), "")
    return cast(KindOfFailure(failure), Text).concat(" ").concat(status)


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
