from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.timestamps import FIRST, LAST, in_utc, read_iso, write_iso

ZONES = st.integers(-24 * 60 + 1, 24 * 60 - 1).map(lambda n: timezone(timedelta(minutes=n)))
MOMENTS = st.datetimes(timezones=ZONES) | st.datetimes()


@given(MOMENTS)
def test_times_are_written_with_four_digit_years_and_read_back(moment):
    text = write_iso(moment)

    assert len(text) == len("YYYY-MM-DDThh:mm:ssZ")
    assert read_iso(text) == in_utc(moment)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("0001-01-01T00:00:00+05:00", FIRST),
        ("9999-12-31T23:59:59-05:00", LAST),
        ("2024-02-29T12:00:01.987654Z", datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)),
    ],
)
def test_times_outside_the_calendar_are_clamped(text, moment):
    assert read_iso(text) == moment
