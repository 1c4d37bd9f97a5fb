"""Conversion of texts and keys that PostgreSQL cannot store unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.db.dialects import decode_nul, encode_nul
from archiver.db.schema import MAX_KEY_BYTES, shortened

TEXTS = st.text(alphabet="\0\x01\x02ab€😀", max_size=8)


@given(TEXTS)
def test_stored_texts_contain_no_nul_and_are_restored(text):
    assert "\0" not in encode_nul(text)
    assert decode_nul(encode_nul(text)) == text


@given(TEXTS, TEXTS)
def test_converted_texts_keep_their_order(one, other):
    assert (encode_nul(one) < encode_nul(other)) == (one < other)


@pytest.mark.parametrize("letter", ["a", "€", "😀"])
def test_long_keys_are_shortened_and_stay_unique(letter):
    most = MAX_KEY_BYTES // len(letter.encode())
    keys = [letter * length for length in range(most - 1, most + 3)]
    kept = [shortened(key) for key in keys]

    assert kept[:2] == keys[:2]
    assert len({*kept}) == len(keys)
    assert all(len(key.encode()) <= MAX_KEY_BYTES for key in kept)
