"""Search syntax: query text, its tree, and positions of errors."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InvalidQuery
from archiver.search.query_dates import Age, Date, Dates
from archiver.search.query_fields import BY_NAME, FIELDS, OPERATORS
from archiver.search.query_parser import MAX_DEPTH, MAX_LENGTH, MAX_TERMS, fits, parse_query
from archiver.search.query_tree import (
    EVERYTHING,
    All,
    Any,
    Column,
    Condition,
    FieldCondition,
    Not,
    Numbers,
    Term,
    conjunction,
    disjunction,
    negate,
    positive_terms,
    query_text,
)

ONE, TWO, THREE = Term("one"), Term("two"), Term("three")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one", ONE),
        ("one two", All((ONE, TWO))),
        ('"one two" three', All((Term("one two"), THREE))),
        ("“one two”", Term("one two")),
        ('one"two', All((ONE, TWO))),
        ("one OR two three", All((Any((ONE, TWO)), THREE))),
        ("one OR (two three)", Any((ONE, All((TWO, THREE))))),
        ("OR one OR", ONE),
        ('one "OR" two', All((ONE, Term("OR"), TWO))),
        ("(one) (two", All((ONE, TWO))),
        ("() ((one))", ONE),
        ("one -two", All((ONE, Not(TWO)))),
        ('-"one two"', Not(Term("one two"))),
        ("-(one OR two)", Not(Any((ONE, TWO)))),
        ("-(-one)", ONE),
        ("well-known", Term("well-known")),
        ("arch*", Term("arch", prefix=True)),
        ('"the we"*', Term("the we", prefix=True)),
        ('c++ ... - * -- "" \'', Term("c++")),
        ("https://a.example/b", Term("a.example/b")),
        ("10:30 std::map Re: x", All((Term("10:30"), Term("std::map"), Term("Re:"), Term("x")))),
        ("", EVERYTHING),
        ("title:one", Term("one", Column.TITLE)),
        (
            'TITLE:"one two" -note:three*',
            All((Term("one two", Column.TITLE), Not(Term("three", Column.NOTE, prefix=True)))),
        ),
        ("site:https://Example.org/x", FieldCondition(Condition.SITE, "example.org")),
        ('tag:"to read"', FieldCondition(Condition.TAG, "to read")),
        ("is:READ", FieldCondition(Condition.IS, "read")),
        ("lang:pt_BR", FieldCondition(Condition.LANG, "pt-br")),
        ("added:2019-03..2020", FieldCondition(Condition.ADDED, Dates(Date(2019, 3), Date(2020)))),
        ("added:>2019-12", FieldCondition(Condition.ADDED, Dates(first=Date(2020, 1)))),
        ("added:<=2019-12-31", FieldCondition(Condition.ADDED, Dates(last=Date(2019, 12, 31)))),
        ("captured:>7d", FieldCondition(Condition.CAPTURED, Age(True, 7, "d"))),
        ("words:>2000", FieldCondition(Condition.WORDS, Numbers(2001))),
        ("score:<0.5", FieldCondition(Condition.SCORE, Numbers(None, 49))),
        ("score:>=0.29", FieldCondition(Condition.SCORE, Numbers(29))),
        ("score:0.3..1", FieldCondition(Condition.SCORE, Numbers(30, 100))),
        ("score:<50", FieldCondition(Condition.SCORE, Numbers(None, 49))),
        ("score:30..100%", FieldCondition(Condition.SCORE, Numbers(30, 100))),
        ("words:5..", FieldCondition(Condition.WORDS, Numbers(5))),
        ("status:4xx", FieldCondition(Condition.STATUS, "4xx")),
        ("failed:DNS", FieldCondition(Condition.FAILED, "dns")),
        ('failed:"walled 403"', FieldCondition(Condition.FAILED, "walled 403")),
    ],
)
def test_a_query_is_parsed_into_a_tree(text, expected):
    assert parse_query(text) == expected


@pytest.mark.parametrize(
    ("text", "refused", "suggestion"),
    [
        ("a tittle:one", "tittle:", "a title:one"),
        ("colour:red", "colour:", ""),
        ("is:unreed -x", "unreed", "is:unread -x"),
        ("type:artcle", "artcle", "type:article"),
        ("added:soon", "soon", ""),
        ("added:2019-13", "2019-13", ""),
        ("added:..", "..", ""),
        ("words:many", "many", ""),
        ("score:101", "101", ""),
        ("score:0.555", "0.555", ""),
        ("status:7", "7", ""),
        ("failed:bored", "bored", ""),
        ('failed:"dns 7"', '"dns 7"', ""),
        ("title:...", "...", ""),
        ("title:(a b)", "(", ""),
        ("tag:a*", "a*", ""),
        ('tag:""', '""', ""),
        ("is:-read", "-", ""),
        ("(" * (MAX_DEPTH + 1), "(", ""),
        ("a " * (MAX_TERMS + 1), "a", ""),
        ("é" * (MAX_LENGTH + 2), "éé", ""),
    ],
)
def test_errors_have_a_position_and_a_suggestion(text, refused, suggestion):
    with pytest.raises(InvalidQuery) as caught:
        parse_query(text)

    error = caught.value
    assert text[error.at : error.at + error.length] == refused
    assert error.suggestion == suggestion


def test_every_example_in_the_help_can_be_parsed():
    for each in (*FIELDS, *OPERATORS):
        assert parse_query(each.example) != EVERYTHING
    assert {*BY_NAME} == {*Column, *Condition}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("host:example.org", "site:example.org"),
        ('author:"Ursula Franklin"', 'by:"Ursula Franklin"'),
        ("kind:pdf", "type:pdf"),
        ("state:failed", "status:failed"),
        ("before:2020", "added:<2020"),
        ("after:2020-03", "added:>2020-03"),
        ("has:gaps", "is:gap"),
    ],
)
def test_filters_of_other_programs_are_understood(query, expected):
    assert parse_query(query) == parse_query(expected)


def test_words_to_highlight():
    assert list(positive_terms(parse_query("one OR two one -three"))) == [ONE, TWO, ONE]


PIECES = st.sampled_from(
    [*'ab-()*:é中"“ ', " OR ", *"title: tag: added: is:read x: 2019 .. >7d words:".split()]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text())
def test_any_query_is_parsed_or_has_an_error_position(text):
    tree, refused = read(text)

    if refused is None:
        assert parse_query(query_text(tree)) == tree
    else:
        assert 0 <= refused.at < refused.at + refused.length <= len(text)
        assert str(refused)


@given(st.lists(PIECES, max_size=30).map("".join), st.integers(1, 40), st.integers(1, 990))
def test_a_condition_is_added_only_if_the_result_can_be_parsed(text, times, length):
    tree, _ = read(" ".join([text] * times))
    more = conjunction([tree or EVERYTHING, FieldCondition(Condition.TAG, "a" * length)])

    assert fits(more, query_text(more)) == (read(query_text(more))[1] is None)


def read(text):
    try:
        return parse_query(text), None
    except InvalidQuery as error:
        return None, error


DATE = st.builds(Date, st.integers(1000, 9000)) | st.dates(
    min_value=date(1000, 1, 1), max_value=date(9000, 1, 1)
).map(lambda day: Date(day.year, day.month, day.day))
TEXT = (
    st.text("aé中 -:()*OR.&")
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: any(each.isalnum() for each in text))
)
LEAVES = st.one_of(
    st.builds(Term, TEXT, st.none() | st.sampled_from(Column), st.booleans()),
    st.builds(FieldCondition, st.just(Condition.TAG), TEXT),
    st.builds(
        FieldCondition, st.just(Condition.IS), st.sampled_from(BY_NAME["is"].values).map(str)
    ),
    st.builds(
        FieldCondition,
        st.sampled_from([Condition.ADDED, Condition.PUBLISHED]),
        st.builds(Dates, DATE, st.none() | DATE),
    ),
    st.builds(
        FieldCondition,
        st.just(Condition.ADDED),
        st.builds(Age, st.booleans(), st.integers(1, 9999), st.sampled_from("dwmy")),
    ),
    st.builds(
        FieldCondition,
        st.just(Condition.WORDS),
        st.builds(Numbers, st.integers(0, 999), st.none() | st.integers(0, 999)),
    ),
    st.builds(
        FieldCondition,
        st.just(Condition.SCORE),
        st.builds(Numbers, st.integers(0, 100), st.none() | st.integers(0, 100)),
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda some: st.one_of(
        st.lists(some, min_size=2, max_size=4).map(conjunction),
        st.lists(some, min_size=2, max_size=4).map(disjunction),
        some.map(negate),
    ),
    max_leaves=12,
)


@given(TREES)
def test_a_printed_tree_is_parsed_into_the_same_tree(tree):
    assert parse_query(query_text(tree)) == tree
