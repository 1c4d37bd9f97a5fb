"""Words of an article that a person has marked, and what they say of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MOST_HIGHLIGHTS = 500
"""Of one entry."""
MOST_QUOTE, MOST_REMARK = 5_000, 10_000
"""Characters of one."""


class Colour(StrEnum):
    """What words are marked with; stored by these names."""

    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PINK = "pink"


@dataclass(frozen=True, slots=True)
class Highlight:
    """Marked words. Where they stand is said in two ways, so that it outlasts a recapture.

    Attributes:
        id: 16 hex digits; of the entry's highlights, this one.
        quote: the words, as they stand in the article's text.
        prefix, suffix: what stands before and behind them; empty where nothing is known.
        start: where they begin in the text, in characters; -1 where that is not known.
        colour: what they are marked with.
        note: free text; empty if none.
        made_at: when (aware, UTC).
        timestamp: of the snapshot that they were marked in; empty if of none.
    """

    id: str
    quote: str
    prefix: str = ""
    suffix: str = ""
    start: int = -1
    colour: Colour = Colour.YELLOW
    note: str = ""
    made_at: datetime | None = None
    timestamp: str = ""
