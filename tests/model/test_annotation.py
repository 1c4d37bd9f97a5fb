from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.model.annotation import (
    MAX_SOURCE_LINE,
    MAX_SOURCE_RECORD,
    Annotation,
    Highlight,
    merge_all,
    merged_notes,
    merged_source_records,
    paragraphs,
    read_source_record,
    write_source_record,
)
from archiver.model.capture import Location, RecordId
from archiver.model.entry_list import folder_names, folder_path
from archiver.model.rendering import Rendition, RenditionKind, RenditionRef, renditions_of

URL = "https://a.example/"
words = st.sampled_from(["", "one", "two"])
names = st.lists(st.sampled_from("abc"), unique=True).map(tuple)
annotations = st.builds(
    Annotation,
    st.just(URL),
    st.none() | st.integers(0, 3).map(lambda day: datetime(2020, 1, 1 + day, tzinfo=UTC)),
    words,
    names,
    words,
    is_read=st.booleans(),
    is_starred=st.booleans(),
    folders=names,
    highlights=names.map(lambda ids: tuple(Highlight(each, f"words of {each}") for each in ids)),
    source_record=st.sampled_from(["", '{"a":1}', '{"b":2}', '{"a":1}\n{"b":2}']),
)


@given(st.lists(annotations, min_size=1, max_size=9))
def test_merging_many_equals_merging_one_by_one(values):
    assert merge_all(values) == reduce(Annotation.merged, values)


@given(annotations, annotations)
def test_merging_loses_nothing_and_is_idempotent(first, later):
    both = first.merged(later)

    for one in (first, later):
        assert not one.added_at or both.added_at <= one.added_at
        assert {*one.tags} <= {*both.tags}
        assert {*one.folders} <= {*both.folders}
        assert {*one.highlights} <= {*both.highlights}
        assert one.note in both.note
        assert one.title in (both.title, *(each.get("title") for each in source_fields(both)), "")
        assert {*one.source_record.split("\n")} - {""} <= {*both.source_record.split("\n")}
    assert both.is_read == (first.is_read or later.is_read)
    assert both.is_starred == (first.is_starred or later.is_starred)
    assert both.merged(later) == both
    assert both.merged(both) == both


notes = st.text("ab \n\r", max_size=12)
merged_ones = st.lists(
    st.builds(
        replace,
        annotations,
        note=notes,
        source=st.sampled_from(["", "web", "import:a", "feed:http://a.example/f"]),
    ),
    min_size=1,
    max_size=3,
).map(lambda several: reduce(Annotation.merged, several))


@given(merged_ones, merged_ones, merged_ones)
def test_merging_is_associative(first, second, third):
    assert first.merged(second).merged(third) == first.merged(second.merged(third))
    assert first.merged(second).merged(second) == first.merged(second)
    assert first.merged(first) == first


def test_a_title_without_room_replaces_no_line():
    lines = [write_source_record({"title": f"m{n:05}{'x' * 1900}"}) for n in range(200)]
    full = Annotation(URL, title="one", source_record=merged_source_records("", "\n".join(lines)))

    both = full.merged(Annotation(URL, title="a" * 1900))

    assert {*full.source_record.split("\n")} <= {*both.source_record.split("\n")}
    assert len(both.source_record) <= MAX_SOURCE_RECORD


@given(notes, notes)
def test_note_paragraphs_are_merged_once_each_in_order(first, later):
    both = merged_notes(first, later)

    names = [each.strip() for each in paragraphs(first)]
    added = dict.fromkeys(each.strip() for each in paragraphs(later))
    if names:
        assert both.startswith(first)
        expected = [*names, *(each for each in added if each not in names)]
        assert [each.strip() for each in paragraphs(both)] == expected
    else:
        assert both in (first, later)
        assert paragraphs(both) == paragraphs(later)


MERGED_NOTES = (
    ("X\n\nX", "", "X\n\nX"),
    ("", "X\n\nX", "X\n\nX"),
    ("X\n\nX", "Y\n\nX\n\nY", "X\n\nX\n\nY"),
    ("X\n\nY", "X\n\nX\n\nY", "X\n\nY"),
    ("note 12", "note 1", "note 12\n\nnote 1"),
    ("X", "Y\n\n    an indented line\nZ", "X\n\nY\n\n    an indented line\nZ"),
)


def test_a_note_is_kept_and_new_paragraphs_are_added():
    for first, later, both in MERGED_NOTES:
        assert merged_notes(first, later) == both


def source_fields(annotation):
    return read_source_record(annotation.source_record)


@given(st.lists(st.text(max_size=9), max_size=5))
def test_folder_names_survive_joining_and_splitting(given_names):
    tidy = tuple(" ".join(each.split()) for each in given_names)

    assert folder_names(folder_path(given_names)) == tuple(filter(None, tidy))


@pytest.mark.parametrize(
    "said_there",
    [
        {"text": "x" * 10_000_000},
        {"texts": ["x" * 1000] * 1000},
        {str(number): "x" * 100 for number in range(10_000)},
    ],
)
def test_a_source_record_is_limited_and_stays_json(said_there):
    line = write_source_record(said_there)

    assert len(line) <= MAX_SOURCE_LINE
    assert read_source_record(line)


def test_source_record_lines_are_not_truncated():
    lines = "\n".join(f'{{"{number}":"{"x" * 1000}"}}' for number in range(1000))

    both = merged_source_records('{"first":1}', lines)

    assert len(both) <= MAX_SOURCE_RECORD
    assert len(read_source_record(both)) == both.count("\n") + 1 > 200


def test_an_empty_source_record_is_omitted():
    assert write_source_record({"a": "", "b": None, "c": [], "d": {}}) == ""
    assert read_source_record("no json\n[1]\n" + "[" * 100_000 + '\n{"a":1}') == [{"a": 1}]


ICON, COVER = RenditionKind.ICON, RenditionKind.COVER


def test_of_two_renditions_of_a_kind_the_first_existing_is_used():
    ids = [RecordId(f"urn:uuid:{number}") for number in range(4)]
    named = [
        RenditionRef(kind, "image/webp", record, "")
        for kind, record in zip([ICON, ICON, COVER, ICON], ids, strict=True)
    ]
    places = {record: Location("a", offset, 1) for offset, record in enumerate(ids)}
    del places[ids[0]]

    result = renditions_of(named, places)

    assert set(result) == {
        Rendition(ICON, "image/webp", places[ids[1]]),
        Rendition(COVER, "image/webp", places[ids[2]]),
    }
    assert len(result) == 2
