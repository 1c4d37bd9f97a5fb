"""Which segments are read is told by their names alone."""

import pytest

from archiver.store.editions import is_ours, next_edition, serials_of, superseded


def segment(serials: str, writer: str = "0123456789ab") -> str:
    return f"archiver-20260301120000-{writer}-{serials}.warc.gz"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["00001", "00002"], {}),
        (["00001", "00001.2", "00001.3"], {"00001": "00001.3", "00001.2": "00001.3"}),
        (
            ["00001", "00002", "00003", "00001-00002"],
            {"00001": "00001-00002", "00002": "00001-00002"},
        ),
        (
            ["00001", "00003", "00001-00002", "00001-00003"],
            dict.fromkeys(("00001", "00003", "00001-00002"), "00001-00003"),
        ),
        (
            ["00001", "00001-00002", "00001-00002.2"],
            {"00001": "00001-00002.2", "00001-00002": "00001-00002.2"},
        ),
        (
            ["00001", "00002", "00002.2", "00001-00002"],
            {"00002": "00002.2", "00001-00002": "00002.2"},
        ),
        (["00002.2", "00001-00002"], {"00002.2": "00001-00002"}),
        (
            ["00001", "00002", "00002.2", "00001-00003"],
            {"00001": "00001-00003", "00002": "00002.2", "00002.2": "00001-00003"},
        ),
    ],
)
def test_a_later_edition_or_a_joined_one_is_read_instead(names, expected):
    found = superseded(map(segment, names))

    assert found == {segment(was): segment(to) for was, to in expected.items()}


def test_a_joined_segment_takes_the_place_of_its_own_writers_alone():
    other = segment("00002", "ffffffffffff")

    assert superseded([other, segment("00001-00003")]) == {}


def test_a_joined_segment_is_ours_and_has_editions():
    name = segment("00001-00012")

    assert (is_ours(name), serials_of(name)) == (True, (1, 12))
    assert next_edition(name) == segment("00001-00012.2")
