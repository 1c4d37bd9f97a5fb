"""Patterns that are compiled where they are used first.

There are five hundred of them, and a process uses a few: compiling those of the modules that it
imports was a quarter of the start of one that reads articles.
"""

import re
from typing import Any, AnyStr, cast


def late_pattern(text: AnyStr, flags: re.RegexFlag | int = 0) -> re.Pattern[AnyStr]:
    """What ``re.compile`` gives, compiled when it is first asked for something.

    It is itself no ``re.Pattern``: functions of ``re`` don't take it. A test compiles all there
    are, so that a fault in one does not wait for its first use.
    """
    return cast("re.Pattern[AnyStr]", _Late(text, flags))


class _Late:
    """Has nothing of a pattern at first, and all of it once it is asked: that costs it once."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        compiled: re.Pattern[Any] = re.compile(*self._given)
        self.__dict__ |= {each: getattr(compiled, each) for each in _ASKED}
        return getattr(compiled, name)


_ASKED = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer", "pattern")
