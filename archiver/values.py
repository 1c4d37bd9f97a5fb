"""How values are made: many of them a page, so that making one must cost little.

Defining one costs little too: every command defines a hundred. A dataclass compiles four functions
for each; of ours only ``__init__`` is of its own, and the others are put together here.
"""

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Made]) -> type[Made]:
    """A dataclass with slots that nobody changes, compared and hashed by its fields.

    The type checker refuses a change; while the program runs nothing does, for what would costs
    eight times the rest of making a value (docs/decisions/0100-values-frozen-by-the-checker.md).
    """
    made: Any = dataclass(slots=True, eq=False, repr=False)(cls)
    given = vars(cls)
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


def _shown(value: Any) -> str:
    shown = (f"{each.name}={getattr(value, each.name)!r}" for each in fields(value) if each.repr)
    return f"{type(value).__qualname__}({', '.join(shown)})"
