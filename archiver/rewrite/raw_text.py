"""Where elements that hold text and not markup end (HTML §13.2.5.12 to §13.2.5.31)."""

import re
from enum import Enum, auto
from typing import Final

RAW_TEXT: Final = frozenset({"textarea", "title", "xmp", "iframe", "noembed", "noframes"})
"""Besides ``style``, ``script`` and ``plaintext``. ``noscript`` holds markup: no script runs."""

_ENDS = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
    for name in (*RAW_TEXT, "style")
}
_SCRIPT = re.compile(r"<!--|-->|</?script(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
_LONGEST = len("</noframes")


def text_end(name: str, text: str, at: int) -> int:
    """Where the end tag of raw text starts, or -1."""
    found = _ENDS[name].search(text, at)
    return found.start() if found else -1


def held_from(text: str, at: int, marks: str = "<") -> int:
    """From where text must be held back, since what ends it may have begun."""
    start = max(at, len(text) - _LONGEST)
    found = [place for mark in marks if (place := text.find(mark, start)) >= 0]
    return min(found, default=len(text))


class _State(Enum):
    DATA = auto()
    ESCAPED = auto()
    DOUBLE_ESCAPED = auto()


class ScriptEnd:
    """Finds the end of one script, in which ``<!--`` and ``<script`` hide end tags."""

    def __init__(self) -> None:
        self._state = _State.DATA

    def find(self, text: str, at: int) -> tuple[int, bool]:
        """Look on from ``at``.

        Returns:
            Up to where the text is the script's, and whether its end tag starts there; if not,
            what comes behind that place must be looked at again with more text.
        """
        while found := _SCRIPT.search(text, at):
            mark = found[0].lower()
            if mark == "</script" and self._state is not _State.DOUBLE_ESCAPED:
                return found.start(), True
            self._state = self._after(mark)
            at = found.start() + 2 if mark == "<!--" else found.end()
        return held_from(text, at, "<-"), False

    def _after(self, mark: str) -> _State:
        if mark == "-->":
            return _State.DATA
        if mark == "<!--":
            return _State.ESCAPED if self._state is _State.DATA else self._state
        if mark == "<script":
            return _State.DATA if self._state is _State.DATA else _State.DOUBLE_ESCAPED
        return _State.ESCAPED
