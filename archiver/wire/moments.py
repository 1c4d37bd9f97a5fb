"""Moments as text (RFC 3339), in UTC and whole seconds, for every year that ``datetime`` knows.

``strftime`` writes the year 1 as ``1`` where the C library does, and a moment near either end of
the calendar can't be converted to UTC: neither may keep a record from being written or read.
"""

from datetime import UTC, datetime

FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def in_utc(moment: datetime) -> datetime:
    """A moment in UTC, fractions of a second cut off; one without a zone is taken for UTC.

    What lies beyond the years 1 to 9999 becomes the first or the last second of them.
    """
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC, microsecond=0)
    try:
        return moment.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        return FIRST if moment.year == FIRST.year else LAST


def write_iso(moment: datetime) -> str:
    """A moment to the second.

    >>> write_iso(datetime(1, 1, 1, tzinfo=UTC))
    '0001-01-01T00:00:00Z'
    """
    return f"{in_utc(moment).replace(tzinfo=None).isoformat()}Z"


def read_iso(text: str) -> datetime:
    """A moment from ISO 8601.

    Raises:
        ValueError: it is none.
    """
    return in_utc(datetime.fromisoformat(text))
