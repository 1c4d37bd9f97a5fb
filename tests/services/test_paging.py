"""Pages of a list show every entry once, despite changes in between."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from archiver.db.engine import Database
from archiver.db.entries import Place
from archiver.db.schema import entry_table
from archiver.errors import InputError
from archiver.model.listing import ListingQuery
from archiver.services.result_pages import read_cursor, write_cursor
from archiver.services.search import Search
from benchmarks.synthetic import Page, fill

START = datetime(2019, 12, 30, tzinfo=UTC)
SORTS = ["best", "newest", "title", "length"]


@pytest.fixture
async def database(tmp_path):
    open_archive = await Database.open(tmp_path / "archive.sqlite3")
    yield open_archive
    await open_archive.close()


async def keep(database, names, *, first=0, days=0, tags=()):
    """Store pages about herons with names at the start of titles; long ones have the last names."""
    pages = [
        Page(name, f"{name} heron", "heron " * (first + n + 1), tags)
        for n, name in enumerate(names)
    ]
    await fill(database, pages, START + timedelta(days=days), timedelta(days=1), first=first)


async def change(database, changed, *names):
    """Change the rows of some entries, by name."""
    urls = [f"https://pages.example/{name}" for name in names]
    async with database.write() as conn:
        await conn.execute(update(entry_table).where(entry_table.c.url.in_(urls)).values(changed))


async def listed_names(database, between, **parameters):
    """Return the names on the pages of a list; call ``between`` with those of the first page."""
    search = Search(database, store=None)
    results, after = [], ""
    while after is not None:
        page = await search.listing(ListingQuery(after=after, **parameters))
        names = [each.entry.url.rpartition("/")[2] for each in page.items]
        if not after:
            await between(names)
        results += names
        after = page.after
    return results


@pytest.mark.parametrize("sort", SORTS)
async def test_entries_saved_while_paging_do_not_shift_pages(database, sort):
    names = [f"p{n}" for n in range(7)]
    await keep(database, names)

    async def between(_):
        await keep(database, ["a", "b", "z"], first=20, days=-3)
        await keep(database, ["aa", "zz"], first=30, days=20)

    result = await listed_names(database, between, q="heron", sort=sort, limit=3)

    assert sorted(result) == names


@pytest.mark.parametrize("sort", SORTS)
async def test_an_entry_that_no_longer_matches_hides_nothing_of_the_next_page(database, sort):
    names = [f"p{n}" for n in range(7)]
    await keep(database, names)

    async def between(listed_names):
        await change(database, {"is_read": 1}, *listed_names)

    result = await listed_names(database, between, q="heron is:unread", sort=sort, limit=3)

    assert sorted(result) == names


async def test_prefixes_are_found_and_excluded(database):
    texts = ["heron kite", "heron", "kite", "herons", "kites heron", "heron", "kitten heron"]
    await fill(
        database,
        [Page(f"p{n}", "x", each) for n, each in enumerate(texts)],
        START,
        timedelta(days=1),
    )
    search = Search(database, store=None)

    for q, expected in {
        "heron k*": "p0 p4 p6",
        "heron ki* -kitt*": "p0 p4",
        "heron -k*": "p1 p5",
        "her* kite*": "p0 p4",
        "heron -(k* q*)": "p0 p1 p4 p5 p6",
    }.items():
        for sort in ("best", "newest", "oldest"):
            page = await search.listing(ListingQuery(q=q, sort=sort))
            full_matches = page.items[: len(page.items) - page.partial]
            names = [each.entry.url.rpartition("/")[2] for each in full_matches]
            assert sorted(names) == expected.split(), (q, sort)


def test_a_cursor_is_parsed_as_it_was_written():
    for first in (-631152000, -1, 0, 1, 253402300799):
        place = Place(first, 7)

        assert read_cursor(write_cursor(place)) == place, first


def test_a_damaged_cursor_is_rejected():
    for text in ("0.-1", f"0.{10**18}", "9" * 30 + ".", "1." + "9" * 30, "1.1.1", "."):
        with pytest.raises(InputError, match="damaged"):
            read_cursor(urlsafe_b64encode(text.encode()).decode().rstrip("="))
