"""How values are made: many of them a page, so that making one must cost little.

Defining one costs little too: every command defines a hundred, and makes values of a few. A
dataclass compiles four functions for each; of ours only ``__init__`` is of its own, compiled when
the first value is made, and the others are put together here.
"""

from dataclasses import MISSING, Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Made]) -> type[Made]:
    """A dataclass with slots that nobody changes, compared and hashed by its fields.

    The type checker refuses a change; while the program runs nothing does, for what would costs
    eight times the rest of making a value (docs/decisions/0100-values-frozen-by-the-checker.md).
    """
    given = vars(cls)
    has_init = "__init__" in given
    made: Any = dataclass(slots=True, eq=False, repr=False, init=False)(cls)
    if not has_init:
        made.__init__ = _init_when_called(made)
    compared = [each.name for each in fields(made) if each.compare]
    key = attrgetter(*compared) if compared else type

    def equals(one: object, other: object) -> bool:
        return key(one) == key(other) if type(one) is type(other) else NotImplemented

    def hashed(one: object) -> int:
        return hash(key(one))

    for name, method in (("__eq__", equals), ("__hash__", hashed), ("__repr__", _shown)):
        if given.get(name) is None:
            setattr(made, name, method)
    fixed: type[Made] = made
    return fixed


def _init_when_called(made: Any) -> Any:
    """An ``__init__`` that gives way, when it is first called, to the one that is written then."""

    def init(value: object, *given: object, **named: object) -> None:
        made.__init__ = _init_of(made)
        made.__init__(value, *given, **named)

    return init


def _init_of(made: Any) -> Any:
    """The ``__init__`` of a dataclass, which itself takes five times as long to write it."""
    own = fields(made)
    given = [each for each in own if each.init]
    taken = [_parameter(each) for each in given if not each.kw_only]
    named = [_parameter(each) for each in given if each.kw_only]
    signature = ", ".join(["self", *taken, *(["*", *named] if named else [])])
    lines = [f"self.{each.name} = {value}" for each in own if (value := _value(each))]
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    known: dict[str, Any] = {"_MISSING": MISSING}
    for each in own:
        known |= {f"_default_{each.name}": each.default, f"_make_{each.name}": each.default_factory}
    exec(f"def __init__({signature}):\n {body}", known)  # noqa: S102  # names of fields, and ours
    init = known["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__module__ = made.__module__
    return init


def _parameter(each: Field[Any]) -> str:
    if each.default is not MISSING:
        return f"{each.name}=_default_{each.name}"
    return each.name if each.default_factory is MISSING else f"{each.name}=_MISSING"


def _value(each: Field[Any]) -> str:
    """What a field is set to; empty where ``__post_init__`` does that."""
    if each.default_factory is not MISSING:
        made = f"_make_{each.name}()"
        return f"{made} if {each.name} is _MISSING else {each.name}" if each.init else made
    if each.init:
        return each.name
    return "" if each.default is MISSING else f"_default_{each.name}"


def _shown(value: Any) -> str:
    shown = (f"{each.name}={getattr(value, each.name)!r}" for each in fields(value) if each.repr)
    return f"{type(value).__qualname__}({', '.join(shown)})"
