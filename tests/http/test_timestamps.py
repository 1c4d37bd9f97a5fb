from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InputError
from archiver.http.timestamps import (
    FIRST,
    LAST,
    http_date,
    in_utc,
    middle_of,
    parse_accept_datetime,
    read_iso,
    to_datetime,
    to_timestamp,
    write_iso,
)

ZONES = st.integers(-24 * 60 + 1, 24 * 60 - 1).map(lambda n: timezone(timedelta(minutes=n)))
MOMENTS = st.datetimes(timezones=st.just(UTC)).map(lambda each: each.replace(microsecond=0))


@given(MOMENTS)
def test_times_survive_timestamp_and_http_date(moment):
    assert to_datetime(to_timestamp(moment)) == moment
    assert parse_accept_datetime(http_date(moment)) == moment


@given(st.datetimes(timezones=ZONES))
def test_times_of_any_zone_have_14_digits_and_an_http_date(moment):
    digits = to_timestamp(moment)

    assert len(digits) == 14
    assert http_date(moment) == http_date(to_datetime(digits))


@pytest.mark.parametrize("text", ["", "2024", "20240230000000", "2024022912000x", "\uff12" * 14])
def test_invalid_timestamps_are_refused(text):
    with pytest.raises(InputError):
        to_datetime(text)


@given(MOMENTS, st.integers(4, 14))
def test_a_prefix_is_padded_to_a_time_within_its_period(moment, digits):
    prefix = to_timestamp(moment)[:digits]

    if prefix != "0000":
        assert middle_of(prefix).startswith(prefix[: 4 + (digits - 4) // 2 * 2])


@given(st.from_regex(r"[0-9]{4,14}", fullmatch=True))
def test_any_digits_are_padded_to_a_valid_time(prefix):
    assert to_timestamp(to_datetime(middle_of(prefix))) == middle_of(prefix)


@pytest.mark.parametrize("prefix", ["", "202", "2024x", "202402291200011", "-2024"])
def test_invalid_periods_are_refused(prefix):
    with pytest.raises(InputError):
        middle_of(prefix)


def test_every_form_of_http_date_is_parsed():
    for value in [
        "Thu, 29 Feb 2024 12:00:01 GMT",
        "Thursday, 29-Feb-24 12:00:01 GMT",
        "Thu Feb 29 12:00:01 2024",
        "Thu, 29 Feb 2024 13:00:01 +0100",
    ]:
        assert parse_accept_datetime(value) == datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)


@given(st.text())
def test_invalid_http_dates_are_refused(value):
    with suppress(InputError):
        assert parse_accept_datetime(value).tzinfo is UTC


@given(st.datetimes(timezones=ZONES) | st.datetimes())
def test_times_are_written_with_four_digit_years_and_read_back(moment):
    text = write_iso(moment)

    assert len(text) == len("YYYY-MM-DDThh:mm:ssZ")
    assert read_iso(text) == in_utc(moment)


def test_iso_times_outside_the_calendar_are_clamped():
    for text, moment in [
        ("0001-01-01T00:00:00+05:00", FIRST),
        ("9999-12-31T23:59:59-05:00", LAST),
        ("2024-02-29T12:00:01.987654Z", datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)),
    ]:
        assert read_iso(text) == moment
