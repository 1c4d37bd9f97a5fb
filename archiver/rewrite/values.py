"""Attribute values that hold more than one URL and nothing else: srcset and refresh."""

import re
from collections.abc import Callable

from archiver.rewrite.url_rewriter import BLOCKED

_SPACE = "\t\n\f\r "
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?>(?:[^,(]++|\([^)]*+\)?)*)")
_REFRESH = re.compile(
    r"[\t\n\f\r ]*+[0-9]*+[0-9.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
    r"(?>(?:[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+)?)"
)


def rewrite_srcset(value: str, lead: Callable[[str], str | None]) -> str:
    """Lead each candidate of a srcset (HTML §4.8.4.2.1); what stands between stays as it is.

    A candidate that must not stay is left out: its URL becomes ``data:,``.
    """
    out: list[str] = []
    done = at = 0
    while found := _CANDIDATE.match(value, at):
        start, end = found.span(1)
        url = value[start:end].rstrip(",")
        ended = start + len(url) < end
        led = lead(url)
        if led is not None:
            out += value[done:start], led or "data:,"
            done = start + len(url)
        at = end
        if not ended and (descriptors := _DESCRIPTORS.match(value, at)):
            at = descriptors.end()
    out.append(value[done:])
    return "".join(out)


def rewrite_refresh(value: str, lead: Callable[[str], str | None]) -> str:
    """Lead the URL of a refresh: ``5; url=/next`` (HTML §7.4.6.4, shared by meta and header).

    Returns:
        The value as it was where it names no URL; ``BLOCKED`` where its URL must not stay.
    """
    found = _REFRESH.match(value)
    if not found or found.end() == len(value):
        return value
    start, end = found.end(), len(value)
    if value[start] in "\"'":
        quote = value[start]
        start += 1
        end = value.find(quote, start)
        end = len(value) if end < 0 else end
    led = lead(value[start:end])
    if led is None:
        return value
    return f"{value[:start]}{led}{value[end:]}" if led else BLOCKED
