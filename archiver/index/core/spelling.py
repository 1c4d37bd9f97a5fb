"""What tells one statement from another, whatever values it has: a text.

Where SQLAlchemy makes a parameter of a value, the text has its type alone, and the value is told
apart. Whether it does make one is looked at when the statement is compiled (``compiling``); that
what it writes then does not depend on the value is what its own cache of statements builds upon.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from types import FunctionType
from typing import Any

from archiver.index.core.terms import Attribute, Call, Definition, Item, Name, Operation, Term

_METHODS = frozenset({"in_", "not_in", "between", "concat", "limit", "offset", "is_distinct_from"})
_FUNCTIONS = frozenset({"case", "tuple_", "literal"})
_LARGE = 32
"""Bits of a number of which SQLAlchemy thinks otherwise."""


class NotSpelled(Exception):  # no error of anybody's
    """Nothing tells this statement from another: it is compiled each time."""


class Spelling:
    """A statement's text, and the values in it.

    Attributes:
        text: what tells it from others.
        values: of its parameters, in the order in which ``saying`` comes by them.
    """

    __slots__ = ("_met", "_parts", "text", "values")

    def __init__(self, term: Term, parameters: Iterable[str]) -> None:
        self.values: list[Any] = []
        self._met: dict[int, int] = {}
        self._parts: list[str] = []
        self._term(term)
        self._parts.append(f"?{','.join(sorted(parameters))}")
        self.text = "".join(self._parts)

    def _term(self, term: Term) -> None:
        leaf = term._leaf
        if leaf is not None:
            self._parts.append(leaf)
            return
        known = self._met.get(id(term))
        if known is not None:
            # Whether two parts are the same one makes a difference.
            self._parts.append(f"#{known}")
            return
        self._met[id(term)] = len(self._met)
        _SPELLED[type(term)](self, term)

    def _attribute(self, term: Attribute) -> None:
        self._term(term._of)
        self._parts.append(f".{term._name}")

    def _item(self, term: Item) -> None:
        self._term(term._of)
        self._parts.append("[")
        self._value(term._key, is_parameter=False)
        self._parts.append("]")

    def _operation(self, term: Operation) -> None:
        self._parts.append(f"{term._name}(")
        for each in term._operands:
            self._value(each, is_parameter=True)
            self._parts.append(",")
        self._parts.append(")")

    def _call(self, term: Call) -> None:
        self._term(term._made)
        self._parts.append("(")
        for each, is_parameter in given_of(term):
            self._value(each, is_parameter=is_parameter)
            self._parts.append(",")
        for name, each in named_of(term):
            self._parts.append(f"{name}=")
            self._value(each, is_parameter=False)
            self._parts.append(",")
        self._parts.append(")")

    def _value(self, value: object, *, is_parameter: bool) -> None:
        if isinstance(value, Term):
            self._term(value)
        elif is_parameter and (kind := kind_of(value)):
            self.values.append(value)
            self._parts.append(kind)
        elif type(value) in (tuple, list):
            self._parts.append(type(value).__name__ + "(")
            for each in value:  # type: ignore[attr-defined]
                self._value(each, is_parameter=is_parameter)
                self._parts.append(",")
            self._parts.append(")")
        else:
            self._parts.append(fixed(value))

    def _definition(self, term: Definition) -> None:
        raise NotSpelled(term._name)


class Whole(list[Any]):
    """A list that is one value."""


def given_of(call: Call) -> list[tuple[object, bool]]:
    """What a call is given by place, and whether SQLAlchemy may make parameters of it."""
    made = call._made
    is_parameter = (
        (made._name in _METHODS or (isinstance(made._of, Name) and made._of._name == "func"))
        if isinstance(made, Attribute)
        else (made._name in _FUNCTIONS if isinstance(made, Name) else isinstance(made, Definition))
    )
    given: list[tuple[object, bool]] = [(each, is_parameter) for each in call._given]
    if isinstance(made, Name) and made._name == "bindparam" and len(given) > 1:
        value = given[1][0]
        given[1] = (Whole(value) if type(value) is list else value, True)
    return given


def named_of(call: Call) -> Iterator[tuple[str, object]]:
    """What it is given by name, and what was set afterwards."""
    yield from call._named.items()
    for name, value in (call._changes or {}).items():
        yield f".{name}", value


def kind_of(value: object) -> str:
    """The type of a parameter, as far as SQLAlchemy looks at it; empty if it is none."""
    kind = type(value)
    if kind is str:
        return "$s" if value.isascii() else "$u"  # type: ignore[attr-defined]
    if kind is int:
        return "$i" if value.bit_length() < _LARGE else "$l"  # type: ignore[attr-defined]
    return _KINDS.get(kind, "")


_KINDS = {float: "$f", Whole: "$w"}


def fixed(value: object) -> str:
    """A value that is part of the text.

    Raises:
        NotSpelled: it is none that could be told from others.
    """
    if value is None or type(value) in (str, int, bool, float, bytes):
        return repr(value)
    if isinstance(value, Enum):
        return f"{_place(type(value))}.{value.name}={value.value!r}"
    if isinstance(value, type | FunctionType):
        return _place(value)
    raise NotSpelled(type(value).__name__)


def _place(value: Any) -> str:
    if "<" in value.__qualname__:
        raise NotSpelled(value.__qualname__)
    return f"{value.__module__}.{value.__qualname__}"


_SPELLED: dict[type[Term], Callable[[Spelling, Any], None]] = {
    Attribute: Spelling._attribute,
    Item: Spelling._item,
    Operation: Spelling._operation,
    Call: Spelling._call,
    Definition: Spelling._definition,
}
