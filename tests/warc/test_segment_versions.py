"""Segment names contain the version that is read."""

import pytest

from archiver.warc.segment_versions import is_segment_name, next_version, serial_of, superseded


def segment(serials: str, writer: str = "0123456789ab") -> str:
    return f"archiver-20260301120000-{writer}-{serials}.warc.gz"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["00001", "00002"], {}),
        (["00001", "00001.2", "00001.3"], {"00001": "00001.3", "00001.2": "00001.3"}),
    ],
)
def test_the_highest_version_of_a_segment_is_read(names, expected):
    found = superseded(map(segment, names))

    assert found == {segment(was): segment(to) for was, to in expected.items()}


def test_a_segment_merged_by_an_earlier_release_is_read():
    name = segment("00001-00012")

    assert (is_segment_name(name), serial_of(name)) == (True, 12)
    assert next_version(name) == segment("00001-00012.2")
