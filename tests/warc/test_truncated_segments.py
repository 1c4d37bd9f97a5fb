"""The truncated tail of a killed writer is moved to its own file; other files are unchanged."""

import multiprocessing
from base64 import b64decode
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from archiver.errors import StoreError
from archiver.warc.segment_scanning import Scanned, scan
from archiver.warc.truncated_segments import cut_truncated_tail
from tests.stored_records import records

NAME = "archiver-20240229120001-0123456789ab-00001.warc.gz"
FOREIGN = "elsewhere-00001.warc.gz"
WHOLE = b64decode(
    "H4sIAAAAAAAA/0WPwUrEQBBE74H8Q/A+7kwnmWQaEXRzWfAUIoK3Tk9PNromS3ZWFPGD/A5/TBYC3oqqRxX1dNdu"
    "N+bapMlFqe7zKJi9SSRPkVazFZ4Xr3YNZjfnZcLzefSYsybholR9AU4VBEb1HEB5EF0Xga0TuF0LGoqCGWgolAYF"
    "rjOAWqM2zyvQ0TJIVI/tDrPLAi28H99lwY8VuD/M/KqacZBTxOy0Jygtes+BQ1HZ0pOxubPOVdD3oK3V2gETVHVV"
    "1eBdXoI3vqa8FpeHShOHvA9psp2nKFNcb9PxeBiZ4jhPm5fTPP3nDzINcY9ZnSZp8nX1+3OF5vui/wBeT2/UPwEA"
    "AA=="
)
"""A record in which one wrong bit can hide the end of its header."""
REPEATED = {
    "max_examples": 25,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
    "deadline": None,
}


@pytest.fixture
def segment(store):
    """Return the bytes of a segment, and where its records begin and end."""
    places = store.append(records((b"some words " * 50, False), (b"more", True)))
    data = (store.directory / places[0].segment).read_bytes()
    starts = [0, *(place.offset for place in places)]
    return data, [*zip(starts, [*starts[1:], len(data)], strict=True)]


@pytest.fixture
def write_segment(tmp_path_factory):
    """Return a function that writes a segment into an empty directory."""

    def write(data, name=NAME):
        path = tmp_path_factory.mktemp("warc") / name
        path.write_bytes(data)
        return path

    return write


def other_files(path):
    """Return all other files in a segment's directory, by name."""
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each != path}


def offsets(path):
    return [each.record.offset for each in scan(path, from_offset=0) if isinstance(each, Scanned)]


def flipped(data, flips):
    damaged = bytearray(data)
    for share, bit in flips:
        if damaged:
            damaged[int(share * (len(damaged) - 1))] ^= 1 << bit
    return bytes(damaged)


FLIPS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 7)), max_size=2)


@bounds(**REPEATED)
@given(share=st.floats(0, 1), flips=FLIPS)
@example(share=1.0, flips=[])
def test_no_complete_record_is_lost_and_the_tail_is_kept(segment, write_segment, share, flips):
    data, spans = segment
    damaged = flipped(data[: int(share * len(data))], flips)
    path = write_segment(damaged)
    intact = [
        start
        for start, end in spans
        if damaged[start:end] == data[start:end] and end <= len(damaged)
    ]

    size = cut_truncated_tail(path, from_offset=0, is_writer_known=True)

    tails = other_files(path)
    assert path.read_bytes() + b"".join(tails.values()) == damaged
    assert path.stat().st_size == size
    assert set(intact) <= set(offsets(path))
    assert set(tails) <= {f"{NAME}.torn"}


@bounds(**REPEATED)
@given(share=st.floats(0, 1))
def test_the_tail_starts_after_the_last_complete_record(segment, write_segment, share):
    data, spans = segment
    path = write_segment(data[: int(share * len(data))])

    size = cut_truncated_tail(path, from_offset=0, is_writer_known=True)

    assert size == max([0, *(end for _, end in spans if end <= int(share * len(data)))])


@bounds(**REPEATED)
@given(share=st.floats(0, 1), flips=FLIPS, more=st.binary(max_size=40))
def test_a_foreign_file_is_never_changed(segment, write_segment, share, flips, more):
    content = flipped(segment[0][: int(share * len(segment[0]))], flips) + more
    path = write_segment(content, FOREIGN)

    for is_writer_known in (False, True):
        with suppress(StoreError):
            cut_truncated_tail(path, from_offset=0, is_writer_known=is_writer_known)

    assert path.read_bytes() == content
    assert other_files(path) == {}


@pytest.mark.parametrize("name", [FOREIGN, NAME])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"\x00" * 5000,
        b"\x1f\x8b\x08\x00 that is no gzip",
        b"\x1f\x8b",
        b"<html>",
    ],
)
def test_a_file_without_our_header_is_not_changed(write_segment, name, content):
    """With any name, unless the writer is known."""
    path = write_segment(content, name)

    with suppress(StoreError):
        cut_truncated_tail(path, from_offset=0)

    assert path.read_bytes() == content
    assert other_files(path) == {}


def test_the_truncated_tail_of_our_segment_is_removed(segment, write_segment):
    data, spans = segment
    path = write_segment(data[:-3])

    assert cut_truncated_tail(path, from_offset=0) == spans[-1][0]
    assert other_files(path) == {f"{NAME}.torn": data[spans[-1][0] : -3]}


def test_a_complete_but_damaged_last_record_stays(segment, write_segment):
    """Also where the damage makes its reader continue past its end."""
    data, spans = segment
    start, end = spans[-1]
    head = start + 80
    path = write_segment(data)
    for position in range(head, end):
        for bit in (0, 3, 7):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            if damaged[-4:] != data[-4:]:
                continue
            path.write_bytes(damaged)
            size = cut_truncated_tail(path, from_offset=0, is_writer_known=True)
            assert (size, other_files(path)) == (len(data), {}), (position, bit)


def test_a_damaged_last_record_stays_if_the_end_of_its_header_is_hidden(write_segment):
    path = write_segment(WHOLE)
    for position in range(80, len(WHOLE) - 4):
        for bit in range(8):
            damaged = bytearray(WHOLE)
            damaged[position] ^= 1 << bit
            path.write_bytes(damaged)

            size = cut_truncated_tail(path, from_offset=0, is_writer_known=True)

            assert (size, other_files(path)) == (len(WHOLE), {}), (position, bit)


@pytest.mark.parametrize("more", [b"\x00" * 4096, b"half a rec"])
def test_bytes_that_are_not_a_record_stay(segment, write_segment, more):
    path = write_segment(segment[0] + more)

    assert cut_truncated_tail(path, from_offset=0, is_writer_known=True) == len(segment[0]) + len(
        more
    )
    assert other_files(path) == {}


def test_indexed_bytes_are_not_scanned_again(segment, write_segment):
    data = segment[0][:-3]
    path = write_segment(data)

    assert cut_truncated_tail(path, from_offset=len(data), is_writer_known=True) == len(data)


def test_a_kept_tail_is_never_overwritten(segment, write_segment):
    data, spans = segment
    path = write_segment(data[:-3])
    path.with_name(f"{NAME}.torn").write_bytes(b"of an earlier cut")
    path.with_name(f"{NAME}.2.torn").write_bytes(b"of another")

    cut_truncated_tail(path, from_offset=0)

    assert other_files(path) == {
        f"{NAME}.torn": b"of an earlier cut",
        f"{NAME}.2.torn": b"of another",
        f"{NAME}.3.torn": data[spans[-1][0] : -3],
    }


def test_only_one_of_two_concurrent_processes_removes_the_tail(segment, write_segment):
    data, spans = segment
    path = write_segment(data[:-3])
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_cut, args=(path,)) for _ in range(2)]
    for each in processes:
        each.start()
    for each in processes:
        each.join()

    assert [each.exitcode for each in processes] == [0, 0]
    assert path.read_bytes() == data[: spans[-1][0]]
    assert other_files(path) == {f"{NAME}.torn": data[spans[-1][0] : -3]}


def _cut(path):
    cut_truncated_tail(path, from_offset=0)


def test_a_segment_that_cannot_be_truncated_stays_unchanged(segment, write_segment):
    data = segment[0][:-3]
    path = write_segment(data)
    path.with_name(f"{NAME}.torn.new").mkdir()

    with pytest.raises(StoreError, match="Cannot move the truncated end"):
        cut_truncated_tail(path, from_offset=0)

    assert path.read_bytes() == data
