"""Cursors: places in lists as text that stands in addresses."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from archiver.errors import InputError
from archiver.index.entries import Place

_PLACE = re.compile(r"(-?[0-9]{1,18})\.([0-9]{1,18})?")
"""Numbers that a row of the index can hold; a moment before 1970 is below 0."""
_TURN = re.compile(
    r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})(?:\.([0-9]{1,18}))?"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A place in an order that no index holds: what was put in order, and how far it was shown.

    Attributes:
        known: the newest entry that there was when the first page was shown; none that came later
            is among what is put in order. 0 where that is the first page.
        stretch: the document behind which those begin that are put in order; 0 for the first.
        count: so many of them were shown.
        last: the entry that was shown last; 0 if none of this stretch was.
        end: the document that they ended with, so that none comes in between as others go; 0 if
            there were no others behind them.
    """

    known: int = 0
    stretch: int = 0
    count: int = 0
    last: int = 0
    end: int = 0


def write_cursor(place: Place | Turn) -> str:
    """A place as text."""
    if isinstance(place, Turn):
        numbers = f"{place.known}.{place.stretch}.{place.count}.{place.last}"
        numbers += f".{place.end}" if place.end else ""
    else:
        numbers = f"{place.first}.{place.row}"
    return urlsafe_b64encode(numbers.encode()).decode().rstrip("=")


def read_cursor(packed: str) -> Place | Turn:
    """The place that such a text names.

    Raises:
        InputError: it names none, or numbers beyond what a row of the index can hold.
    """
    unpacked = _unpack(packed)
    if turn := _TURN.fullmatch(unpacked):
        return Turn(*map(int, turn.groups(default="0")))
    found = _PLACE.fullmatch(unpacked)
    if found is None:
        raise damaged()
    return Place(int(found[1]), int(found[2] or 0))


def _unpack(packed: str) -> str:
    try:
        return urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode("ascii")
    except ValueError as error:
        raise damaged() from error


def damaged() -> InputError:
    """What is said of a cursor that leads nowhere."""
    return InputError("This page's address is damaged; start from the first page.")
