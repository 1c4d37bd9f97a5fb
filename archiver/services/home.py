"""Data of the home page."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from archiver.db import entries, snapshots
from archiver.db.engine import Database
from archiver.services.search_results import ListedEntry, shown_of

WEEK = timedelta(days=7)
MAX_NEW = 6
MAX_YEARS = 30
MAX_OF_A_YEAR = 2
_LEAP_DAY = (2, 29)


@dataclass(frozen=True, slots=True)
class HomePageContent:
    """Contents of the home page.

    Attributes:
        new: entries saved within the last week.
        on_this_day: entries saved on this day of earlier years, the latest year first.
    """

    new: tuple[ListedEntry, ...] = ()
    on_this_day: tuple[ListedEntry, ...] = ()


async def read_home_page(db: Database, now: datetime) -> HomePageContent:
    """Return the contents at the time ``now`` (aware). A day is a day in UTC."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    async with db.read() as conn:
        week = [_span(now - WEEK, now + timedelta(days=1))]
        new = await entries.added_within(conn, week, each=MAX_NEW)
        old = await entries.added_within(conn, years_before(today), each=MAX_OF_A_YEAR)
        ids = [*new, *old]
        by_id = await entries.by_ids(conn, ids)
        listed = await shown_of(conn, by_id, await snapshots.latest_of(conn, ids))
    return HomePageContent(
        tuple(listed[each] for each in new if each in listed),
        tuple(listed[each] for each in old if each in listed),
    )


def years_before(today: datetime) -> list[tuple[int, int]]:
    """Return the start and end of the same day in earlier years, as Unix times."""
    years = [*range(today.year - 1, today.year - 1 - MAX_YEARS, -1)]
    if (today.month, today.day) == _LEAP_DAY:
        years = [year for year in years if year % 4 == 0 and (year % 100 or year % 400 == 0)]
    days = [today.replace(year=year) for year in years]
    return [_span(day, day + timedelta(days=1)) for day in days]


def _span(first: datetime, end: datetime) -> tuple[int, int]:
    return int(first.timestamp()), int(end.timestamp())
