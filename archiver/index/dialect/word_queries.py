"""What the index of words is asked: an expression as ``matching`` writes it, for any engine."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, Select, TextClause, bindparam, column, select, text
from sqlalchemy import Dialect as SqlDialect
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, UserDefinedType

from archiver.index.dialect.functions import Gathered

READERS: dict[str, Callable[[str], str]] = {}
"""How an engine, by the name of its dialect, takes an expression; others take it as it is."""


class Asked(UserDefinedType[str]):
    """An expression, as a parameter."""

    cache_ok = True

    def bind_processor(self, dialect: SqlDialect) -> Callable[[Any], Any] | None:
        """What writes the parameter."""
        return READERS.get(dialect.name)


class Matches(FunctionElement[Any]):
    """Whether a document in a part, which comes first, matches an expression, which follows."""

    inherit_cache = True
    type = NullType()


def expression(value: str) -> BindParameter[str]:
    """An expression, for ``Matches``."""
    return bindparam("match", value, type_=Asked(), unique=True)


@lru_cache(256)
def asking(statement: str, *expressions: str) -> TextClause:
    """A statement of whose parameters these are expressions; ``match``, where none is named."""
    names = expressions or ("match",)
    return text(statement).bindparams(*(bindparam(each, type_=Asked()) for each in names))


@lru_cache(256)
def gathering(statement: TextClause, *columns: str) -> Select[*tuple[Any, ...]]:
    """A statement whose answer is one row: a list of the values of each of these columns."""
    rows = statement.columns(*map(column, columns)).subquery("found_rows")
    return select(*(Gathered(rows.c[each]).label(each) for each in columns))
