"""The database index used for lists without a search text; empty facets need none."""

from datetime import UTC, datetime, timedelta

from archiver.db import list_order
from archiver.db.entries import Filters
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


async def test_each_spelling_of_a_tag_is_read_from_an_index(db):
    pages = [
        Page("a", "x", "x", ("Öld",)),
        Page("b", "x", "x"),
        Page("c", "x", "x", ("old", "Öld")),
        Page("d", "x", "x", ("old",)),
    ]
    await fill(db, pages, START, timedelta(days=1))

    page = await Search(db, store=None).listing(ListingQuery(q="tag:OLD"))

    both = {Filters(tag="old"), Filters(tag="Öld")}
    assert set((await index_used(db, "tag:OLD")).any_of) == both
    assert [each.entry.url[-1] for each in page.items] == ["d", "c", "a"]


async def test_rare_states_have_a_separate_index(db):
    for q, filters in {
        "is:starred is:read": Filters(is_starred=True, is_read=True),
        "is:highlighted is:starred": Filters(is_highlighted=True, is_starred=True),
        "is:unread": Filters(),
        "is:starred OR is:read": Filters(),
    }.items():
        assert await index_used(db, q) == filters, q
