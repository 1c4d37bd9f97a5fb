"""What is made of texts and keys that PostgreSQL can't hold as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.db.dialects import MOST_OF_KEY, bounded
from archiver.db.sql_functions import as_it_was, storable

TEXTS = st.text(alphabet="\0\x01\x02ab€😀", max_size=8)


@given(TEXTS)
def test_a_text_comes_back_as_it_was_and_holds_no_nul_meanwhile(text):
    assert "\0" not in storable(text)
    assert as_it_was(storable(text)) == text


@given(TEXTS, TEXTS)
def test_texts_sort_as_they_did(one, other):
    assert (storable(one) < storable(other)) == (one < other)


@pytest.mark.parametrize("letter", ["a", "€", "😀"])
def test_a_long_key_becomes_one_that_a_tree_holds_and_no_other_key_does(letter):
    most = MOST_OF_KEY // len(letter.encode())
    keys = [letter * length for length in range(most - 1, most + 3)]
    kept = [bounded(key) for key in keys]

    assert kept[:2] == keys[:2]
    assert len({*kept}) == len(keys)
    assert all(len(key.encode()) <= MOST_OF_KEY for key in kept)
