"""Cursors: places in lists as text that stands in addresses."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from archiver.errors import InputError
from archiver.index.entries import Place

_PLACE = re.compile(r"(-?[0-9]{1,18})\.([0-9]{1,18})?")
"""Numbers that a row of the index can hold; a moment before 1970 is below 0."""


def write_cursor(place: Place) -> str:
    """A place as text."""
    return urlsafe_b64encode(f"{place.first}.{place.row}".encode()).decode().rstrip("=")


def read_cursor(packed: str) -> Place:
    """The place that such a text names.

    Raises:
        InputError: it names none, or numbers beyond what a row of the index can hold.
    """
    found = _PLACE.fullmatch(_unpack(packed))
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
