"""How a list is asked for."""

from dataclasses import dataclass
from enum import StrEnum


class Sort(StrEnum):
    """What comes first in a list."""

    BEST = "best"
    NEWEST = "newest"
    OLDEST = "oldest"
    ADDED = "added"
    TITLE = "title"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """What a list is to show.

    Attributes:
        q: in the search language (``query.parse``); empty lists everything.
        tag, host: exact; empty leaves them open.
        status: ``saved``, ``failed``, ``queued``, or an HTTP status; empty leaves it open.
        sort: one of ``Sort``; empty is the best first where there are words, else the newest.
        after: the cursor of the page before.
        limit: entries on a page, 1 to 200.
    """

    q: str = ""
    tag: str = ""
    host: str = ""
    status: str = ""
    sort: str = ""
    after: str = ""
    limit: int = 50
