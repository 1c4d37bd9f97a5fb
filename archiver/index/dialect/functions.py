"""Functions that engines call otherwise; each engine's module says how it writes them."""

from typing import Any

from sqlalchemy import JSON, BigInteger, ColumnElement, Integer, Text, cast, func
from sqlalchemy.sql.functions import FunctionElement


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
