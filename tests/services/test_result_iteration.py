"""The range read for one page of a list, and the cursor from which the next one continues."""

from datetime import UTC, datetime, timedelta

import pytest

from archiver.db.engine import Database
from archiver.db.entries import Place
from archiver.errors import InputError
from archiver.model.listing import ListingQuery, Sort
from archiver.services.result_pages import read_cursor, write_cursor
from archiver.services.search import Search, matching_entries
from benchmarks.synthetic import Page, fill

START = datetime(2019, 12, 30, tzinfo=UTC)
MANY = " ".join(f"w{n}ords" for n in range(3000))
"""Words that need more than one page of the index."""


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
    for name in ("archiver.db.query_sql.MAX_PAGES", "archiver.db.prefix_search.MAX_PAGES"):
        monkeypatch.setattr(name, 1)
    open_archive = await Database.open(tmp_path / "archive.sqlite3")
    words = {0: f"otter {MANY}", 3: "kite"}
    pages = [Page(f"p{n}", "x", f"heron {words.get(n, MANY)}") for n in range(7)]
    await fill(open_archive, pages, START, timedelta(days=1))
    yield open_archive
    await open_archive.close()


async def pages_of(search, q, **asked):
    """Return the names of matching entries on each page of a list."""
    found, after = [], ""
    while after is not None:
        page = await search.listing(ListingQuery(q=q, after=after, **asked))
        whole = page.items[: len(page.items) - page.partial]
        found.append([each.entry.url.rpartition("/")[2] for each in whole])
        after = page.after
    return found


async def test_without_a_dear_beginning_a_page_looks_in_few_parts_and_the_next_ones_in_the_rest(
    database,
):
    search = Search(database, store=None)

    for sort in ("", Sort.NEWEST, Sort.OLDEST):
        without = await pages_of(search, "heron -w*", sort=sort)
        without_some = await pages_of(search, "heron -(w* kite)", sort=sort)

        assert len(without) == len(without_some) == 4, sort
        assert [name for names in without for name in names] == ["p3"], sort
        assert all(len(names) <= 2 for names in without_some), sort
        everything = [name for names in without_some for name in names]
        assert sorted(everything) == [f"p{n}" for n in range(7)], sort


async def test_whoever_wants_all_of_a_dear_beginning_gets_all(database):
    async with database.read() as conn:
        rows = [
            row
            async for some in matching_entries(conn, ListingQuery(q="heron -(w* kite)"), limit=2)
            for row in some
        ]

    assert len(rows) == 7


def test_a_cursor_is_parsed_as_it_was_written():
    for first in (-631152000, -1, 0, 1, 253402300799):
        place = Place(first, 7)

        assert read_cursor(write_cursor(place)) == place, first


def test_a_cursor_out_of_range_is_rejected():
    for row in (-1, 10**18):
        with pytest.raises(InputError, match="damaged"):
            read_cursor(write_cursor(Place(0, row)))
