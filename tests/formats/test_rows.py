"""Times in the notations of producers."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.rows import parse_date

MOMENT = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "1600000000",
        " 1600000000 ",
        "1600000000.75",
        "1600000000000",
        "1600000000000000",
        "621692800",
        "13244473600000000",
        "2020-09-13T12:26:40Z",
        "2020-09-13T14:26:40+02:00",
        "2020-09-13 12:26:40.5",
    ],
)
def test_times_are_read_in_every_unit(text: str) -> None:
    assert parse_date(text) == MOMENT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1",
        "1",
        "4102444800",
        "99999999999999999999",
        "yesterday",
        "1e9",
        "0001-01-01",
        "٣",
    ],
)
def test_invalid_and_absurd_times_are_none(text: str) -> None:
    assert parse_date(text) is None


@given(st.text() | st.integers().map(str) | st.datetimes().map(str))
def test_any_value_is_parsed(text: str) -> None:
    moment = parse_date(text)

    assert moment is None or (moment.tzinfo is UTC and 1996 <= moment.year < 2100)
