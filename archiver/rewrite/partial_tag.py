"""Gathers a tag that comes in pieces: finds its end without looking at any character twice."""

import re
from enum import Enum, auto
from typing import Final

from archiver.rewrite.tag_syntax import NAME

MOST_HELD: Final = 8 << 20
"""Characters of the longest tag that is rewritten; images given as data can be large."""

_LONGEST_NAME = 64
_SPACE = r"\t\n\f\r "


class _State(Enum):
    """Where in a tag the next character stands."""

    TAG_NAME = auto()
    BEFORE = auto()
    NAME = auto()
    AFTER = auto()
    VALUE = auto()
    DOUBLE = auto()
    SINGLE = auto()
    UNQUOTED = auto()


_STOPS = {
    _State.TAG_NAME: re.compile(rf"[{_SPACE}/>]"),
    _State.BEFORE: re.compile(rf"[^{_SPACE}/]"),
    _State.NAME: re.compile(rf"[{_SPACE}/>=]"),
    _State.AFTER: re.compile(rf"[^{_SPACE}]"),
    _State.VALUE: re.compile(rf"[^{_SPACE}]"),
    _State.DOUBLE: re.compile('"'),
    _State.SINGLE: re.compile("'"),
    _State.UNQUOTED: re.compile(rf"[{_SPACE}>]"),
}
_NEXT: dict[_State, tuple[dict[str, _State], _State]] = {
    _State.TAG_NAME: ({}, _State.BEFORE),
    _State.BEFORE: ({}, _State.NAME),
    _State.NAME: ({"=": _State.VALUE, "/": _State.BEFORE}, _State.AFTER),
    _State.AFTER: ({"=": _State.VALUE, "/": _State.BEFORE}, _State.NAME),
    _State.VALUE: ({'"': _State.DOUBLE, "'": _State.SINGLE}, _State.UNQUOTED),
    _State.DOUBLE: ({}, _State.BEFORE),
    _State.SINGLE: ({}, _State.BEFORE),
    _State.UNQUOTED: ({}, _State.BEFORE),
}
_QUOTED = frozenset({_State.DOUBLE, _State.SINGLE})


class PartialTag:
    """A tag from its ``<`` or ``</`` on, in pieces.

    One longer than ``MOST_HELD`` keeps its name and loses its attributes, so that what was not
    rewritten is not loaded.
    """

    def __init__(self, opening: str) -> None:
        self._state = _State.TAG_NAME
        self._held = [opening]
        self._length = len(opening)

    def take(self, piece: str, at: int) -> int:
        """Take what belongs to the tag; return where it ends in this piece, or -1."""
        end = self._find_end(piece, at)
        taken = piece[at:end] if end >= 0 else piece[at:]
        self._held.append(taken)
        self._length += len(taken)
        if self._is_too_long:
            self._held = ["".join(self._held)[: _LONGEST_NAME + len("</>")]]
        return end

    def source(self) -> str:
        """The tag, whole once its end was found."""
        source = "".join(self._held)
        return _without_attributes(source) if self._is_too_long else source

    @property
    def _is_too_long(self) -> bool:
        return self._length > MOST_HELD

    def _find_end(self, piece: str, at: int) -> int:
        state = self._state
        while found := _STOPS[state].search(piece, at):
            at = found.end()
            character = found[0]
            if character == ">" and state not in _QUOTED:
                return at
            special, other = _NEXT[state]
            state = special.get(character, other)
        self._state = state
        return -1


def _without_attributes(source: str) -> str:
    """A tag of which only the start is known: its name, if that is a name."""
    found = NAME.match(source)
    if not found or len(found[2]) > _LONGEST_NAME:
        return ""
    return f"<{found[1]}{found[2]}>"
