"""Temporary lines are sorted and unique, in any number."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.warc.temporary_lines import SortedLines


@given(st.lists(st.binary(max_size=5).filter(lambda line: b"\n" not in line)), st.integers(1, 40))
def test_lines_are_sorted_and_unique_with_any_memory_limit(given_, run_bytes):
    with SortedLines(run_bytes) as lines:
        lines.add_all(line + b"\n" for line in given_)

        assert list(lines) == sorted({line + b"\n" for line in given_})
