"""Years of a whole archive, limited in number."""

from datetime import UTC, datetime, timedelta

import pytest

from archiver.db.facets import MAX_YEARS, facets_of_all
from benchmarks.synthetic import Page, fill

YEAR = timedelta(days=365.25)


@pytest.fixture
def database(db):
    return db


async def years(database, most=9):
    async with database.read() as conn:
        found = {each.field: each.values for each in await facets_of_all(conn, most=most)}
    return [(each.value, each.count, each.is_more) for each in found.get("added", ())]


async def test_years_with_entries_are_listed_newest_first(database):
    for first, year in ((0, 2010), (3, 2014), (6, 2015)):
        start = datetime(year, 1, 1, tzinfo=UTC)
        pages = [Page(f"p{first + n}", "x", "y") for n in range(3)]
        await fill(database, pages, start, YEAR / 4, first=first)

    assert await years(database) == [("2015", 3, False), ("2014", 3, False), ("2010", 3, False)]
    assert (await years(database, most=2))[0] == ("2015", 2, True), "and no further than asked"


async def test_years_are_limited_to_the_newest(database):
    pages = [Page(f"p{n}", "x", "y") for n in range(MAX_YEARS + 5)]
    await fill(database, pages, datetime(1990, 6, 1, tzinfo=UTC), YEAR)

    assert [each for each, *_ in await years(database)][-1] == "1995"


async def test_an_empty_archive_has_no_years(database):
    assert await years(database) == []
