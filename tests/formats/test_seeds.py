"""Overlong imported metadata is truncated, and nothing else is lost."""

import json
from datetime import UTC, datetime

import pytest

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


MOMENT = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "1600000000",
        " 1600000000.75 ",
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
        "4102444800",
        "99999999999999999999",
        "yesterday",
        "0001-01-01",
        "٣",
    ],
)
def test_invalid_and_absurd_times_are_none(text: str) -> None:
    assert parse_date(text) is None
