"""What the index of words is asked: an expression as ``matching`` writes it, for any engine."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, TextClause, bindparam, text
from sqlalchemy import Dialect as SqlDialect
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, UserDefinedType

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
