"""SQL functions that differ between SQLite and PostgreSQL.

A list of values is passed as one parameter: as JSON to SQLite, as an array to PostgreSQL. So the
text of a statement does not depend on the number of values.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import (
    JSON,
    BindParameter,
    ColumnElement,
    Dialect,
    Integer,
    Select,
    Text,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, UserDefinedType

from archiver.db.schema import POSTGRESQL


def encode_nul(text: str) -> str:
    r"""Replace U+0000, which PostgreSQL can't store, without changing the sort order of texts.

    U+0000 becomes ``\x01\x01``, and U+0001 ``\x01\x02``.
    """
    return text.replace("\x01", "\x01\x02").replace("\0", "\x01\x01")


def decode_nul(text: str) -> str:
    """Decode a text encoded by ``encode_nul``."""
    return text.replace("\x01\x01", "\0").replace("\x01\x02", "\x01")


def is_postgresql(conn: AsyncConnection) -> bool:
    """Return whether a connection is to PostgreSQL, whose index several machines may share."""
    return conn.dialect.name == POSTGRESQL


class Greatest(FunctionElement[int]):
    """Greatest of several numbers, none of them NULL."""

    inherit_cache = True
    type = Integer()


class JsonField(FunctionElement[str]):
    """Text of a field (second argument) of a JSON text (first argument); NULL if there is none."""

    inherit_cache = True
    type = Text()


class ArrayAggregate(FunctionElement[list[Any] | None]):
    """List of a column's values in all rows; NULL or empty if there are no rows.

    Drivers take the GIL once per row, and another thread may keep it for milliseconds. So queries
    that return thousands of values select lists, in one row.
    """

    inherit_cache = True
    type = JSON()


class SurtHost(FunctionElement[str]):
    """Host part of a SURT."""

    inherit_cache = True
    type = Text()


def failure_field(failure: ColumnElement[Any], name: str) -> JsonField:
    """Return SQL for a field of a failure that a column stores as JSON."""
    return JsonField(failure, literal_column(f"'{name}'"))


def failure_reason(failure: ColumnElement[Any]) -> ColumnElement[str]:
    """Return SQL for the kind and the HTTP status of a failure, separated by a space."""
    status = func.coalesce(failure_field(failure, "status"), "")
    return failure_field(failure, "kind").concat(" ").concat(status)


class ListType(UserDefinedType[Any]):
    """Parameter type of a list."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """Return the function that converts the parameter."""
        return _array if dialect.name == POSTGRESQL else _json


def _array(values: Iterable[Any]) -> list[Any]:
    return [encode_nul(each) if isinstance(each, str) else each for each in values]


def _json(values: Iterable[Any]) -> str:
    return json.dumps([*values])


class Numbers(FunctionElement[Any]):
    """Integers of a list, as a table with the column ``value``."""

    inherit_cache = True
    type = Integer()


class Texts(FunctionElement[Any]):
    """Texts of a list, as a table with the column ``value``."""

    inherit_cache = True
    type = Text()


class IsAmong(FunctionElement[Any]):
    """Condition: a column (first argument) is in a list of numbers (second argument).

    PostgreSQL plans its own operator better than ``IN`` with a subquery.
    """

    inherit_cache = True
    type = NullType()


def is_among_parameter(column: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a column is in the list parameter ``these``."""
    return IsAmong(column, bindparam("these", type_=ListType()))


def among(values: "Iterable[int] | BindParameter[Any]") -> Select[int]:
    """Return a subquery of numbers for ``column.in_()``; ``values`` may be a named parameter."""
    return select(Numbers(_parameter(values)).table_valued("value").c.value)


def text_values(values: "Iterable[str] | BindParameter[Any]") -> Select[str]:
    """Return a subquery of texts for ``column.in_()``; ``values`` may be a named parameter."""
    return select(Texts(_parameter(values)).table_valued("value").c.value)


def _parameter(values: "Iterable[Any] | BindParameter[Any]") -> BindParameter[Any]:
    if isinstance(values, BindParameter):
        return bindparam(values.key, type_=ListType())
    return bindparam(None, [*values], type_=ListType())


THESE: Select[int] = among(bindparam("these"))
"""Numbers of the list parameter ``these``, for statements that are compiled once."""


def compile_as(element: type[FunctionElement[Any]], sqlite: str, postgresql: str) -> None:
    """Define the SQL of a function in both databases; ``{0}`` and ``{1}`` are its arguments."""

    def register(dialect: str, template: str) -> None:
        @compiles(element, dialect)
        def compiled(each: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
            if "{1}" in template:
                return template.format(*(compiler.process(one, **more) for one in each.clauses))
            return template.format(compiler.process(each.clauses, **more))

    register("sqlite", sqlite)
    register(POSTGRESQL, postgresql)


compile_as(IsAmong, "{0} IN (SELECT value FROM json_each({1}))", "{0} = ANY(CAST({1} AS BIGINT[]))")
compile_as(Numbers, "json_each({0})", "(SELECT unnest(CAST({0} AS BIGINT[])) AS value)")
compile_as(Texts, "json_each({0})", '(SELECT unnest(CAST({0} AS TEXT[])) COLLATE "C" AS value)')
compile_as(Greatest, "max({0})", "greatest({0})")
compile_as(
    JsonField,
    "CAST(json_extract({0}, '$.' || {1}) AS TEXT)",
    "(CAST({0} AS JSON) ->> {1})",
)
compile_as(ArrayAggregate, "json_group_array({0})", "json_agg({0})")
compile_as(SurtHost, "substr({0}, 1, instr({0}, ')') - 1)", "split_part({0}, ')', 1)")
