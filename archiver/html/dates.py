"""When an article was published: the ways pages write it, read as ISO 8601."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

EARLIEST: Final = 1900
LATEST: Final = 2100
LONGEST: Final = 80
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH = rf"(?P<month>{'|'.join(each[:3] for each in _MONTHS)})[a-z]{{0,6}}\.?"
_ISO = re.compile(
    r"(?P<date>\d{4}-\d{1,2}-\d{1,2})"
    r"(?:[T ]+(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?P<year>\d{4})[/.年]\s?(?P<number>\d{1,2})[/.月]\s?(?P<day>\d{1,2})日?")
_COMPACT = re.compile(r"(?P<year>\d{4})(?P<number>\d{2})(?P<day>\d{2})")
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>\d{{4}})", re.IGNORECASE
)
_BY_CLOCK = re.compile(
    rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})\s+\d\d:\d\d:\d\d\s+(?:[a-z]{{2,5}}\s+)?(?P<year>\d{{4}})",
    re.IGNORECASE,
)
"""As mail archives write it: ``Mon Aug 4 10:25:49 CDT 2014`` (asctime, C99 §7.23.3.1)."""

FIRST_ONLINE: Final = 1990
"""A line of a date before the web is of what an article tells, not of when it was published."""

_LEADING = re.compile(r"(?:posted|published|written|date)\b(?:\s+on\b)?[\s:]*", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]+")
_OF_DATES = re.compile(
    rf"(?:{'|'.join(_MONTHS)})|(?:{'|'.join(each[:3] for each in _MONTHS)}|sept)"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
    r"|am|pm|at|st|nd|rd|th|t|z|utc|gmt|[a-z][ds]t|c?e[sd]t|\u5e74|\u6708|\u65e5",
    re.IGNORECASE,
)


def read_dateline(lines: Iterable[str]) -> str:
    """The first date that a line says and nothing else, as ISO 8601; empty if none does."""
    for line in lines:
        said = _LEADING.sub("", line.strip(), count=1) if len(line) <= LONGEST else ""
        if said and all(map(_OF_DATES.fullmatch, _WORDS.findall(said))):
            found = to_iso(said)
            if found and int(found[:4]) >= FIRST_ONLINE:
                return found
    return ""


def to_iso(text: str) -> str:
    """A date, with its time and its zone where they are given, as ISO 8601.

    Returns:
        ``2019-05-04`` or ``2019-05-04T12:30:00+02:00``; empty for what is no date, an absurd one
        (before 1900 or from 2100 on), or one whose order of day and month is anybody's guess.
    """
    given = text.strip()[:LONGEST]
    if found := _ISO.match(given):
        return _from_iso(found)
    for pattern in (_NUMBERS, _MONTH_FIRST, _DAY_FIRST, _BY_CLOCK):
        if found := pattern.search(given):
            return _from_rfc(given) or _from_words(found)
    compact = _COMPACT.fullmatch(given)
    return _from_words(compact) if compact else ""


def _from_iso(found: re.Match[str]) -> str:
    year, month, day = map(int, found["date"].split("-"))
    if not found["time"]:
        return _day(year, month, day)
    zone = (found["zone"] or "").upper().replace("Z", "+00:00")
    clock = found["time"].rjust(8 if found["time"].count(":") == 2 else 5, "0")
    try:
        moment = datetime.fromisoformat(f"{year:04}-{month:02}-{day:02}T{clock}{zone}")
    except ValueError:
        return _day(year, month, day)
    return moment.isoformat() if EARLIEST <= moment.year < LATEST else ""


def _from_rfc(given: str) -> str:
    """RFC 5322, as feeds and mail write it."""
    if ":" not in given:
        return ""
    try:
        moment = parsedate_to_datetime(given)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return moment.isoformat() if EARLIEST <= moment.year < LATEST else ""


def _from_words(found: re.Match[str]) -> str:
    parts = found.groupdict()
    name = (parts.get("month") or "").lower()
    number = int(parts.get("number") or 0)
    if name:
        number = 1 + next(n for n, each in enumerate(_MONTHS) if each.startswith(name))
    return _day(int(parts["year"]), number, int(parts["day"]))


def _day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat() if EARLIEST <= year < LATEST else ""
    except ValueError:
        return ""
