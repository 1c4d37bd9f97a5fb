"""Phrases on a server, whose index knows which documents have words and not where."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, update

from archiver.db.engine import Database
from archiver.db.full_text import PostgresWords
from archiver.db.schema import entry
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search, matching_entries
from benchmarks.synthetic import Page, fill
from tests.postgres import administer

_PART = re.compile(r"search_\d{5}(?=\b)")
START = datetime(2019, 12, 30, tzinfo=UTC)
PAGES = 60
PARTED = (
    "db.schema",
    "db.search_documents",
    "db.ranking",
    "db.query_sql",
    "db.prefix_search",
    "services.result_iteration",
)
"""Modules that use the size of a full-text table."""


def text_of(number):
    """Both words are in all, one behind the other in every third, both ways in every sixth."""
    if number % 6 == 0:
        return "paper kite and kite paper"
    return "a paper kite" if number % 3 == 0 else f"kite {'made ' * (number % 5)}of paper"


@pytest.fixture(params=["file", "server"])
async def search(request, tmp_path, address, monkeypatch):
    """The same pages in each engine, in parts of seven, of which few are read for a page."""
    for module in PARTED:
        monkeypatch.setattr(f"archiver.{module}.PART_SIZE", 7)
    for name, value in {"LEAST_READ": 5, "MAX_LOOKED_AT": 12, "ENOUGH_READ": 3}.items():
        monkeypatch.setattr(f"archiver.services.result_iteration.{name}", value)
    monkeypatch.setattr(PostgresWords, "first_parts", 2)
    place = address if request.param == "server" else tmp_path / "archive.sqlite3"
    administer(f"ALTER DATABASE {address.rpartition('/')[2]} SET enable_seqscan = off")
    opened = await Database.open(place)
    pages = [Page(f"p{n}", f"Number {n}", text_of(n)) for n in range(PAGES)]
    await fill(opened, pages, START, timedelta(days=1))
    yield Search(opened, store=None)
    await opened.close()


async def pages_of(search, q, **asked):
    """The numbers of what is on each page of a list, one page after the other."""
    found, after = [], ""
    while after is not None:
        page = await search.listing(ListingQuery(q=q, after=after, **asked))
        whole = page.items[: len(page.items) - page.partial]
        found.append([int(each.entry.url.rpartition("/p")[2]) for each in whole])
        after = page.after
    return found


QUERIES = {
    "paper": lambda n: n >= 0,
    "number tag:none": lambda n: n < 0,
    '"paper kite"': lambda n: n % 3 == 0,
    '"kite paper" kite': lambda n: n % 6 == 0,
    '"paper kite" -"kite paper"': lambda n: n % 6 == 3,
    '("kite paper" OR "kite of paper") paper': lambda n: n % 6 == 0 or (n % 3 and n % 5 == 0),
    '"paper kit"*': lambda n: n % 3 == 0,
    '"kite paper" site:pages.example': lambda n: n % 6 == 0,
    '-"paper kite" paper': lambda n: n % 3,
}


@pytest.mark.parametrize("sort", ["", Sort.NEWEST, Sort.OLDEST])
@pytest.mark.parametrize("q", QUERIES)
async def test_page_after_page_has_what_another_engine_finds_at_once(search, q, sort):
    names = [each for page in await pages_of(search, q, sort=sort, limit=4) for each in page]

    assert len(names) == len({*names})
    assert sorted(names) == [n for n in range(PAGES) if QUERIES[q](n)]
    if sort:
        assert names == sorted(names, reverse=sort is Sort.NEWEST)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("sort", [Sort.NEWEST, Sort.OLDEST])
@pytest.mark.parametrize("search", ["server"], indirect=True)
async def test_what_leaves_a_page_lets_nothing_come_in_between(search, sort, step):
    texts = ["a red kite" if n % 5 else "red, like a kite" for n in range(PAGES)]
    pages = [Page(f"q{n}", f"Number {n}", text) for n, text in enumerate(texts)]
    await fill(search._db, pages, START, timedelta(days=step), first=PAGES)
    asked = ListingQuery(q='"red kite" is:unread', sort=sort, limit=2)
    page = await search.listing(asked)
    shown = [each.entry.hash_url for each in page.items]

    while page.after:
        async with search._db.write() as conn:
            gone = update(entry).where(entry.c.hash_url == shown[-2])
            await conn.execute(gone.values(is_read=True))
        page = await search.listing(replace(asked, after=page.after))
        shown += [each.entry.hash_url for each in page.items]

    assert len({*shown}) == texts.count("a red kite")


async def test_the_pages_of_a_phrase_whose_last_word_is_half_typed_go_on(search):
    names = [each for page in await pages_of(search, '"paper kit"', limit=4) for each in page]

    assert len(names) == len({*names})
    assert sorted(names) == [*range(0, PAGES, 3)]


@pytest.mark.parametrize("search", ["server"], indirect=True)
async def test_where_hardly_any_has_a_phrase_a_page_reads_so_many_and_the_next_goes_on(search):
    pages = await pages_of(search, '"paper of"', sort=Sort.NEWEST)
    _, summary = await search.listing_with_summary(ListingQuery(q='"paper of"'))

    assert not any(pages)
    assert len(pages) == 4  # of 40 that have both words, 12 are read for each
    assert summary.has_more


@pytest.mark.parametrize("search", ["server"], indirect=True)
async def test_where_many_have_a_phrase_enough_are_read_and_more_are_told_of_than_were_counted(
    search,
):
    listing, summary = await search.listing_with_summary(ListingQuery(q='"paper kite"'))

    assert 3 <= summary.count == len(listing.items) < PAGES // 3
    assert summary.has_more
    assert listing.after


async def test_an_order_that_does_not_go_on_is_of_all_that_one_walk_finds(search, monkeypatch):
    monkeypatch.setattr("archiver.services.result_iteration.MAX_LOOKED_AT", PAGES)

    (names,) = await pages_of(search, '"paper kite"', sort=Sort.TITLE)

    assert sorted(names) == [n for n in range(PAGES) if n % 3 == 0]


async def test_who_wants_all_of_a_phrase_gets_all(search):
    async with search._db.read() as conn:
        query = ListingQuery(q='"paper kite"')
        rows = [row async for some in matching_entries(conn, query, limit=4) for row in some]

    assert len(rows) == len({*rows}) == PAGES // 3


class Plans:
    """How a server goes about what is asked of the index of words."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def note(self, conn, _cursor, statement, parameters, *_) -> None:
        if "search_0" in statement and not statement.startswith("EXPLAIN"):
            rows = conn.exec_driver_sql(f"EXPLAIN (VERBOSE, COSTS OFF) {statement}", parameters)
            self.steps += [row[0].strip() for row in rows]


@pytest.fixture
async def plans(search):
    noted = Plans()
    event.listen(search._db._readers.engine, "before_cursor_execute", noted.note)
    return noted


@pytest.mark.parametrize("search", ["server"], indirect=True)
@pytest.mark.parametrize("q", ['"paper kite"', '"paper kite" is:unread'])
async def test_whether_words_follow_each_other_is_asked_of_documents_and_never_of_the_index(
    search, plans, q
):
    await search.listing_with_summary(ListingQuery(q=q))

    asked_of_index = [each for each in plans.steps if "Cond: " in each and "words @@" in each]
    assert asked_of_index
    assert not any("<->" in each for each in asked_of_index)
    assert any("rowid = ANY" in each for each in plans.steps)


@pytest.mark.parametrize("search", ["server"], indirect=True)
async def test_a_page_that_the_newest_parts_fill_is_asked_of_these_alone(
    search, plans, monkeypatch
):
    monkeypatch.setattr("archiver.services.result_iteration.LEAST_LOOK", 1)
    monkeypatch.setattr("archiver.services.result_pages.SORTED", 10)

    full = await search.listing(ListingQuery(q="paper", sort=Sort.NEWEST, limit=10))
    parts = {each for step in plans.steps for each in _PART.findall(step)}
    plans.steps.clear()
    none = await search.listing(ListingQuery(q="tiger", sort=Sort.NEWEST, limit=10))

    assert len(full.items) == 10
    assert parts == {"search_00008", "search_00007"}
    assert not none.items
    assert len({each for step in plans.steps for each in _PART.findall(step)}) == 9
