"""Overlong imported metadata is truncated, and nothing else is lost."""

import json

from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.seeds import (
    MOST_FOLDERS,
    MOST_NOTE,
    MOST_TAG_CHARACTERS,
    MOST_TAGS,
    MOST_TITLE,
    bounded,
)
from archiver.model.annotation import Annotation


def test_a_tag_after_much_white_space_is_read():
    tags = (" " * 2000 + "otter", "\n" * 2000, "x" * 2000)

    said = bounded(Annotation("https://a.example/", tags=tags))

    assert said.tags == ("otter", "x" * MOST_TAG_CHARACTERS)


def test_overlong_values_are_kept_in_the_source_record():
    tags = tuple(f"tag {number}" for number in range(MOST_TAGS + 2))
    long = "y" * (MOST_TAG_CHARACTERS + 1)
    folders = tuple(f"folder {number}" for number in range(MOST_FOLDERS + 1))
    title, note = "t" * (MOST_TITLE + 1), "n" * MOST_NOTE + " and so on"

    said = bounded(
        Annotation(
            "https://a.example/",
            title=title,
            tags=(long, *tags),
            note=note,
            folders=folders,
            source_record='{"mood":"good"}',
        )
    )

    first, cut_off = map(json.loads, said.source_record.split("\n"))
    assert first == {"mood": "good"}
    assert cut_off == {
        "cut off": {
            "title": title,
            "tags": [long, *tags[MOST_TAGS - 1 :]],
            "note": " and so on",
            "folders": [folders[-1]],
        }
    }
    assert (said.title, said.note) == (title[:-1], "n" * MOST_NOTE)
    assert len(said.tags) == MOST_TAGS


@given(
    st.integers(0, 3 * MOST_TITLE),
    st.lists(st.integers(0, 3 * MOST_TAG_CHARACTERS), max_size=20),
    st.sampled_from([0, MOST_NOTE, 2 * MOST_NOTE, 10 * MOST_NOTE]),
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
