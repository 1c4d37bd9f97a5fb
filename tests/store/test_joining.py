"""Which segments may become one, and when the one may go again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.store.editions import is_made_of, joined_name, superseded
from archiver.store.joining import runs
from archiver.store.survey import SegmentFile

MOST = 100


def segment(serials: str | int, size: int = 10) -> SegmentFile:
    serials = f"{serials:05d}" if isinstance(serials, int) else serials
    return SegmentFile(f"archiver-20260301120000-0123456789ab-{serials}.warc.gz", size)


@pytest.mark.parametrize(
    ("serials", "expected"),
    [
        (["00001", "00002", "00004"], [["00001", "00002"]]),
        (["00001", "00002.2", "00003"], []),
        (["00001-00002", "00003", "00004"], [["00003", "00004"]]),
        (["00001"], []),
    ],
)
def test_only_first_editions_without_a_gap_become_one(serials, expected):
    found = runs(map(segment, serials), MOST)

    assert [*found] == [[*map(segment, each)] for each in expected]


@given(st.dictionaries(st.integers(1, 30), st.integers(1, 120)))
def test_what_is_joined_fits_and_takes_the_place_of_its_parts_alone(sizes):
    names = {segment(serial).name for serial in sizes}

    for run in runs([segment(serial, size) for serial, size in sizes.items()], MOST):
        joined = joined_name(run[0].name, run[-1].name)
        assert sum(each.size for each in run) <= MOST
        assert superseded([*names, joined]) == {each.name: joined for each in run}
        assert is_made_of(joined, [each.name for each in run])
        assert not is_made_of(joined, [each.name for each in run[1:]])
