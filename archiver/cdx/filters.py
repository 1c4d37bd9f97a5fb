"""Filters of CDX questions, in either dialect. Regular expressions are RE2's: linear in time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import re2

from archiver.cdx.fields import field_of
from archiver.errors import InputError

MOST_FILTERS = 16
MOST_PATTERN = 500
_PATTERN_BYTES = 1 << 20
_Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """A test of one field. ``passes`` tells whether a value does."""

    field: str
    passes: _Test


def parse_filters(given: Iterable[str], *, pywb: bool = False) -> tuple[Filter, ...]:
    """Read filters as the Wayback CDX server does, or as pywb does.

    ============  ==============================  ===============================
    filter        Wayback                         pywb
    ============  ==============================  ===============================
    field:x       the whole field matches regex   the field contains x
    ~field:x      the field contains x            regex matches from the start
    =field:x      the field is x                  the field is x
    ============  ==============================  ===============================

    ``!`` before or after the operator turns it around.

    Raises:
        InputError: one can't be understood.
    """
    found = tuple(_filter(text, pywb=pywb) for text in given)
    if len(found) > MOST_FILTERS:
        raise InputError(f"There may be {MOST_FILTERS} filters.")
    return found


def _filter(text: str, *, pywb: bool) -> Filter:
    head, colon, value = text.partition(":")
    name = head.lstrip("!=~")
    marks = head[: len(head) - len(name)]
    if not colon or len(value) > MOST_PATTERN or marks.strip("!") not in ("", "=", "~"):
        raise InputError("filter is [!]field:regex, such as filter=statuscode:200.")
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
    options.max_mem = _PATTERN_BYTES
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise InputError(f"The filter {pattern[:80]!r} is no regular expression here.") from error
    look = compiled.fullmatch if whole else compiled.match
    return lambda text: look(text) is not None
