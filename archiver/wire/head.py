"""Heads of HTTP/1.1 responses: status line and header fields (RFC 9112 §4, §5)."""

import re
from dataclasses import dataclass

from archiver.errors import InvalidRecord

_STATUS = re.compile(r"(HTTP/\d(?:\.\d)?)[ \t]+(\d{3})(?:[ \t]+(.*))?")
_CHARSET = re.compile(r"""charset\s*=\s*("[^"]*"|'[^']*'|[^;,\s]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """A response's status line and fields; names lower case, values decoded as latin-1."""

    version: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str | None:
        """The first field of that lower-case name."""
        return next((value for key, value in self.headers if key == name), None)


def parse_head(head: bytes) -> ResponseHead:
    """Parse a head, tolerant of what servers send; obsolete line folding is undone.

    Raises:
        InvalidRecord: there is no status line.
    """
    lines = head.decode("latin-1").splitlines()
    found = _STATUS.match(lines[0]) if lines else None
    if not found:
        raise InvalidRecord("This is not an HTTP response: it has no status line.")
    headers: list[tuple[str, str]] = []
    for line in lines[1:]:
        if line[:1] in (" ", "\t") and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {line.strip()}")
        elif ":" in line:
            name, _, value = line.partition(":")
            headers.append((name.strip().lower(), value.strip()))
    return ResponseHead(found[1], int(found[2]), found[3] or "", tuple(headers))


def media_type(content_type: str | None) -> str:
    """The essence of a Content-Type, lower case, without parameters; empty if there is none."""
    return (content_type or "").partition(";")[0].partition(",")[0].strip().lower()


def charset_parameter(content_type: str | None) -> str:
    """The charset parameter of a Content-Type; empty if there is none."""
    found = _CHARSET.search((content_type or "")[:1024])
    return found[1].strip("\"'").strip() if found else ""
