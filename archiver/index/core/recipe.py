"""What is kept of a statement that was compiled: its SQL, and how parameters and rows are read."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple


def as_list(values: Iterable[Any]) -> str:
    """Many values as one parameter."""
    return json.dumps([*values])


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str | bytes) else value


def _from_number(value: Any) -> bool | None:
    return None if value is None else bool(value)


WRITERS: dict[str, Callable[[Any], Any]] = {"list": as_list}
"""What a parameter goes through, by a name."""
READERS: dict[str, Callable[[Any], Any]] = {"json": _from_json, "bool": _from_number}
"""What a column goes through."""
CONSTANT, VALUE, GIVEN = "constant", "value", "given"


class Parameter(NamedTuple):
    """A parameter.

    Attributes:
        kind: a constant, a value of the statement, or one that it is run with.
        what: the constant, the place among the values, or the name.
        writer: what it goes through; empty if nothing.
    """

    kind: str
    what: Any
    writer: str | Callable[[Any], Any]


class Recipe(NamedTuple):
    """A statement.

    Attributes:
        sql: for SQLite.
        parameters: in their order.
        names: of the columns; empty where SQLite names them.
        readers: what each of them goes through; empty if nothing.
        is_kept: whether another process compiled it.
    """

    sql: str
    parameters: tuple[Parameter, ...]
    names: tuple[str, ...]
    readers: tuple[str | Callable[[Any], Any], ...]
    is_kept: bool = False

    def bound(self, values: Sequence[Any], given: Mapping[str, Any]) -> list[Any]:
        """The parameters, of the values of a statement and of what it is run with."""
        found = []
        for kind, what, writer in self.parameters:
            value = what if kind == CONSTANT else values[what] if kind == VALUE else given[what]
            if writer:
                value = (WRITERS[writer] if isinstance(writer, str) else writer)(value)
            found.append(value)
        return found

    def is_lasting(self) -> bool:
        """Whether another process can use it."""
        return (
            all(isinstance(each, str) for each in self.readers)
            and all(isinstance(each.writer, str) for each in self.parameters)
            and all(
                type(each.what) in (str, int, float, type(None))
                for each in self.parameters
                if each.kind == CONSTANT
            )
        )

    def written(self) -> list[Any]:
        """As JSON has it."""
        return [self.sql, [[*each] for each in self.parameters], [*self.names], [*self.readers]]


def read(held: Any) -> Recipe:
    """A recipe from what JSON has.

    Raises:
        ValueError: it is none, or would do something else than read.
    """
    sql, parameters, names, readers = held
    if not (isinstance(sql, str) and sql.startswith(("SELECT ", "WITH "))):
        raise ValueError("a statement that reads was expected")
    found = tuple(Parameter(*each) for each in parameters)
    for kind, what, writer in found:
        wanted = {CONSTANT: (str, int, float, type(None)), VALUE: (int,), GIVEN: (str,)}[kind]
        is_whole = type(what) in wanted and (kind != VALUE or what >= 0)
        if not is_whole or (writer and writer not in WRITERS):
            raise ValueError("an unknown parameter")
    if not all(isinstance(each, str) for each in names):
        raise ValueError("an unknown name")
    if any(each and each not in READERS for each in readers):
        raise ValueError("an unknown reader")
    return Recipe(sql, found, tuple(names), tuple(readers), is_kept=True)
