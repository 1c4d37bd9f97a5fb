"""Highlights are found again at the same or a very similar passage only."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.model.annotation import Highlight
from archiver.pages import highlight_anchors
from archiver.pages.highlight_anchors import anchor, look_up, quoted

TEXT = (
    "The red kite is back. In 1990 there were few; the red kite was gone from most counties. "
    "Today, after thirty years of patient work by a great many people in all of them, you see it "
    "over motorways and villages, and nobody looks up any more when the red kite circles above. "
)


def marked(text, words, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    quote, prefix, suffix = quoted(text, start, start + len(words))
    return Highlight("0" * 16, quote, prefix, suffix, start)


def anchor_of(text, highlight):
    (place,) = anchor(text, [highlight])
    return place and (text[slice(*place)], place[0])


def test_the_same_text_gives_the_same_place():
    second = marked(TEXT, "the red kite", 1)

    assert anchor_of(TEXT, second) == ("the red kite", TEXT.index("the red kite circles"))


@pytest.mark.parametrize("nth", [0, 1])
def test_repeated_words_are_distinguished_by_their_context(nth):
    highlight = marked(TEXT, "the red kite", nth)
    longer = "A preface that was put before it, of some length. " + TEXT

    assert anchor_of(longer, highlight)[1] == highlight.start + 50


def test_slightly_changed_words_are_found():
    highlight = marked(TEXT, "after thirty years of patient work by a great many people")
    changed = TEXT.replace("thirty years of patient", "30 years of very patient")

    words, _ = anchor_of("New. " + changed, highlight)

    assert words == "after 30 years of very patient work by a great many people"


def test_a_long_quotation_is_found_by_its_ends():
    highlight = marked(TEXT, TEXT[22:].strip())
    changed = TEXT.replace("over motorways and villages", "over roads")

    words, _ = anchor_of(changed, highlight)

    assert words.startswith("In 1990")
    assert words.endswith("the red kite circles above.")


@pytest.mark.parametrize("text", ["", "Something else is written here about quite another matter."])
def test_removed_words_have_no_position(text):
    assert anchor_of(text, marked(TEXT, "the red kite was gone from most counties")) is None


@settings(max_examples=50)
@given(st.text(max_size=80), st.text(max_size=30), st.integers(-1, 90))
def test_a_position_is_always_within_the_text(text, quote, start):
    (place,) = anchor(text, [Highlight("0" * 16, quote, start=start)])

    assert place is None or 0 <= place[0] < place[1] <= len(text)


def test_the_number_of_fuzzy_searches_is_limited(monkeypatch):
    monkeypatch.setattr(highlight_anchors, "MAX_FUZZY", 1)
    highlight = Highlight("0" * 16, "the red kit circles abov")

    assert [each is not None for each in anchor(TEXT, [highlight, highlight])] == [True, False]


def test_white_space_does_not_matter():
    text = "One.Two  words\nhere (1) end"

    assert text[slice(*look_up(text, " Two words here (1)  "))] == "Two  words\nhere (1)"
    assert look_up(text, " ") is None
    assert look_up(text, "zzzzzz yyyyyyy") is None


def test_a_similar_passage_with_another_number_is_not_a_match():
    rows = [f"Note {n}, which says a little more. " for n in range(1, 7)]
    text = "".join(rows)
    highlight = marked(text, "Note 3, which says")

    assert anchor_of(text.replace(rows[2], "That is gone. "), highlight) is None
    assert anchor_of(f"New. {text}", highlight)[0] == "Note 3, which says"


def test_a_changed_number_is_a_match_if_nothing_else_is_similar():
    highlight = marked(TEXT, "In 1990 there were few")

    assert anchor_of(TEXT.replace("1990", "1991"), highlight)[0] == "In 1991 there were few"
