"""Words of a text: the index and queries split them in the same way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.search.query_tree import Term
from archiver.search.words import forms_of, is_open, phrase_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café société: don't C++", ["cafe", "societe", "don", "t", "c"]),
        ("Straße ÉCOLE İstanbul", ["strasse", "ecole", "istanbul"]),
        ("e\u0301té “ﬁne”", ["ete", "fine"]),
        ("东京都", ["东京", "京都", "都"]),
        ("Python入門、猫", ["python", "入門", "門", "猫"]),
        ("ガス カス ｶﾞｽ", ["ガス", "ス", "カス", "ス", "ガス", "ス"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("हिन्दी में", ["हिनदी", "में"]),
        ("العَرَبِيَّة", ["العربية"]),
        (
            "Đặng Ħamrun \u0131ss\u0131z Straße Þór Ŋ",
            ["dang", "hamrun", "issiz", "strasse", "thor", "n"],
        ),
        ("Ðuro Hawai\u02bbi ǽ ɓ ﬀ Ǆ ẞ", ["duro", "hawaii", "ae", "b", "ff", "dz", "ss"]),
        (
            "Dampf\u00adschiff long\u200bword kite\u2060s a\ufeffb",
            "dampfschiff longword kites ab".split(),
        ),
        ("كتـــاب ❤\ufe0f 葛\U000e0100飾", ["كتاب", "葛飾", "飾"]),
        ("snake_case a\ue000b \0", ["snake", "case", "a", "b"]),
        ("", []),
    ],
)
def test_words_are_folded_and_text_without_spaces_split_into_pairs(text, words):
    assert words_of(text) == words


@given(st.text("東京都aé ภาษา。-"), st.integers(0, 30), st.integers(1, 30))
def test_any_part_of_a_text_without_spaces_is_found(text, start, length):
    part = "".join(each for each in text if each in "東京都")[start : start + length]
    whole = f"x {''.join(each for each in text if each in '東京都')} y"
    phrase, stored = phrase_of(part), words_of(whole)

    ends = [stored[n : n + len(phrase)] for n in range(len(stored))]
    if is_open(part):
        assert any(each.startswith(phrase[0]) for each in stored)
    else:
        assert phrase in [*ends, []]


@given(st.text())
def test_words_contain_only_letters_and_digits(text):
    for word in words_of(text):
        assert word
        assert not set(word) & set(' \t\n"*()^:\0\ue000')


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("files", "file"),
        ("file", "files"),
        ("copy", "copies"),
        ("copying", "copy"),
        ("parse", "parsing"),
        ("parser", "parsed"),
        ("classes", "class"),
    ],
)
def test_a_word_has_its_other_forms(word, form):
    assert form in [each.text for each in forms_of(Term(word))]


@pytest.mark.parametrize("text", ["tea", "grey heron", "東京", "x86files"])
def test_only_single_plain_words_have_other_forms(text):
    assert forms_of(Term(text)) == (Term(text),)
