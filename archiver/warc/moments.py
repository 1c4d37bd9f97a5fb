"""WARC-Date as others write it (ISO 28500 §5.4, W3C NOTE-datetime), and the dates of ARC files."""

import re
from datetime import UTC, datetime, timedelta, timezone

from archiver.errors import InvalidRecord
from archiver.wire.moments import in_utc

_W3C = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?)?)?"
    r" ?(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII | re.IGNORECASE,
)
_DIGITS = re.compile(r"(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?\d*", re.ASCII)
_LEAP_SECOND = 60


def read_moment(text: str) -> datetime:
    """A date of any precision, or up to 14 digits: the first second it names, aware, UTC.

    A leap second is the one before it. Without a zone it is UTC, as the standard has it.

    >>> read_moment("2014-01"), read_moment("2016-12-31T23:59:60Z").second
    (datetime.datetime(2014, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 59)

    Raises:
        InvalidRecord: it is no date.
    """
    found = _W3C.fullmatch(text[:64].strip()) or _DIGITS.fullmatch(text[:64].strip())
    if not found:
        raise InvalidRecord(f"Its date, “{text[:64]}”, is none.")
    year, month, day, hour, minute, second, *zone = found.groups()
    seconds = int(second or 0)
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            seconds - (seconds == _LEAP_SECOND),
            tzinfo=_zone(*zone),
        )
    except ValueError as error:
        raise InvalidRecord(f"Its date, {text[:64]}, is none: {error}.") from error
    return in_utc(moment)


def _zone(given: str | None = None) -> timezone:
    if not given or given[0] not in "+-":
        return UTC
    minutes = int(given[1:3]) * 60 + int(given[-2:])
    return timezone(timedelta(minutes=-minutes if given[0] == "-" else minutes))
