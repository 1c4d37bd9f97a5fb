"""Dates and date ranges in search queries."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

FIRST_YEAR, LAST_YEAR = 1000, 9000
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
_AGE = re.compile(r"([<>])(\d{1,4})([dwmy])", re.ASCII)
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


@dataclass(frozen=True, slots=True)
class Date:
    """Calendar year, month or day; ``month`` and ``day`` are None for longer periods."""

    year: int
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        parts = (f"-{part:02}" for part in (self.month, self.day) if part)
        return f"{self.year}{''.join(parts)}"

    @property
    def begins(self) -> datetime:
        """Return the start of the period (UTC)."""
        return datetime(self.year, self.month or 1, self.day or 1, tzinfo=UTC)

    @property
    def following(self) -> "Date":
        """Return the next year, month or day."""
        if self.month is None:
            return Date(self.year + 1)
        if self.day is None:
            return Date(self.year + self.month // 12, self.month % 12 + 1)
        next_day = self.begins + timedelta(days=1)
        return Date(next_day.year, next_day.month, next_day.day)

    @property
    def preceding(self) -> "Date":
        """Return the previous year, month or day."""
        if self.month is None:
            return Date(self.year - 1)
        last = self.begins - timedelta(days=1)
        return Date(last.year, last.month, last.day if self.day else None)


@dataclass(frozen=True, slots=True)
class Dates:
    """Range from the start of ``first`` to the end of ``last``; None leaves an end open."""

    first: Date | None = None
    last: Date | None = None

    def __str__(self) -> str:
        if self.first == self.last:
            return str(self.first)
        return "..".join("" if each is None else str(each) for each in (self.first, self.last))

    def span(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return (start, exclusive end) of the range; None means an open end."""
        del now
        first = self.first.begins if self.first else None
        return first, self.last.following.begins if self.last else None


@dataclass(frozen=True, slots=True)
class Age:
    """Age limit: newer or older than a number of days, weeks, months or years.

    A month has 30 days, a year 365.
    """

    is_older: bool
    count: int
    unit: str

    def __str__(self) -> str:
        return f"{'>' if self.is_older else '<'}{self.count}{self.unit}"

    def span(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return (start, exclusive end) of the range; None means an open end."""
        moment = now - timedelta(days=min(self.count * _DAYS[self.unit], 365 * 1000))
        return (None, moment) if self.is_older else (moment, None)


def read_dates(text: str) -> Dates | Age:
    """Parse the value of a date field such as ``added:``.

    Raises:
        ValueError: the text is not a date, a range or an age.
    """
    age = _AGE.fullmatch(text)
    if age:
        return Age(age[1] == ">", int(age[2]), age[3])
    if ".." in text:
        ends = [_date(each) if each else None for each in text.split("..", 1)]
        if ends == [None, None]:
            raise ValueError("a range needs a start or an end")
        return Dates(ends[0], ends[1])
    if text.startswith((">", "<")):
        is_after, with_it = text[0] == ">", text[1:2] == "="
        date = _date(text[1 + with_it :])
        if is_after:
            return Dates(first=date if with_it else _checked(date.following))
        return Dates(last=date if with_it else _checked(date.preceding))
    return Dates(_date(text), _date(text))


def _date(text: str) -> Date:
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError("not a date")
    year, month, day = match.groups()
    date = Date(int(year), int(month) if month else None, int(day) if day else None)
    return _checked(date)


def _checked(date: Date) -> Date:
    if not FIRST_YEAR <= date.year <= LAST_YEAR or 0 in (date.month, date.day):
        raise ValueError("the date is out of range")
    _ = date.begins
    return date
