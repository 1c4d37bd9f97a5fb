from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from archiver.db import new_entries
from archiver.formats.seeds import seed_of
from archiver.model.annotation import Annotation
from archiver.services.search import years_before

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def at(*date):
    return datetime(*date, tzinfo=UTC)


async def on_home(archive, saved, now=NOW):
    """Return the last letters of the entries on the home page, for links saved at these times."""
    db = archive.lists._db
    rows = [
        seed_of(Annotation(f"http://a.example/{name}", when), now=now)
        for name, when in saved.items()
    ]
    async with db.write() as conn:
        await new_entries.ensure(conn, rows)
    home = await archive.search.home_page(now)
    return tuple(
        "".join(each.entry.url[-1] for each in entries) for entries in (home.new, home.on_this_day)
    )


async def test_entries_of_the_last_week_are_new_in_order(archive):
    week = timedelta(days=7)
    saved = {"a": NOW - week, "b": NOW, "c": NOW - week - timedelta(seconds=1)}

    assert await on_home(archive, saved) == ("ba", "")


async def test_entries_saved_on_this_day_of_earlier_years_are_shown(archive):
    saved = {
        "a": at(2025, 3, 1, 23, 59, 59),
        "b": at(2019, 3, 1),
        "c": at(2025, 3, 2),
        "d": at(2025, 2, 28, 23, 59, 59),
        **dict.fromkeys("efg", at(2018, 3, 1, 8)),
    }

    new, old = await on_home(archive, saved)

    assert (new, old[:2], len(old)) == ("", "ab", 4)


@given(st.datetimes(at(1970, 1, 1).replace(tzinfo=None), at(2300, 1, 1).replace(tzinfo=None)))
def test_no_day_of_the_calendar_breaks_it(day):
    spans = years_before(day.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC))

    assert all(end - first == 86400 for first, end in spans)
