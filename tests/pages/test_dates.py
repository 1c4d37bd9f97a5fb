"""Readable dates become ISO 8601; others are dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.pages.metadata import read_dateline, to_iso


@pytest.mark.parametrize(
    ("text", "read"),
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
def test_dates_in_many_notations_are_read(text, read):
    assert to_iso(text) == read


@given(st.text(max_size=100))
def test_any_text_is_a_date_or_none(text):
    assert to_iso(to_iso(text)) == to_iso(text)


@given(st.datetimes(), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%Y/%m/%d"]))
def test_every_day_is_read_back(moment, form):
    expected = moment.date().isoformat() if 1900 <= moment.year < 2100 else ""

    assert to_iso(moment.strftime(form)) == expected or moment.year < 1000


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Posted on July 13, 2014", "2014-07-13"),
        ("Tue 11 March 2014", "2014-03-11"),
        ("05 Jan 2016, 00:00", "2016-01-05"),
        ("Mon Aug 4 10:25:49 CDT 2014", "2014-08-04"),
        ("2018\u5e746\u670817\u65e5", "2018-06-17"),
        ("Published: 2009-11-06 11:44 UTC", "2009-11-06"),
    ],
)
def test_a_line_with_only_a_date_is_a_dateline(line, day):
    assert read_dateline(["The mill", line, "1 May 2020"])[:10] == day


@pytest.mark.parametrize(
    "line",
    [
        "On 13 July 2014 the mill burnt down.",
        "Last updated September 14, 2016",
        "Expires: 18 June 2015",
        "6 June 1944",
        "May 2021",
        "3/4/2015",
        "#20781 - Cid - Mon May 17, 2004 8:58 pm",
        "",
    ],
)
def test_other_lines_are_not_datelines(line):
    assert read_dateline([line]) == ""
