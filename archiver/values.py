"""How values are made: many of them a page, so that making one must cost little.

Defining one costs little too: every command defines a hundred, and makes values of a few. A
dataclass compiles four functions for each; of ours only ``__init__`` is of its own, compiled when
the first value is made, and the others are put together here.
"""

from copy import copy
from dataclasses import dataclass, field, fields, make_dataclass
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
    """An ``__init__`` that gives way, when it is first called, to the one of a dataclass."""

    def init(value: object, *given: object, **named: object) -> None:
        own = {"__post_init__": made.__post_init__} if hasattr(made, "__post_init__") else {}
        twin = make_dataclass(
            made.__qualname__,
            [(each.name, each.type, copy(each)) for each in fields(made)],
            namespace=own,
            eq=False,
            repr=False,
        )
        made.__init__ = vars(twin)["__init__"]
        made.__init__(value, *given, **named)

    return init


def _shown(value: Any) -> str:
    shown = (f"{each.name}={getattr(value, each.name)!r}" for each in fields(value) if each.repr)
    return f"{type(value).__qualname__}({', '.join(shown)})"
