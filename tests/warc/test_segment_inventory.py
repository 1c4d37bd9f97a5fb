"""What lies among the segments: ours, torn ends of ours, and what is left alone and named."""

import os

import pytest

from archiver.errors import StoreError
from archiver.warc.segment_inventory import has_our_name, is_written_by_us, survey
from tests.stored_records import records
from tests.warcs import Warc

GARBAGE = "archiver-20240229120001-0123456789ab-00009.warc.gz"


@pytest.fixture
def ours(store):
    """A segment of ours."""
    (place, *_) = store.append(records((b"x", False)))
    return store.directory / place.segment


def named(found):
    return {each.name: (each.problem, each.is_loss) for each in found.unusable_files}


def test_segments_and_torn_ends_of_ours_are_known(ours):
    torn = [f"{ours.name}.torn", f"{ours.name}.2.torn"]
    for name in torn:
        ours.with_name(name).write_bytes(b"half")
    copy = ours.with_name("from-a-backup.warc.gz")
    copy.write_bytes(ours.read_bytes())

    found = survey(ours.parent)

    assert [each.name for each in found.segments] == [ours.name, copy.name]
    assert [each.name for each in found.truncated] == sorted(torn)
    assert found.unusable_files == ()
    assert found.segments[0].writer == ours.name.split("-")[2]
    assert found.segments[1].writer == ""


def test_what_is_not_ours_is_named(ours):
    foreign = Warc()
    foreign.add("warcinfo", "urn:x", b"software: Wget/1.21\r\n")
    there = {
        "wget.warc.gz": foreign.bytes,
        "empty.warc.gz": b"",
        "garbage.warc.gz": b"garbage",
        "notes.txt": b"notes",
        ".hidden": b"",
    }
    for name, content in there.items():
        ours.with_name(name).write_bytes(content)

    problems = named(survey(ours.parent))

    assert problems.keys() == there.keys() - {".hidden"}
    assert "archiver import" in problems["wget.warc.gz"][0]
    assert {is_loss for _, is_loss in problems.values()} == {False}


def test_what_is_called_a_segment_and_can_not_be_read_is_a_loss(ours):
    ours.with_name(GARBAGE).mkdir()
    ours.with_name(GARBAGE.replace("9.w", "8.w")).symlink_to("nowhere")
    os.mkfifo(ours.with_name(GARBAGE.replace("9.w", "7.w")))

    found = survey(ours.parent)

    assert [each.name for each in found.segments] == [ours.name]
    assert [is_loss for _, is_loss in named(found).values()] == [True] * 3


def test_what_says_so_was_written_by_us_and_the_name_is_another_matter(ours):
    copy = ours.with_name("copy.warc.gz")
    copy.write_bytes(ours.read_bytes())
    ours.with_name(GARBAGE).write_bytes(b"garbage")

    garbage = ours.with_name(GARBAGE)

    assert [has_our_name(each) for each in (ours, copy, garbage)] == [True, False, True]
    assert [is_written_by_us(each) for each in (ours, copy, garbage)] == [True, True, False]


def test_a_directory_that_is_not_there_is_empty_and_one_that_is_none_an_error(tmp_path):
    assert survey(tmp_path / "warc").segments == ()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError):
        survey(tmp_path / "file")
