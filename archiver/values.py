"""How values are made: many of them a page, so that making one must cost little."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Made]) -> type[Made]:
    """A dataclass with slots that nobody changes, compared and hashed by its fields.

    The type checker refuses a change; while the program runs nothing does, for what would costs
    eight times the rest of making a value (docs/decisions/0100-values-frozen-by-the-checker.md).
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
