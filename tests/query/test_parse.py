"""The search language, and what FTS5 makes of it."""

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.index.database import Database
from archiver.query.parse import MAX_TERMS, Query, Term, parse_query, terms, to_fts5

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {
    1: "The quick brown fox jumps over the lazy dog",
    2: "A slow brown bear; archives of the web",
    3: "Café society: an archiver's notes on C++ and don't-care terms",
}


def groups(text: str) -> list[list[str]]:
    return [[term.text for term in group] for group in parse_query(text).required]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two", [["one"], ["two"]]),
        ('"one two" three', [["one two"], ["three"]]),
        ("“one two”", [["one two"]]),
        ('one"two', [["one"], ["two"]]),
        ('"never closed', [["never closed"]]),
        ("one OR two three", [["one", "two"], ["three"]]),
        ("one OR two OR three", [["one", "two", "three"]]),
        ("OR one OR", [["one"]]),
        ("one or two", [["one"], ["or"], ["two"]]),
        ('one "OR" two', [["one"], ["OR"], ["two"]]),
        ("(one) (two", [["one"], ["two"]]),
        ('c++ ... - * -- "" \'', [["c++"]]),
        ("", []),
    ],
)
def test_what_is_required(text: str, expected: list[list[str]]) -> None:
    assert groups(text) == expected


def test_what_is_excluded() -> None:
    assert parse_query('one -two -"three four" well-known') == Query(
        required=((Term("one"),), (Term("well-known"),)),
        excluded=(Term("two"), Term("three four")),
    )


def test_prefixes() -> None:
    assert parse_query('arch* "the we"*').required == (
        (Term("arch", prefix=True),),
        (Term("the we", prefix=True),),
    )


def test_terms_are_what_is_worth_highlighting() -> None:
    assert terms(parse_query("one OR two one -three")) == (Term("one"), Term("two"))


def test_a_query_is_bounded() -> None:
    query = parse_query(" ".join(f"word{number}" for number in range(10_000)))

    assert len(query.required) <= MAX_TERMS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one", '"one"'),
        ("one two OR three", '"one" AND ("two" OR "three")'),
        ("one -two", '("one") NOT "two"'),
        ("one -two -three", '("one") NOT ("two" OR "three")'),
        ("arch*", '"arch"*'),
        ("-one", ""),
        ("...", ""),
    ],
)
def test_the_expression(text: str, expected: str) -> None:
    assert to_fts5(parse_query(text)) == expected


async def fill(path: "Path") -> None:
    database = await Database.open(path)
    async with database.write() as conn:
        for row, words in PAGES.items():
            await conn.exec_driver_sql(
                "INSERT INTO search (rowid, title, text) VALUES (?, '', ?)", (row, words)
            )
    await database.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> "Path":
    path = tmp_path_factory.mktemp("fts5") / "archive.sqlite3"
    asyncio.run(fill(path))
    return path


async def found(path: "Path", *queries: str) -> list[set[int]]:
    database = Database(path)
    answers = []
    async with database.read() as conn:
        for text in queries:
            rows = await conn.exec_driver_sql(
                "SELECT rowid FROM search WHERE search MATCH ?", (to_fts5(parse_query(text)),)
            )
            answers.append(set(rows.scalars()))
    await database.close()
    return answers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("brown", {1, 2}),
        ("BROWN fox", {1}),
        ("brown -fox", {2}),
        ("fox OR bear", {1, 2}),
        ("fox OR bear -web", {1}),
        ('"brown bear"', {2}),
        ('"bear brown"', set()),
        ("archiv*", {2, 3}),
        ("cafe", {3}),
        ("c++", {3}),
        ("don't", {3}),
        ("don't-care", {3}),
        ("NEAR(fox dog)", set()),
        ("title:fox", set()),
        ("fox NOT AND", set()),
        ("brown ... - *", {1, 2}),
    ],
)
async def test_fts5_finds_what_was_meant(filled: "Path", text: str, expected: set[int]) -> None:
    assert await found(filled, text) == [expected]


ODD = st.text(st.sampled_from(list("ab\"'*-+()^:{}[] ORANDNT.,;\\\0é中²Ⅷ\u0301")), min_size=1)


@settings(max_examples=20)
@given(st.lists(ODD, min_size=50, max_size=100))
async def test_no_query_is_a_syntax_error(filled: "Path", texts: list[str]) -> None:
    asked = [text for text in texts if to_fts5(parse_query(text))]

    assert len(await found(filled, *asked)) == len(asked)


@given(st.text())
def test_nothing_makes_it_raise(text: str) -> None:
    assert to_fts5(parse_query(text)).count('"') % 2 == 0
