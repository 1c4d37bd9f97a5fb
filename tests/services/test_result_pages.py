"""The cursor in the URL of the next page is read back unchanged."""

import pytest

from archiver.db.entries import Place
from archiver.errors import InputError
from archiver.services.result_pages import read_cursor, write_cursor


@pytest.mark.parametrize("first", [-631152000, -1, 0, 1, 253402300799])
def test_a_cursor_is_parsed_as_it_was_written(first):
    place = Place(first, 7)

    assert read_cursor(write_cursor(place)) == place


@pytest.mark.parametrize("row", [-1, 10**18])
def test_a_cursor_out_of_range_is_rejected(row):
    with pytest.raises(InputError, match="damaged"):
        read_cursor(write_cursor(Place(0, row)))
