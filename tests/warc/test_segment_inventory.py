"""Files among the segments: ours, truncated tails, and unknown files, which are reported."""

import os

import pytest

from archiver.errors import StoreError
from archiver.warc.segment_inventory import is_written_by_us, survey
from archiver.warc.segment_versions import (
    is_segment_name,
    next_version,
    replaced_segments,
    serial_of,
)
from tests.stored_records import records
from tests.warcs import Warc

GARBAGE = "archiver-20240229120001-0123456789ab-00009.warc.gz"


@pytest.fixture
def ours(store):
    """A segment written by the program."""
    (place, *_) = store.append(records((b"x", False)))
    return store.directory / place.segment


def unusable_files(expected):
    return {each.name: (each.problem, each.has_lost_data) for each in expected.unusable_files}


def test_segments_and_truncated_tails_are_recognised(ours):
    tails = [f"{ours.name}.torn", f"{ours.name}.2.torn"]
    for name in tails:
        ours.with_name(name).write_bytes(b"half")
    copy = ours.with_name("from-a-backup.warc.gz")
    copy.write_bytes(ours.read_bytes())

    inventory = survey(ours.parent)

    assert [each.name for each in inventory.segments] == [ours.name, copy.name]
    assert [each.name for each in inventory.truncated] == sorted(tails)
    assert inventory.unusable_files == ()
    assert inventory.segments[0].writer == ours.name.split("-")[2]
    assert inventory.segments[1].writer == ""


def test_unknown_files_are_reported(ours):
    foreign = Warc()
    foreign.add("warcinfo", "urn:x", b"software: Wget/1.21\r\n")
    files = {
        "wget.warc.gz": foreign.bytes,
        "empty.warc.gz": b"",
        "garbage.warc.gz": b"garbage",
        "notes.txt": b"notes",
        ".hidden": b"",
    }
    for name, content in files.items():
        ours.with_name(name).write_bytes(content)

    problems = unusable_files(survey(ours.parent))

    assert problems.keys() == files.keys() - {".hidden"}
    assert "archiver import" in problems["wget.warc.gz"][0]
    assert {has_lost_data for _, has_lost_data in problems.values()} == {False}


def test_an_unreadable_segment_is_reported_as_a_loss(ours):
    ours.with_name(GARBAGE).mkdir()
    ours.with_name(GARBAGE.replace("9.w", "8.w")).symlink_to("nowhere")
    os.mkfifo(ours.with_name(GARBAGE.replace("9.w", "7.w")))

    inventory = survey(ours.parent)

    assert [each.name for each in inventory.segments] == [ours.name]
    assert [has_lost_data for _, has_lost_data in unusable_files(inventory).values()] == [True] * 3


def test_segments_are_recognised_by_content_and_not_by_name(ours):
    copy = ours.with_name("copy.warc.gz")
    copy.write_bytes(ours.read_bytes())
    ours.with_name(GARBAGE).write_bytes(b"garbage")

    garbage = ours.with_name(GARBAGE)

    assert [is_segment_name(each.name) for each in (ours, copy, garbage)] == [True, False, True]
    assert [is_written_by_us(each) for each in (ours, copy, garbage)] == [True, True, False]


def test_a_missing_directory_is_empty_and_a_file_in_its_place_an_error(tmp_path):
    assert survey(tmp_path / "warc").segments == ()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError):
        survey(tmp_path / "file")


def segment(serials: str, writer: str = "0123456789ab") -> str:
    return f"archiver-20260301120000-{writer}-{serials}.warc.gz"


def test_the_highest_version_of_a_segment_is_read():
    for names, expected in [
        (["00001", "00002"], {}),
        (["00001", "00001.2", "00001.3"], {"00001": "00001.3", "00001.2": "00001.3"}),
    ]:
        result = replaced_segments(map(segment, names))

        assert result == {segment(was): segment(to) for was, to in expected.items()}


def test_a_segment_merged_by_an_earlier_release_is_read():
    name = segment("00001-00012")

    assert (is_segment_name(name), serial_of(name)) == (True, 12)
    assert next_version(name) == segment("00001-00012.2")
