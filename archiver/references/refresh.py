"""The URL in a refresh: ``5; url=/next`` (HTML §7.4.6.4), shared by meta and header."""

import re

_REFRESH = re.compile(
    r"[\t\n\f\r ]*+[0-9]*+[0-9.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
    r"(?>(?:[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+)?)"
)


def find_refresh_url(value: str) -> tuple[int, int] | None:
    """Where the URL of a refresh starts and ends; None where it names none."""
    found = _REFRESH.match(value)
    if not found or found.end() == len(value):
        return None
    start, end = found.end(), len(value)
    if value[start] in "\"'":
        quote = value[start]
        start += 1
        end = value.find(quote, start)
        end = len(value) if end < 0 else end
    return start, end
