"""Cursors: places in lists as text that stands in addresses."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from archiver.errors import InputError
from archiver.index.entries import Place

MOST_DIGITS = 19


def write_cursor(place: Place) -> str:
    """A place as text."""
    return urlsafe_b64encode(f"{place.first}.{place.row}".encode()).decode().rstrip("=")


def read_cursor(packed: str) -> Place:
    """The place that such a text names.

    Raises:
        InputError: it names none, or numbers beyond what a row of the index can hold.
    """
    first, dot, second = _unpack(packed).partition(".")
    numbers = (first, second or "0")
    if not dot or not all(each.isdecimal() and len(each) < MOST_DIGITS for each in numbers):
        raise damaged()
    return Place(*map(int, numbers))


def _unpack(packed: str) -> str:
    try:
        return urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode("ascii")
    except ValueError as error:
        raise damaged() from error


def damaged() -> InputError:
    """What is said of a cursor that leads nowhere."""
    return InputError("This page's address is damaged; start from the first page.")
