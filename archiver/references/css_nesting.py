"""Which brackets of a style sheet are open, as far as that decides what a string or URL is for."""

from typing import Final

_MOST_NESTED: Final = 1024
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_SET: Final = "set"
_FACE: Final = "face"
_CLOSED_BY: Final = {_SET: ")", _FACE: "}"}


class Nesting:
    """Brackets in ``image-set()`` and ``@font-face``; outside of them none is counted.

    A closing bracket that does not belong to the innermost open one closes nothing (CSS Syntax 3
    §5.4.8).
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._face_from = -1
        """How many brackets were open before the block of ``@font-face`` that is to come."""
        self.in_face = False

    @property
    def matters(self) -> bool:
        """Whether brackets are being counted."""
        return bool(self._open) or self._face_from >= 0

    @property
    def in_set(self) -> bool:
        """Whether a string that stands here is a URL."""
        return bool(self._open) and self._open[-1] is _SET

    def announce_face(self) -> None:
        """``@font-face``: its block comes next."""
        self._face_from = len(self._open)

    def open_set(self) -> None:
        """A function whose strings are URLs begins."""
        self._push(_SET)

    def take(self, bracket: str) -> None:
        """Take a bracket, or a semicolon, which ends an at-rule without a block."""
        if not self.matters:
            return
        is_face = self._face_from == len(self._open) and bracket in "{};"
        if is_face:
            self._face_from = -1
        if bracket in _CLOSING:
            self._push(_FACE if is_face else bracket)
        elif bracket != ";":
            self._close(bracket)

    def _push(self, bracket: str) -> None:
        if len(self._open) < _MOST_NESTED:
            self._open.append(bracket)
            self.in_face = self.in_face or bracket is _FACE

    def _close(self, bracket: str) -> None:
        if self._open and (_CLOSED_BY.get(self._open[-1]) or _CLOSING[self._open[-1]]) == bracket:
            self.in_face = self._open.pop() is not _FACE and self.in_face
