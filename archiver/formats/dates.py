"""When a bookmark was saved: the many ways producers write a moment, read as one."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBER = re.compile(r"\s*([0-9]{1,20})(?:\.[0-9]{0,20})?\s*")
_NAMED_UTC = re.compile(r"\s*(?:UTC|GMT|Z)\Z", re.IGNORECASE)
_FORMS = (
    *("%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"),
    *("%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y %H:%M"),
    *(
        "%d/%b/%Y:%H:%M:%S %z",
        "%B %d, %Y at %I:%M%p",
        "%b %d, %Y, %I:%M:%S %p",
        "%Y-%m-%d %H:%M:%S %z",
    ),
)
"""As people write dates; not 3/4/2020, which is two days."""
_MOST = 100
_UNIX = 0
_COCOA = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp())
_WEBKIT = int(datetime(1601, 1, 1, tzinfo=UTC).timestamp())

_EARLIEST_COCOA = 63_072_000
"""2003 in Cocoa seconds, the year of Safari; smaller numbers are counters, not moments."""
_EARLIEST_UNIX = 820_454_400
"""1996. Numbers below it would be bookmarks older than any bookmark file: they are Cocoa's."""
_FIRST_YEAR, _LAST_YEAR = 1996, 2099
_LATEST = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
_MILLISECONDS, _MICROSECONDS, _WEBKIT_MICROSECONDS = 10**11, 10**14, 10**16


def parse_date(text: str) -> datetime | None:
    """Read a moment as bookmark files write it.

    Unix time in seconds, milliseconds or microseconds, Cocoa's seconds since 2001, WebKit's
    microseconds since 1601, told apart by their size; ISO 8601; the date of a mail (RFC 5322); or
    one of the few ways of people that can't be taken for another.

    Returns:
        An aware datetime in UTC, whole seconds; None for what is no moment or an absurd one
        (before 1996 or after 2099). One that lies in the future is given as it stands: only the
        caller knows the time.
    """
    number = _NUMBER.fullmatch(text)
    if number:
        return _from_number(int(number[1]))
    text = text.strip()[:_MOST]
    return (_from_iso(text) or _from_mail(text) or _from_people(text)) if text else None


def sensible(moment: datetime) -> datetime | None:
    """An aware moment in UTC to the second; None if it is absurd."""
    try:
        moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return None
    return moment.replace(microsecond=0) if moment.microsecond else moment


def _from_number(value: int) -> datetime | None:
    if value >= _WEBKIT_MICROSECONDS:
        return _sensible(_WEBKIT, value // 10**6)
    if value >= _MICROSECONDS:
        return _sensible(_UNIX, value // 10**6)
    if value >= _MILLISECONDS:
        return _sensible(_UNIX, value // 10**3)
    if value >= _EARLIEST_UNIX:
        return _sensible(_UNIX, value)
    return _sensible(_COCOA, value) if value >= _EARLIEST_COCOA else None


def _sensible(epoch: int, seconds: int) -> datetime | None:
    """A moment so many seconds behind an epoch, itself in Unix seconds."""
    since = epoch + seconds
    return datetime.fromtimestamp(since, UTC) if _EARLIEST_UNIX <= since < _LATEST else None


def _from_iso(text: str) -> datetime | None:
    zone = text if text[-1].isdecimal() else _NAMED_UTC.sub("+00:00", text)
    try:
        moment = datetime.fromisoformat(zone)
    except ValueError:
        return None
    return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _from_mail(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _from_people(text: str) -> datetime | None:
    for form in _FORMS:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - UTC below, if it names none
        except ValueError:
            continue
        return sensible(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return None
