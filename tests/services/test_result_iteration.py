"""How far one page of a list looks, and that the next ones go on from there."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from archiver.db.engine import Database
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search, matching_entries
from benchmarks.synthetic import Page, fill

START = datetime(2019, 12, 30, tzinfo=UTC)
MANY = " ".join(f"w{n}ords" for n in range(3000))
"""Words that take more than one page of the index."""


@pytest.fixture
async def database(tmp_path, monkeypatch):
    for name in (
        "archiver.db.schema.PART_SIZE",
        "archiver.db.search_documents.PART_SIZE",
        "archiver.db.ranking.PART_SIZE",
        "archiver.db.prefix_search.PART_SIZE",
    ):
        monkeypatch.setattr(name, 2)
    for name in ("archiver.services.result_iteration.PART_SIZE",):
        monkeypatch.setattr(name, 2)
    for name in ("archiver.db.prefix_costs.MOST_PAGES", "archiver.db.prefix_search.MOST_PAGES"):
        monkeypatch.setattr(name, 1)
    opened = await Database.open(tmp_path / "archive.sqlite3")
    words = {0: f"otter {MANY}", 3: "kite"}
    pages = [Page(f"p{n}", "x", f"heron {words.get(n, MANY)}") for n in range(7)]
    await fill(opened, pages, START, timedelta(days=1))
    yield opened
    await opened.close()


async def pages_of(search, q, **asked):
    """The names of what has all words on each page of a list, one page after the other."""
    found, after = [], ""
    while after is not None:
        page = await search.listing(ListingQuery(q=q, after=after, **asked))
        whole = page.items[: len(page.items) - page.partial]
        found.append([each.entry.url.rpartition("/")[2] for each in whole])
        after = page.after
    return found


@pytest.mark.parametrize("sort", ["", Sort.NEWEST, Sort.OLDEST])
async def test_without_a_dear_beginning_a_page_looks_in_few_parts_and_the_next_ones_in_the_rest(
    database, sort
):
    search = Search(database, store=None)

    without = await pages_of(search, "heron -w*", sort=sort)
    without_some = await pages_of(search, "heron -(w* kite)", sort=sort)

    assert len(without) == len(without_some) == 4
    assert [name for names in without for name in names] == ["p3"]
    assert all(len(names) <= 2 for names in without_some)
    everything = [name for names in without_some for name in names]
    assert sorted(everything) == [f"p{n}" for n in range(7)]


@pytest.mark.parametrize("sort", ["", Sort.NEWEST, Sort.OLDEST])
async def test_a_dear_beginning_that_is_wanted_is_looked_for_everywhere(database, sort):
    search = Search(database, store=None)

    (names,) = await pages_of(search, "heron w*", sort=sort)

    assert {*names} >= {"p0", "p1", "p2", "p4", "p5", "p6"}


async def test_what_lacks_a_word_comes_before_nothing_that_has_all_of_them(database):
    found = await pages_of(Search(database, store=None), "otter heron -(w* kite)")

    assert [name for names in found for name in names] == ["p0"]


async def test_whoever_wants_all_of_a_dear_beginning_gets_all(database):
    async with database.read() as conn:
        rows = [
            row
            async for some in matching_entries(conn, ListingQuery(q="heron -(w* kite)"), limit=2)
            for row in some
        ]

    assert len(rows) == 7


@pytest.fixture
async def told(database, monkeypatch):
    """The archive with one document more in each of three parts, a rare word in some of all."""
    monkeypatch.setattr("archiver.db.prefix_search.DEAR_PAGES", 1)
    monkeypatch.setattr("archiver.db.prefix_search.ROUNDS", (1, 2))
    frequent = " ".join(f"w{n}ords" for n in range(3000) for _ in range(3 if n == 1500 else 1))
    words = ["unicorn wonder", "unicorn", f"unicorn {frequent}", "unicorn", "unicorn waning", ""]
    pages = [Page(f"q{n}", "x", text) for n, text in enumerate(words)]
    await fill(database, pages, START + timedelta(days=30), timedelta(days=1), first=7)
    return Search(database, store=None)


@pytest.mark.parametrize("sort", ["", Sort.NEWEST, Sort.OLDEST])
@pytest.mark.parametrize("q", ["unicorn w*", "w* unicorn -heron", "unicorn w* (w* OR heron)"])
async def test_beside_a_rare_word_a_dear_beginning_is_found_wherever_it_stands(told, q, sort):
    names = [name for names in await pages_of(told, q, sort=sort) for name in names]

    assert sorted(names) == ["q0", "q2", "q4"]


async def test_where_no_frequent_word_tells_of_a_beginning_it_is_read_in_few_parts(told):
    pages = await pages_of(told, "unicorn w*", sort=Sort.NEWEST)

    assert len(pages) > 1
    assert [name for names in pages for name in names] == ["q4", "q2", "q0"]


async def test_newest_and_oldest_first_are_told_by_what_was_walked_through(database):
    asked = []
    event.listen(
        database._readers.sync_engine, "before_cursor_execute", lambda *of: asked.append(of[2])
    )
    search = Search(database, store=None)

    for sort in (Sort.NEWEST, Sort.OLDEST, Sort.TITLE):
        assert (await search.listing(ListingQuery(q="heron", sort=sort))).items

    assert sum("dense_rank" in each for each in asked) == 1
