"""Reads the parameters of a CDX question, as the Wayback CDX server and pywb understand them.

Where the two differ, the Wayback Machine's way is taken (its clients are the more); pywb's names
and filter operators are understood too. Regular expressions are RE2's: linear in what they read.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import re2

from archiver.errors import InputError, InvalidUrl
from archiver.urls.parse import parse_url
from archiver.urls.surt import surt

FIELDS = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
"""What a row has if nothing else is asked for, in order."""
EXTRA_FIELDS = ("offset", "filename", "redirect")
ALIASES = {"url": "original", "mime": "mimetype", "status": "statuscode"}
MOST_ROWS = 150_000
"""The default limit, and the greatest: the Wayback CDX server's own."""
MOST_FROM_THE_END = 10_000
MOST_FILTERS = 16
MOST_PATTERN = 500
_PATTERN_BYTES = 1 << 20
_PERIOD = re.compile(r"[0-9]{1,14}")
_LAST = "\U0010ffff"
"""Sorts after every character of a key."""


class MatchType(StrEnum):
    """Which URLs are meant."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


class Output(StrEnum):
    """How rows are written."""

    TEXT = "text"
    JSON = "json"
    CDXJ = "cdxj"


@dataclass(frozen=True, slots=True)
class Filter:
    """A test of one field. ``passes`` tells whether a value does."""

    field: str
    passes: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class CdxQuery:
    """A question.

    Attributes:
        first_key, last_key: SURT keys from the one up to, but not with, the other.
        first, last: timestamps from the one to the other, as 14-digit integers.
        filters: all of them have to pass.
        fields: of a row, in order.
        limit: the most rows.
        newest_first: walk the keys backwards.
        from_end: the last ``limit`` rows are wanted, in the usual order.
        closest: a timestamp; rows come by their distance from it.
        collapse: (field, characters) of which neighbours may not have the same; 0 is all of them.
        output: how rows are written.
    """

    first_key: str
    last_key: str
    first: int = 0
    last: int = 99991231235959
    filters: tuple[Filter, ...] = ()
    fields: tuple[str, ...] = FIELDS
    limit: int = MOST_ROWS
    newest_first: bool = False
    from_end: bool = False
    closest: str = ""
    collapse: tuple[tuple[str, int], ...] = ()
    output: Output = Output.TEXT


def parse_cdx_query(given: Mapping[str, Sequence[str]]) -> CdxQuery:
    """Read parameters, each with all of its values; unknown ones do not matter.

    Raises:
        InputError: one can't be understood; its message says which.
    """
    url, match = _match(_one(given, "url"), _one(given, "matchType"))
    first_key, last_key = key_range(url, match)
    limit = _number(_one(given, "limit"), "limit", MOST_ROWS)
    sort = _one(given, "sort").lower() or "default"
    closest = _one(given, "closest")
    if sort not in ("default", "reverse", "closest"):
        raise InputError("sort is one of default, reverse and closest.")
    if sort == "closest" and (match is not MatchType.EXACT or not closest):
        raise InputError("sort=closest wants one URL (matchType=exact) and closest=TIMESTAMP.")
    if limit < -MOST_FROM_THE_END:
        raise InputError(f"The last {MOST_FROM_THE_END:,} rows are the most (limit=-N).")
    return CdxQuery(
        first_key=first_key,
        last_key=last_key,
        first=_bound(_one(given, "from"), "from", "0"),
        last=_bound(_one(given, "to"), "to", "9"),
        filters=_filters(given.get("filter", ())),
        fields=_fields(_one(given, "fl") or _one(given, "fields")),
        limit=min(abs(limit), MOST_ROWS),
        newest_first=sort == "reverse" or _one(given, "fastLatest").lower() == "true",
        from_end=limit < 0,
        closest=_closest(closest) if sort == "closest" else "",
        collapse=tuple(map(_collapse, given.get("collapse", ()))),
        output=_output(_one(given, "output")),
    )


def key_range(url: str, match: MatchType) -> tuple[str, str]:
    """The SURT keys that a URL and a match type mean: from the first up to, not with, the last.

    Raises:
        InputError: the URL is none.
    """
    key = _key(url)
    host, _, path = key.partition(")")
    match match:
        case MatchType.EXACT:
            return key, key + "\0"
        case MatchType.HOST:
            return f"{host})", f"{host}){_LAST}"
        case MatchType.DOMAIN:
            return f"{host})", f"{host},{_LAST}"
        case MatchType.PREFIX:
            start = f"{host}){path}"
            if url.endswith("/") and not start.endswith("/"):
                start += "/"
            return start, start + _LAST


def _key(url: str) -> str:
    try:
        return surt(parse_url(url if "://" in url else f"http://{url}"))
    except InvalidUrl as error:
        raise InputError(f"url: {error}") from error


def _match(url: str, given: str) -> tuple[str, MatchType]:
    if not url:
        raise InputError("Say which captures are wanted: url=example.com, or url=example.com/*.")
    if given and given not in list(MatchType):
        raise InputError("matchType is one of exact, prefix, host and domain.")
    if given:
        return url.removesuffix("*"), MatchType(given)
    if url.startswith("*."):
        return url.removeprefix("*."), MatchType.DOMAIN
    if url.endswith("*"):
        return url.removesuffix("*"), MatchType.PREFIX
    return url, MatchType.EXACT


def _one(given: Mapping[str, Sequence[str]], name: str) -> str:
    values = given.get(name, ())
    return values[0].strip() if values else ""


def _number(text: str, name: str, otherwise: int) -> int:
    if not text:
        return otherwise
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or int(text) == 0:
        raise InputError(f"{name} is a number, and not 0.")
    return int(text)


def _bound(text: str, name: str, filler: str) -> int:
    if not text:
        return 0 if filler == "0" else 99991231235959
    if not _PERIOD.fullmatch(text):
        raise InputError(f"{name} is 1 to 14 digits of a timestamp.")
    return int(text.ljust(14, filler))


def _closest(text: str) -> str:
    if not re.fullmatch(r"[0-9]{4,14}", text):
        raise InputError("closest is 4 to 14 digits of a timestamp.")
    return text


def _field(name: str) -> str:
    name = ALIASES.get(name, name)
    if name not in FIELDS + EXTRA_FIELDS:
        known = ", ".join(FIELDS + EXTRA_FIELDS)
        raise InputError(f"There is no field {name[:40]}. There are: {known}.")
    return name


def _fields(text: str) -> tuple[str, ...]:
    return tuple(_field(name.strip()) for name in text.split(",")) if text else FIELDS


def _collapse(text: str) -> tuple[str, int]:
    name, _, length = text.strip().partition(":")
    if length and not re.fullmatch(r"[0-9]{1,4}", length):
        raise InputError("collapse is a field, or a field and a number: collapse=timestamp:8.")
    return _field(name), int(length or 0)


def _output(text: str) -> Output:
    if text and text not in list(Output):
        raise InputError("output is one of text, json and cdxj.")
    return Output(text or Output.TEXT)


def _filters(given: Iterable[str]) -> tuple[Filter, ...]:
    found = tuple(map(_filter, given))
    if len(found) > MOST_FILTERS:
        raise InputError(f"There may be {MOST_FILTERS} filters.")
    return found


def _filter(text: str) -> Filter:
    """``[!]field:regex`` over the whole field; pywb's ``=field:text`` and ``~field:regex``."""
    negated, rest = text.startswith("!"), text.removeprefix("!")
    operator = rest[:1] if rest[:1] in ("=", "~") else ""
    name, colon, value = rest.removeprefix(operator).partition(":")
    if not colon or len(value) > MOST_PATTERN:
        raise InputError("filter is [!]field:regex, such as filter=statuscode:200.")
    field = _field(name)
    passes = value.__eq__ if operator == "=" else _matcher(value, whole=operator == "")
    return Filter(field, (lambda text: not passes(text)) if negated else passes)


def _matcher(pattern: str, *, whole: bool) -> Callable[[str], bool]:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise InputError(f"The filter {pattern[:80]!r} is no regular expression here.") from error
    look = compiled.fullmatch if whole else compiled.match
    return lambda text: look(text) is not None
