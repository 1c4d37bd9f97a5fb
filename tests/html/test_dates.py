"""Dates of articles: what can be read is ISO 8601, what can't is not shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.html.dates import to_iso


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2019-05-04", "2019-05-04"),
        ("2019-5-4 10:11", "2019-05-04T10:11:00"),
        ("2019-05-04T12:30:00.123Z", "2019-05-04T12:30:00+00:00"),
        ("2019-05-04T12:30:00+0200", "2019-05-04T12:30:00+02:00"),
        ("Sat, 04 May 2019 12:30:00 +0200", "2019-05-04T12:30:00+02:00"),
        ("May 4th, 2019", "2019-05-04"),
        ("Published on 4 Sept. 2019 by us", "2019-09-04"),
        ("2019/05/04", "2019-05-04"),
        ("2019年5月4日", "2019-05-04"),
        ("20190504", "2019-05-04"),
        ("article.date.isoformat()", ""),
        ("2019-13-45", ""),
        ("04/05/2019", ""),
        ("May 45, 2019", ""),
        ("0019-05-04", ""),
        ("yesterday", ""),
    ],
)
def test_a_date_is_read_however_it_is_written(given, read):
    assert to_iso(given) == read


@given(st.text(max_size=100))
def test_any_text_is_a_date_or_none_and_a_date_stays_as_it_is(text):
    assert to_iso(to_iso(text)) == to_iso(text)


@given(st.datetimes(), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%Y/%m/%d"]))
def test_every_day_is_read_back(moment, form):
    expected = moment.date().isoformat() if 1900 <= moment.year < 2100 else ""

    assert to_iso(moment.strftime(form)) == expected or moment.year < 1000
