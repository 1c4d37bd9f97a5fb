"""Timestamps as text: RFC 3339, 14 digits and HTTP dates.

All are UTC in whole seconds. Dates at the ends of the calendar need care: ``strftime`` may write
the year 1 as ``1``, and converting to UTC can overflow. Records with such dates must stay readable
and writable.
"""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from archiver.errors import InputError
from archiver.model.capture import Timestamp

FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def in_utc(moment: datetime) -> datetime:
    """Convert to UTC without fractions of a second; times without a zone are taken as UTC.

    Times outside the years 1 to 9999 become the first or last second of that range.
    """
    if moment.tzinfo is None or moment.tzinfo is UTC:
        return moment.replace(tzinfo=UTC, microsecond=0)
    try:
        return moment.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        return FIRST if moment.year == FIRST.year else LAST


def write_iso(moment: datetime) -> str:
    """Format a time in UTC to the second (RFC 3339).

    >>> write_iso(datetime(1, 1, 1, tzinfo=UTC))
    '0001-01-01T00:00:00Z'
    """
    return f"{in_utc(moment).replace(tzinfo=None).isoformat()}Z"


def read_iso(text: str) -> datetime:
    """Parse an ISO 8601 time.

    Raises:
        ValueError: the text is not a valid time.
    """
    return in_utc(datetime.fromisoformat(text))


SHORTEST = 4
"""Minimum number of digits of a timestamp prefix: a year."""

_FIELDS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))
_DIGITS = re.compile(r"[0-9]{4,14}")
_MAX_DATE = 64
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_IMF_FIXDATE = re.compile(
    rf"(?:{'|'.join(_DAYS)}), (\d\d) ({'|'.join(_MONTHS)}) (\d{{4}}) "
    r"(\d\d):(\d\d):(\d\d) GMT",
    re.ASCII,
)
REMEMBERED = 256
"""Number of cached timestamps, because many events happen in the same second."""


@lru_cache(REMEMBERED)
def to_timestamp(moment: datetime) -> Timestamp:
    """Return the 14 digits of an aware ``moment``; fractions of a second are cut off.

    >>> to_timestamp(datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC))
    '20240229120001'
    """
    utc = in_utc(moment)
    return Timestamp(f"{utc.year:04}{utc:%m%d%H%M%S}")


def to_datetime(timestamp: Timestamp) -> datetime:
    """Convert 14 digits to an aware datetime.

    Raises:
        InputError: the digits are not a valid date and time.
    """
    if len(timestamp) != len("YYYYMMDDhhmmss") or not _DIGITS.fullmatch(timestamp):
        raise InputError(
            "“{timestamp}” is not a timestamp. Use 14 digits: YYYYMMDDhhmmss.",
            timestamp=timestamp[:40],
        )
    try:
        year, month, day, hour, minute, second = (
            int(timestamp[start:end]) for start, end in _FIELDS
        )
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise InputError(
            "“{timestamp}” is not a valid date and time. Use YYYYMMDDhhmmss.", timestamp=timestamp
        ) from None


def middle_of(prefix: str) -> Timestamp:
    """Return the middle of the period that a prefix of 4 to 14 digits covers.

    If there are captures within the period, the capture nearest to the middle is one of them. The
    capture nearest to the start or the end of the period can be outside of it. Impossible values,
    such as month 13, become the nearest possible value.

    >>> tuple(map(middle_of, ("2024", "202402", "20240229", "20240229120001")))
    ('20240702000000', '20240215120000', '20240229120000', '20240229120001')

    Raises:
        InputError: the prefix does not consist of 4 to 14 digits.
    """
    if not _DIGITS.fullmatch(prefix):
        raise InputError(
            "“{timestamp}” is not a timestamp. Use the first 4 to 14 digits of YYYYMMDDhhmmss.",
            timestamp=prefix[:40],
        )
    first, last = _end(prefix, "00000101000000"), _end(prefix, "99991231235959")
    return to_timestamp(first + (last - first + timedelta(seconds=1)) // 2)


def _end(prefix: str, filler: str) -> datetime:
    """Return the prefix completed with the last digits of ``filler``, clamped to a valid date."""
    digits = prefix + filler[len(prefix) :]
    year = max(1, int(digits[:4]))
    month = min(max(1, int(digits[4:6])), 12)
    day = min(max(1, int(digits[6:8])), monthrange(year, month)[1])
    hour, minute, second = (int(digits[pos : pos + 2]) for pos in (8, 10, 12))
    return datetime(year, month, day, min(hour, 23), min(minute, 59), min(second, 59), tzinfo=UTC)


def http_date(moment: datetime) -> str:
    """Format an aware ``moment`` as IMF-fixdate (RFC 9110 §5.6.7).

    >>> http_date(datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC))
    'Thu, 29 Feb 2024 12:00:01 GMT'
    """
    utc = in_utc(moment)
    day = f"{_DAYS[utc.weekday()]}, {utc.day:02} {_MONTHS[utc.month - 1]} {utc.year:04}"
    return f"{day} {utc.hour:02}:{utc.minute:02}:{utc.second:02} GMT"


def parse_accept_datetime(value: str) -> datetime:
    """Parse an ``Accept-Datetime`` header (RFC 7089 §2.1.1) into an aware datetime.

    The obsolete forms of HTTP-date are accepted too.

    Raises:
        InputError: the value is not an HTTP-date; a TimeGate responds 400 (RFC 7089 §4.5.3).
    """
    try:
        return in_utc(_http_date(value[:_MAX_DATE].strip()))
    except (ValueError, OverflowError, TypeError, IndexError):
        raise InputError(
            "“{date}” is not an HTTP date. Use a form such as “Thu, 29 Feb 2024 12:00:01 GMT”.",
            date=value[:_MAX_DATE],
        ) from None


def _http_date(text: str) -> datetime:
    if match := _IMF_FIXDATE.fullmatch(text):
        # email.utils maps years below 100 to 1969-2068, even when written with four digits.
        day, year, hour, minute, second = map(int, match.group(1, 3, 4, 5, 6))
        month = _MONTHS.index(match[2]) + 1
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return parsedate_to_datetime(text)
