"""What a reference is for, and in which form an attribute holds it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from archiver.model.requisite import RequisiteKind


class Use(StrEnum):
    """What a reference is for.

    ``ANCHOR`` is followed, not loaded; ``SCRIPT`` is not loaded by a page that runs no scripts;
    ``INERT`` is of no use in an archive: pings, connections opened ahead, plugins of the past.
    """

    ANCHOR = "anchor"
    FRAME = "frame"
    IMAGE = "image"
    STYLE = "style"
    SCRIPT = "script"
    FONT = "font"
    ICON = "icon"
    MEDIA = "media"
    OTHER = "other"
    INERT = "inert"

    __hash__ = str.__hash__  # every reference looked up hashes one, and an enumeration's is slow


class Form(StrEnum):
    """How an attribute's value holds its references."""

    URL = "url"
    SRCSET = "srcset"
    CSS = "css"
    DOCUMENT = "document"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What an attribute points with; in ``CSS`` and ``DOCUMENT`` each reference has its own use."""

    use: Use
    form: Form = Form.URL


ValueOf = Callable[[str], str]
"""Gives what an attribute of an element means, by lower-case name; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An attribute whose meaning the element's attributes decide.

    Attributes:
        uses: what it can be for.
        choose: tells what it is on one element; None where it is no reference.
    """

    uses: frozenset[Use]
    choose: Callable[[ValueOf], Pointer | None]


Rule = Pointer | Choice

REQUISITE_KINDS: Final = {
    Use.FRAME: RequisiteKind.FRAME,
    Use.IMAGE: RequisiteKind.IMAGE,
    Use.STYLE: RequisiteKind.STYLE,
    Use.FONT: RequisiteKind.FONT,
    Use.ICON: RequisiteKind.ICON,
    Use.MEDIA: RequisiteKind.MEDIA,
    Use.OTHER: RequisiteKind.OTHER,
}
"""Uses that make a browser load something for a page whose scripts don't run."""

POINTERS: Final = {use: Pointer(use) for use in Use}
"""A pointer for each use whose attribute holds one URL and nothing else."""


MOST_NESTED_DOCUMENTS: Final = 3
"""So deep are documents read that stand in a ``srcdoc`` of another."""

_AROUND: Final = "".join(map(chr, range(0x21)))
_WITHOUT_LINES: Final = {ord("\t"): None, ord("\n"): None, ord("\r"): None}


def resolve(rule: Rule | None, value_of: ValueOf) -> Pointer | None:
    """What an attribute points with on this element, if it does."""
    return rule.choose(value_of) if isinstance(rule, Choice) else rule


def is_loaded(rule: Rule) -> bool:
    """Whether what an attribute names can be something that a browser loads."""
    if isinstance(rule, Choice):
        return not rule.uses.isdisjoint(REQUISITE_KINDS)
    return rule.use in REQUISITE_KINDS


def clean_reference(given: str) -> str:
    """A reference without what browsers pass over in it (WHATWG URL §4.4)."""
    stripped = given.strip(_AROUND)
    if "\n" in stripped or "\t" in stripped or "\r" in stripped:
        return stripped.translate(_WITHOUT_LINES)
    return stripped
