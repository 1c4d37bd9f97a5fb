"""Lines are sorted, each once, however many there are."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.warc.temporary_lines import SortedLines


@given(st.lists(st.binary(max_size=5).filter(lambda line: b"\n" not in line)), st.integers(1, 40))
def test_lines_come_back_sorted_and_once_whatever_fits_into_memory(given_, run_bytes):
    with SortedLines(run_bytes) as lines:
        lines.add_all(line + b"\n" for line in given_)

        assert list(lines) == sorted({line + b"\n" for line in given_})
