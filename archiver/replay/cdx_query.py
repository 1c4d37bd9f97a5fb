"""CDX server queries.

Unknown parameters are rejected: if they were ignored, a client that uses them for paging or
filtering would get wrong rows without noticing.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import re2

from archiver.errors import InputError, InvalidUrl
from archiver.http.surt import shortened, surt
from archiver.http.urls import parse_url
from archiver.model.capture import KeyRange

FIELDS = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
"""Default fields of a row, in order."""
EXTRA_FIELDS = ("offset", "filename", "redirect")
DUPES = ("dupecount",)
RESOLVED = ("orig.length", "orig.offset", "orig.filename")
COUNTED = (*DUPES, *RESOLVED)
"""Fields that a row has only if the client requests them with a parameter."""
PYWB_NAMES = {"original": "url", "mimetype": "mime", "statuscode": "status"}
ALIASES = {theirs: name for name, theirs in PYWB_NAMES.items()}


def field_of(name: str) -> str:
    """Return the canonical name of a field.

    Raises:
        InputError: the field does not exist.
    """
    name = ALIASES.get(name, name)
    if name not in FIELDS + EXTRA_FIELDS + COUNTED:
        names = ", ".join(FIELDS + EXTRA_FIELDS + COUNTED)
        raise InputError(f"Unknown field {name[:40]}. Fields are: {names}.")
    return name


_LAST = "\U0010ffff"
"""Character that sorts after every character of a key."""


class MatchType(StrEnum):
    """How the ``url`` parameter selects captures."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


def match_of(url: str, name: str) -> tuple[str, MatchType]:
    """Return the URL without its wildcard, and the match type of the parameter or the wildcard.

    Raises:
        InputError: the URL is missing, or the match type is unknown.
    """
    if not url:
        raise InputError("Choose the captures with url=example.com or url=example.com/*.")
    if name and name not in list(MatchType):
        raise InputError("matchType must be exact, prefix, host or domain.")
    if name:
        return url.removesuffix("*"), MatchType(name)
    if url.startswith("*."):
        return url.removeprefix("*."), MatchType.DOMAIN
    if url.endswith("*"):
        return url.removesuffix("*"), MatchType.PREFIX
    return url, MatchType.EXACT


def key_range(url: str, match: MatchType) -> tuple[str, str]:
    """Return the range of SURT keys that a URL and a match type select; the end is exclusive.

    Raises:
        InputError: the URL is invalid.
    """
    key = _key(url)
    host, _, path = key.partition(")")
    match match:
        case MatchType.EXACT:
            key = shortened(key)
            return key, key + "\0"
        case MatchType.HOST:
            return f"{host})", f"{host}){_LAST}"
        case MatchType.DOMAIN:
            return f"{host})", f"{host},{_LAST}"
        case MatchType.PREFIX:
            start = f"{host}){path}"
            if url[-1:] in ("/", "?") and not start.endswith(url[-1]):
                start += url[-1]
            return start, start + _LAST


def _key(url: str) -> str:
    try:
        return surt(parse_url(url if "://" in url else f"http://{url}"))
    except InvalidUrl as error:
        raise InputError(f"url: {error}") from error


MAX_FILTERS = 16
MAX_PATTERN_LENGTH = 500
_MAX_PATTERN_MEMORY = 1 << 20
_Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """A test of one field. ``passes`` returns whether a value matches."""

    field: str
    passes: _Test


def parse_filters(texts: Iterable[str], *, pywb: bool = False) -> tuple[Filter, ...]:
    """Parse filters in the dialect of the Wayback CDX server or of pywb.

    ============  ==============================  ===============================
    filter        Wayback                         pywb
    ============  ==============================  ===============================
    field:x       the whole field matches regex   the field contains x
    ~field:x      the field contains x            regex matches from the start
    =field:x      the field is x                  the field is x
    ============  ==============================  ===============================

    ``!`` before or after the operator negates it.

    Raises:
        InputError: a filter is invalid.
    """
    filters = tuple(_filter(text, pywb=pywb) for text in texts)
    if len(filters) > MAX_FILTERS:
        raise InputError(f"At most {MAX_FILTERS} filters are allowed.")
    return filters


def _filter(text: str, *, pywb: bool) -> Filter:
    head, colon, value = text.partition(":")
    name = head.lstrip("!=~")
    marks = head[: len(head) - len(name)]
    if not colon or len(value) > MAX_PATTERN_LENGTH or marks.strip("!") not in ("", "=", "~"):
        raise InputError("filter must be [!]field:regex, such as filter=statuscode:200.")
    passes = _test(marks.strip("!"), value, pywb=pywb)
    negated = marks.count("!") % 2 == 1
    return Filter(field_of(name), (lambda text: not passes(text)) if negated else passes)


def _test(operator: str, value: str, *, pywb: bool) -> _Test:
    if operator == "=":
        return value.__eq__
    if (operator == "~") is not pywb:
        return lambda text: value in text
    return _matcher(value, whole=not pywb)


def _matcher(pattern: str, *, whole: bool) -> _Test:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_PATTERN_MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise InputError(
            f"The filter {pattern[:80]!r} is not a supported regular expression."
        ) from error
    look = compiled.fullmatch if whole else compiled.match
    return lambda text: look(text) is not None


MAX_ROWS = 150_000
"""Default and maximum limit, the same as that of the Wayback CDX server."""
MAX_ROWS_FROM_END = 10_000
BLOCK_CAPTURES = 3000
"""Number of captures in a block; a page consists of blocks."""
MAX_BLOCKS = 50
"""Default and maximum number of blocks in a page."""
_PERIOD = re.compile(r"[0-9]{1,14}")
_YES, _NO = ("true", "1", "yes", "on"), ("", "false", "0", "no", "off")
_PARAMETERS = frozenset(
    """
    url matchType from to filter fl limit offset sort closest collapse output gzip fastLatest page
    pageSize showNumPages showPagedIndex showResumeKey resumeKey resolveRevisits showDupeCount
    fields
    """.split()
)
_PYWB_PARAMETERS = _PARAMETERS | {"from_ts", "reverse", "collapseTime", "allowFuzzy"}


class Output(StrEnum):
    """Output formats."""

    TEXT = "text"
    JSON = "json"
    CDXJ = "cdxj"
    LINES = "jsonl"


@dataclass(frozen=True, slots=True)
class Paging:
    """Paging parameters.

    Attributes:
        number: page number, from 0; None for no paging.
        blocks: blocks in a page.
        is_counted: return only the number of pages.
        shows_resume_key: append the key of the next row to the response.
        resume_key: key of the first row; empty for the start.
    """

    number: int | None = None
    blocks: int = MAX_BLOCKS
    is_counted: bool = False
    shows_resume_key: bool = False
    resume_key: str = ""


@dataclass(frozen=True, slots=True)
class CdxQuery(KeyRange):
    """A parsed CDX query: the range of captures to read, and what of it to return.

    Attributes:
        filters: all must match.
        fields: fields of a row, in order.
        limit: maximum number of rows.
        offset: number of rows to skip.
        from_end: return the last ``limit`` rows, in ascending order.
        closest: a timestamp; rows are sorted by their distance from it.
        collapse: (field, length) pairs: adjacent rows with the same prefix of that length are
            collapsed; 0 compares the whole value.
        output: output format.
        counts: computed fields that the client requested.
        paging: paging parameters.
        is_packed: whether the response may be compressed.
        pywb: use the dialect of pywb.
    """

    filters: tuple[Filter, ...] = ()
    fields: tuple[str, ...] = FIELDS
    limit: int = MAX_ROWS
    offset: int = 0
    from_end: bool = False
    closest: str = ""
    collapse: tuple[tuple[str, int], ...] = ()
    output: Output = Output.TEXT
    counts: tuple[str, ...] = ()
    paging: Paging = Paging()
    is_packed: bool = True
    pywb: bool = False


def parse_cdx_query(parameters: Mapping[str, Sequence[str]], *, pywb: bool = False) -> CdxQuery:
    """Parse query parameters, each with all of its values; with ``pywb``, in the dialect of pywb.

    Raises:
        InputError: a parameter is unknown or invalid; the message names it.
    """
    _reject_unknown(parameters, _PYWB_PARAMETERS if pywb else _PARAMETERS)
    url, match = match_of(_first_value(parameters, "url"), _first_value(parameters, "matchType"))
    first_key, last_key = key_range(url, match)
    limit, counts = _limit(parameters), _computed_fields(parameters)
    is_reverse = _first_value(parameters, "sort") == "reverse" or _flag(parameters, "reverse")
    query = CdxQuery(
        first_key=first_key,
        last_key=last_key,
        first=_timestamp_bound(
            _first_value(parameters, "from") or _first_value(parameters, "from_ts"), "from", "0"
        ),
        last=_timestamp_bound(_first_value(parameters, "to"), "to", "9"),
        filters=parse_filters(parameters.get("filter", ()), pywb=pywb),
        fields=_fields(
            _first_value(parameters, "fl") or _first_value(parameters, "fields"), counts
        ),
        limit=min(abs(limit), MAX_ROWS),
        offset=_number(parameters, "offset", 0, least=0),
        # The last rows are read from the end, and then reversed.
        newest_first=is_reverse is not (limit < 0),
        from_end=limit < 0,
        closest=_closest(parameters),
        collapse=_collapses(parameters),
        output=_output(_first_value(parameters, "output"), pywb=pywb),
        counts=counts,
        paging=_paging(parameters),
        is_packed=_flag(parameters, "gzip", otherwise=True),
        pywb=pywb,
    )
    _reject_contradictions(query, match)
    return query


def _reject_unknown(parameters: Mapping[str, Sequence[str]], names: frozenset[str]) -> None:
    for name in parameters:
        if name not in names:
            raise InputError(
                f"Unknown parameter {name[:40]}. Parameters are: {', '.join(sorted(names))}."
            )
    if _flag(parameters, "showPagedIndex"):
        raise InputError("showPagedIndex is not supported, because there is no secondary index.")
    if _flag(parameters, "allowFuzzy"):
        raise InputError("allowFuzzy is not supported: URLs must match exactly.")


def _reject_contradictions(query: CdxQuery, match: MatchType) -> None:
    if query.closest and (match is not MatchType.EXACT or query.newest_first or query.from_end):
        raise InputError(
            "sort=closest requires a single URL (matchType=exact), without a negative limit and "
            "fastLatest."
        )
    if query.paging.number is not None and (query.closest or query.from_end):
        raise InputError(
            "page cannot be combined with sort=closest, a negative limit or fastLatest."
        )
    if query.from_end and query.limit > MAX_ROWS_FROM_END:
        raise InputError(f"limit=-N can return at most the last {MAX_ROWS_FROM_END:,} rows.")


def _first_value(parameters: Mapping[str, Sequence[str]], name: str) -> str:
    values = parameters.get(name, ())
    return values[0].strip() if values else ""


def _flag(parameters: Mapping[str, Sequence[str]], name: str, *, otherwise: bool = False) -> bool:
    text = _first_value(parameters, name).lower()
    if text not in _YES + _NO:
        raise InputError(f"{name} must be true or false.")
    return text in _YES if text else otherwise


def _number(
    parameters: Mapping[str, Sequence[str]],
    name: str,
    otherwise: int,
    *,
    least: int,
    most: int = 10**9,
) -> int:
    text = _first_value(parameters, name)
    if not text:
        return otherwise
    if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise InputError(f"{name} must be a number from {least} to {most}.")
    return int(text)


def _limit(parameters: Mapping[str, Sequence[str]]) -> int:
    """Return the limit; a negative one counts from the last row, as with ``fastLatest``."""
    text, latest = _first_value(parameters, "limit"), _flag(parameters, "fastLatest")
    if not text:
        return -1 if latest else MAX_ROWS
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or int(text) == 0:
        raise InputError("limit must be a number other than 0.")
    return -min(abs(int(text)), MAX_ROWS_FROM_END) if latest else int(text)


def _timestamp_bound(text: str, name: str, filler: str) -> int:
    if text and not _PERIOD.fullmatch(text):
        raise InputError(f"{name} must be the first 1 to 14 digits of a timestamp.")
    return int(text.ljust(14, filler))


def _closest(parameters: Mapping[str, Sequence[str]]) -> str:
    text, sort = (
        _first_value(parameters, "closest"),
        _first_value(parameters, "sort").lower() or "default",
    )
    if sort not in ("default", "reverse", "closest"):
        raise InputError("sort must be default, reverse or closest.")
    if sort == "closest" and not text:
        raise InputError("sort=closest requires closest=TIMESTAMP.")
    if text and not re.fullmatch(r"[0-9]{4,14}", text):
        raise InputError("closest must be the first 4 to 14 digits of a timestamp.")
    return text


def _computed_fields(parameters: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    fields_of = {
        "showDupeCount": DUPES,
        "resolveRevisits": RESOLVED,
    }
    return tuple(
        field for name, added in fields_of.items() if _flag(parameters, name) for field in added
    )


def _fields(text: str, counts: tuple[str, ...]) -> tuple[str, ...]:
    if not text:
        return FIELDS + counts
    return tuple(field_of(name.strip()) for name in text.split(","))


def _collapses(parameters: Mapping[str, Sequence[str]]) -> tuple[tuple[str, int], ...]:
    collapses = tuple(map(_collapse, parameters.get("collapse", ())))
    length = _number(parameters, "collapseTime", 0, least=0, most=14)
    return (*collapses, ("timestamp", length)) if length else collapses


def _collapse(text: str) -> tuple[str, int]:
    name, _, length = text.strip().partition(":")
    if length and not re.fullmatch(r"[0-9]{1,4}", length):
        raise InputError(
            "collapse must be a field, or a field with a number of characters: "
            "collapse=timestamp:8."
        )
    return field_of(name), int(length or 0)


def _output(text: str, *, pywb: bool) -> Output:
    """Return the output format.

    ``json`` is an array of arrays, or with pywb one object per line.
    """
    if text and text not in list(Output):
        raise InputError(f"output must be one of {', '.join(Output)}.")
    if pywb:
        return Output.LINES if text == Output.JSON else Output(text or Output.CDXJ)
    return Output(text or Output.TEXT)


def _paging(parameters: Mapping[str, Sequence[str]]) -> Paging:
    number = (
        None
        if _first_value(parameters, "page").startswith("-")
        else _number(parameters, "page", -1, least=0)
    )
    return Paging(
        number=None if number == -1 else number,
        blocks=_number(parameters, "pageSize", MAX_BLOCKS, least=1, most=MAX_BLOCKS),
        is_counted=_flag(parameters, "showNumPages"),
        shows_resume_key=_flag(parameters, "showResumeKey"),
        resume_key=_first_value(parameters, "resumeKey"),
    )
