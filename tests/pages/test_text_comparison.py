"""Comparing texts loses nothing of either, in bounded time."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.model.page import Side
from archiver.pages.text_comparison import MAX_COMPARED, compare

words = st.lists(st.sampled_from("a b c é 日本 x, \n \n\n".split(" ")), max_size=30)
texts = words.map(" ".join)


def side(change, kind):
    return "".join(each.text for each in change.pieces if each.side in (Side.BOTH, kind))


def bare(text):
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


@given(texts, texts)
def test_both_texts_can_be_restored_from_the_comparison(before, after):
    change = compare(before, after)

    assert side(change, Side.BEFORE) == bare(before)
    assert side(change, Side.AFTER) == bare(after)
    assert change.is_same == (bare(before) == bare(after))


def test_added_and_removed_words_are_counted():
    change = compare("the quick brown fox", "the brown fox jumped over")

    assert (change.added_words, change.removed_words, change.words) == (2, 1, 5)


def test_each_character_of_text_without_spaces_is_a_word():
    change = compare("\u672c\u3092\u8aad\u3080", "\u672c\u3092\u66f8\u304f")

    assert (change.added_words, change.removed_words, change.words) == (2, 2, 4)


def test_very_long_texts_are_compared_partly():
    change = compare("a " * MAX_COMPARED, "b " * MAX_COMPARED)

    assert not change.is_whole
    assert change.added_words == change.removed_words == MAX_COMPARED // 2
