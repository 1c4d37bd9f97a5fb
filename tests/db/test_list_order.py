"""Indexes and parts that lists and searches read, and the years of a whole archive."""

from datetime import UTC, datetime, timedelta

from archiver.db import list_order
from archiver.db.entries import Filters
from archiver.db.facets import facets_of_all
from archiver.model.listing import ListingQuery
from archiver.search.query_parser import parse_query
from archiver.services.search import Search
from benchmarks.synthetic import Page, fill

START = datetime(2019, 12, 30, tzinfo=UTC)


async def index_used(db, q):
    async with db.read() as conn:
        return await list_order.iteration_filters(conn, parse_query(q), Filters())


async def test_an_unused_name_is_one_empty_page(db, monkeypatch):
    for name in ("MIN_ROWS", "MAX_EXAMINED"):
        monkeypatch.setattr(f"archiver.services.result_iteration.{name}", 2)
    await fill(db, [Page(f"p{n}", "x", "x") for n in range(9)], START, timedelta(days=1))

    for q in ("tag:none", "list:none", "list:none/", "site:none.example"):
        page = await Search(db, store=None).listing(ListingQuery(q=q, limit=1))

        assert (page.items, page.after) == ((), None), q


async def test_rare_states_have_a_separate_index(db):
    for q, filters in {
        "is:starred is:read": Filters(is_starred=True, is_read=True),
        "is:highlighted is:starred": Filters(is_highlighted=True, is_starred=True),
        "is:unread": Filters(),
        "is:starred OR is:read": Filters(),
    }.items():
        assert await index_used(db, q) == filters, q


YEAR = timedelta(days=365.25)


async def years(db, most=9):
    async with db.read() as conn:
        results = {each.field: each.values for each in await facets_of_all(conn, most=most)}
    return [(each.value, each.count, each.is_more) for each in results.get("added", ())]


async def test_years_with_entries_are_listed_newest_first(db):
    for first, year in ((0, 2010), (3, 2014), (6, 2015)):
        start = datetime(year, 1, 1, tzinfo=UTC)
        pages = [Page(f"p{first + n}", "x", "y") for n in range(3)]
        await fill(db, pages, start, YEAR / 4, first=first)

    assert await years(db) == [("2015", 3, False), ("2014", 3, False), ("2010", 3, False)]
    assert (await years(db, most=2))[0] == ("2015", 2, True), "and no further than asked"
