"""WARC files of others are read whether packed or plain, and as far as they are whole."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InvalidRecord, TornRecord
from archiver.warc.foreign import ForeignWarc
from tests.warcs import Warc

BODIES = [b"one", b"", b"three\r\n\r\nWARC/1.1\r\n" * 9, bytes(range(256)) * 300]


def written(*, packed):
    made = Warc(packed=packed)
    for number, body in enumerate(BODIES):
        made.add("resource", f"http://a.example/{number}", body)
    return made.bytes


FORMS = {
    "a member a record": written(packed=True),
    "plain": written(packed=False),
    "one member round all": gzip.compress(written(packed=False)),
}


def read(data):
    """The blocks of all records that are whole, and the error that ended them."""
    found = []
    try:
        for record in ForeignWarc(io.BytesIO(data)):
            block = record.block
            found.append(b"".join(iter(lambda block=block: block.read(1000), b"")))
    except (TornRecord, InvalidRecord) as error:
        return found, error
    return found, None


@pytest.mark.parametrize("form", FORMS)
def test_every_record_is_read_in_each_form(form):
    assert read(FORMS[form]) == (BODIES, None)


@pytest.mark.parametrize("form", FORMS)
@given(st.data())
def test_a_file_that_ends_early_gives_what_is_whole_and_says_so(form, data):
    whole = FORMS[form]
    end = data.draw(st.integers(1, len(whole) - 1))

    found, error = read(whole[:end])

    assert found == BODIES[: len(found)]
    assert error is not None or len(found) < len(BODIES) or end > len(whole) - 30


@given(st.binary(max_size=200), st.sampled_from([b"", b"WARC/1.1\r\n", b"\x1f\x8b\x08"]))
def test_whatever_stands_in_a_file_ends_in_an_error_of_ours_or_in_peace(junk, start):
    found, error = read(start + junk)

    assert error is None or isinstance(error, TornRecord | InvalidRecord)
    assert isinstance(found, list)


def test_zstandard_is_refused_in_words():
    _, error = read(b"\x28\xb5\x2f\xfd" + b"0" * 100)

    assert "zstd -d" in str(error)


def test_a_head_without_end_is_bounded():
    _, error = read(b"WARC/1.1\r\n" + b"X-Long: " + b"a" * 100_000)

    assert isinstance(error, InvalidRecord)
