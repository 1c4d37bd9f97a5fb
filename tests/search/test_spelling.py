"""Spelling variants: all words one typing error away, without duplicates."""

import pytest

from archiver.search.spelling import (
    MAX_VARIANT_LENGTH,
    distance,
    words_one_edit_away,
    words_with_two_deletions,
)


@pytest.mark.parametrize("word", ["heron", "aab", "鳥取県", "straße2"])
def test_each_variant_is_one_error_away(word):
    assert {distance(word, each, 1) for each in words_one_edit_away(word)} == {1}


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
    assert not words_one_edit_away("a" * (MAX_VARIANT_LENGTH + 1)) | words_with_two_deletions(
        "a" * (MAX_VARIANT_LENGTH + 1)
    )


@pytest.mark.parametrize(
    ("one", "other", "most", "expected"),
    [
        ("heron", "heron", 0, 0),
        ("heron", "ehrno", 2, 2),
        ("heron", "on", 2, None),
        ("", "ab", 2, 2),
        ("abcdef", "xabcdefy", 2, 2),
        ("a" * 5000, "a" * 4999 + "b", 2, 1),
        ("b" + "a" * 4999, "a" * 4999 + "b", 1, None),
    ],
)
def test_very_long_words_are_compared_correctly(one, other, most, expected):
    assert distance(one, other, most) == expected
