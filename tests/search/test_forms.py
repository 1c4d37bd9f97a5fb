import pytest

from archiver.search.query_tree import Term
from archiver.search.words import forms_of


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("files", "file"),
        ("file", "files"),
        ("copy", "copies"),
        ("copies", "copy"),
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


def test_a_prefix_has_no_other_form():
    assert forms_of(Term("files", prefix=True)) == (Term("files", prefix=True),)
