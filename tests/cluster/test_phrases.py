"""Phrases in PostgreSQL, whose full-text index has no positions of words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from archiver.db.engine import Database
from archiver.db.schema import entry
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search, matching_entries
from benchmarks.synthetic import Page, fill
from tests.postgres import administer

START = datetime(2019, 12, 30, tzinfo=UTC)
PAGES = 60


def text_of(number):
    """Return a text: every third has "paper kite", every sixth "kite paper" too, all have both."""
    if number % 6 == 0:
        return "paper kite and kite paper"
    return "a paper kite" if number % 3 == 0 else f"kite {'made ' * (number % 5)}of paper"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Read few documents for a page."""
    for name, value in {"MIN_ROWS": 5, "MAX_EXAMINED": 12, "ENOUGH_READ": 3}.items():
        monkeypatch.setattr(f"archiver.services.result_iteration.{name}", value)


async def filled(place):
    opened = await Database.open(place)
    pages = [Page(f"p{n}", f"Number {n}", text_of(n)) for n in range(PAGES)]
    await fill(opened, pages, START, timedelta(days=1))
    return opened


@pytest.fixture
async def search(address):
    """A search over pages in PostgreSQL."""
    administer(f"ALTER DATABASE {address.rpartition('/')[2]} SET enable_seqscan = off")
    opened = await filled(address)
    yield Search(opened, store=None)
    await opened.close()


async def pages_of(search, q, **parameters):
    """Return the numbers of the entries on each page of a list."""
    results, after = [], ""
    while after is not None:
        page = await search.listing(ListingQuery(q=q, after=after, **parameters))
        whole = page.items[: len(page.items) - page.partial]
        results.append([int(each.entry.url.rpartition("/p")[2]) for each in whole])
        after = page.after
    return results


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


async def test_pagination_finds_each_match_of_a_phrase_once_in_both_engines(search, tmp_path):
    in_a_file = await filled(tmp_path / "archive.sqlite3")
    for engine in (search, Search(in_a_file, store=None)):
        for number, (q, is_match) in enumerate(QUERIES.items()):
            for sort in ("", Sort.NEWEST if number % 2 else Sort.OLDEST):
                pages = await pages_of(engine, q, sort=sort, limit=8)
                names = [each for page in pages for each in page]

                assert len(names) == len({*names}), (q, sort)
                assert sorted(names) == [n for n in range(PAGES) if is_match(n)], (q, sort)
                if sort:
                    assert names == sorted(names, reverse=sort is Sort.NEWEST), (q, sort)
        half_typed = [each for page in await pages_of(engine, '"paper kit"') for each in page]
        assert sorted(half_typed) == [*range(0, PAGES, 3)]
    await in_a_file.close()


@pytest.mark.parametrize(("sort", "step"), [(Sort.NEWEST, 1), (Sort.OLDEST, 1), (Sort.OLDEST, -1)])
async def test_an_entry_that_leaves_a_page_hides_no_other(search, sort, step):
    texts = ["a red kite" if n % 5 else "red, like a kite" for n in range(PAGES)]
    pages = [Page(f"q{n}", f"Number {n}", text) for n, text in enumerate(texts)]
    await fill(search._db, pages, START, timedelta(days=step), first=PAGES)
    query = ListingQuery(q='"red kite" is:unread', sort=sort, limit=4)
    page = await search.listing(query)
    shown = [each.entry.hash_url for each in page.items]

    while page.after:
        async with search._db.write() as conn:
            statement = update(entry).where(entry.c.hash_url == shown[-2])
            await conn.execute(statement.values(is_read=True))
        page = await search.listing(replace(query, after=page.after))
        shown += [each.entry.hash_url for each in page.items]

    assert len({*shown}) == texts.count("a red kite")


async def test_a_page_reads_a_limited_number_of_documents(search, monkeypatch):
    rare = await pages_of(search, '"paper of"', sort=Sort.NEWEST)
    of_rare = await search.summary(ListingQuery(q='"paper of"'))
    listing = await search.listing(ListingQuery(q='"paper kite"'))
    of_frequent = await search.summary(ListingQuery(q='"paper kite"'))

    assert rare == [[], [], [], []], "of 40 entries with both words, 12 are read for each page"
    assert of_rare.has_more
    assert 3 <= of_frequent.count == len(listing.items) < PAGES // 3
    assert of_frequent.has_more
    assert listing.after

    monkeypatch.setattr("archiver.services.result_iteration.MAX_EXAMINED", PAGES)
    (by_title,) = await pages_of(search, '"paper kite"', sort=Sort.TITLE)
    assert sorted(by_title) == [n for n in range(PAGES) if n % 3 == 0]


async def test_all_matches_of_a_phrase_can_be_read(search):
    async with search._db.read() as conn:
        query = ListingQuery(q='"paper kite"')
        rows = [row async for batch in matching_entries(conn, query, limit=4) for row in batch]

    assert len(rows) == len({*rows}) == PAGES // 3
