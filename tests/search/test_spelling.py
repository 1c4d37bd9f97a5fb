"""Spelling variants: all words one typing error away, without duplicates."""

import pytest
from rapidfuzz.distance import OSA

from archiver.db.spelling_candidates import MAX_VARIANT_LENGTH, words_one_edit_away


@pytest.mark.parametrize("word", ["heron", "aab", "鳥取県", "straße2"])
def test_each_variant_is_one_error_away(word):
    assert {OSA.distance(word, each) for each in words_one_edit_away(word)} == {1}


def test_variants_omit_insert_replace_and_swap_letters():
    assert words_one_edit_away("heron") >= {
        "eron",
        "hero",
        "herons",
        "xheron",
        "hexon",
        "heorn",
        "ehron",
    }
    assert "鳥取鳥" in words_one_edit_away("鳥取県")


def test_very_long_words_have_no_variants():
    assert not words_one_edit_away("a" * (MAX_VARIANT_LENGTH + 1))
