"""Overlong imported metadata is truncated, and nothing else is lost."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.rows import parse_date
from archiver.formats.seeds import (
    MAX_FOLDERS,
    MAX_NOTE,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    MAX_TITLE,
    bounded,
)
from archiver.model.annotation import Annotation


def test_a_tag_after_much_white_space_is_read():
    tags = (" " * 2000 + "otter", "\n" * 2000, "x" * 2000)

    result = bounded(Annotation("https://a.example/", tags=tags))

    assert result.tags == ("otter", "x" * MAX_TAG_CHARACTERS)


def test_overlong_values_are_kept_in_the_source_record():
    tags = tuple(f"tag {number}" for number in range(MAX_TAGS + 2))
    long = "y" * (MAX_TAG_CHARACTERS + 1)
    folders = tuple(f"folder {number}" for number in range(MAX_FOLDERS + 1))
    title, note = "t" * (MAX_TITLE + 1), "n" * MAX_NOTE + " and so on"

    result = bounded(
        Annotation(
            "https://a.example/",
            title=title,
            tags=(long, *tags),
            note=note,
            folders=folders,
            source_record='{"mood":"good"}',
        )
    )

    first, cut_off = map(json.loads, result.source_record.split("\n"))
    assert first == {"mood": "good"}
    assert cut_off == {
        "cut off": {
            "title": title,
            "tags": [long, *tags[MAX_TAGS - 1 :]],
            "note": " and so on",
            "folders": [folders[-1]],
        }
    }
    assert (result.title, result.note) == (title[:-1], "n" * MAX_NOTE)
    assert len(result.tags) == MAX_TAGS


@given(
    st.integers(0, 3 * MAX_TITLE),
    st.lists(st.integers(0, 3 * MAX_TAG_CHARACTERS), max_size=20),
    st.sampled_from([0, MAX_NOTE, 2 * MAX_NOTE, 10 * MAX_NOTE]),
)
def test_values_within_limits_are_unchanged(title, tags, note):
    once = bounded(
        Annotation(
            "https://a.example/",
            title="t" * title,
            tags=tuple("g" * each for each in tags),
            note="n" * note,
        )
    )

    assert bounded(once) == once


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
