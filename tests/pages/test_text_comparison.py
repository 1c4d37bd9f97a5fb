"""Comparing texts loses nothing of either, in bounded time."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.model.page import Side
from archiver.pages.text_comparison import MOST_COMPARED, compare

words = st.lists(st.sampled_from("a b c é 日本 x, \n \n\n".split(" ")), max_size=30)
texts = words.map(" ".join)


def side(change, wanted):
    return "".join(each.text for each in change.pieces if each.side in (Side.BOTH, wanted))


def bare(text):
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


@given(texts, texts)
def test_both_texts_can_be_read_from_what_is_told_of_them(before, after):
    change = compare(before, after)

    assert side(change, Side.BEFORE) == bare(before)
    assert side(change, Side.AFTER) == bare(after)
    assert change.is_same == (bare(before) == bare(after))


def test_words_that_came_and_went_are_counted():
    change = compare("the quick brown fox", "the brown fox jumped over")

    assert (change.put_in, change.taken_out, change.words) == (2, 1, 5)


def test_a_character_of_a_script_without_spaces_is_a_word():
    change = compare("\u672c\u3092\u8aad\u3080", "\u672c\u3092\u66f8\u304f")

    assert (change.put_in, change.taken_out, change.words) == (2, 2, 4)


def test_texts_without_end_are_compared_as_far_as_is_bearable():
    change = compare("a " * MOST_COMPARED, "b " * MOST_COMPARED)

    assert not change.is_whole
    assert change.put_in == change.taken_out == MOST_COMPARED // 2
