"""Where a page of a list stands, and the way back: cursors lead onward alone.

The pages that led to one are named in its address (``trail``), the last forty of them; an address
without is of a page that nobody knows the way back from but to the beginning.
"""

import re
from dataclasses import dataclass

MOST_BEFORE = 40
_TRAIL = re.compile(r"[0-9]{1,9}(?:~[0-9]{1,9}\.[A-Za-z0-9_.-]{0,200}){0,40}")


@dataclass(frozen=True, slots=True)
class Trail:
    """The place of a page in its list.

    Attributes:
        start: how many entries stand before it.
        before: the pages before it, the nearest last: how many entries stand before each, and its
            cursor.
    """

    start: int = 0
    before: tuple[tuple[int, str], ...] = ()

    def __str__(self) -> str:
        return "~".join([str(self.start), *(f"{start}.{after}" for start, after in self.before)])

    def onward(self, after: str, count: int) -> "Trail":
        """Of the page that comes after this one, of the cursor ``after`` with ``count`` entries."""
        return Trail(self.start + count, (*self.before, (self.start, after))[-MOST_BEFORE:])

    def back(self) -> tuple[str, "Trail"] | None:
        """The cursor of the page before, and its own trail; None where nobody knows."""
        if not self.before:
            return None
        start, after = self.before[-1]
        return after, Trail(start, self.before[:-1])


def read_trail(text: str) -> Trail | None:
    """The trail that an address names; None where it names none.

    >>> str(read_trail("100~0.~50.MTc5NTQw"))
    '100~0.~50.MTc5NTQw'
    >>> read_trail("elsewhere")
    """
    if not _TRAIL.fullmatch(text):
        return None
    start, *before = text.split("~")
    pairs = (each.partition(".") for each in before)
    return Trail(int(start), tuple((int(number), after) for number, _, after in pairs))
