"""HTTP/1.1 response heads and structured header fields."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import quote

from archiver.errors import InvalidRecord

WHITESPACE = " \t"
"""Whitespace around a field's value (RFC 9110 §5.6.3); ``str.strip`` would also remove U+0085."""
_STATUS = re.compile(
    r"(HTTP(?:/\d(?:\.\d)?)?)[ \t]+(\d{3})(?!\d)[ \t]*(.*)", re.ASCII | re.DOTALL | re.IGNORECASE
)
_REGULAR = re.compile(
    r"(HTTP/1\.[01]) ([1-9][0-9]{2}) ([^\r\n\0]*)\r\n"
    r"((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*)\r\n"
)
_REGULAR_FIELD = re.compile(r"([^:]+):[ \t]*([^\r]*)\r\n")
_FORBIDDEN = str.maketrans("\0\r", "  ")


@dataclass(slots=True)
class ResponseHead:
    """Status line and fields of a response; names in lower case, values decoded as latin-1."""

    version: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str | None:
        """Return the value of the first field with this lower-case name, if any."""
        return next((value for key, value in self.headers if key == name), None)

    def combined(self, name: str) -> str | None:
        """Return the values of all fields with a lower-case name, joined by commas (RFC 9110 §5.3).

        Return None if no field has the name.
        """
        return combined(self.headers, name)

    @property
    def is_chunked(self) -> bool:
        """Return whether the body is declared to use chunked framing (RFC 9112 §7.1)."""
        coding = self.combined("transfer-encoding")
        codings = coding.lower().split(",") if coding else ()
        return any(each.partition(";")[0].strip(WHITESPACE) == "chunked" for each in codings)


def combined(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """Return the values of all fields with a lower-case name, joined by commas; None if none."""
    values = [value for key, value in headers if key == name]
    return ", ".join(values) if values else None


def is_end_of_head(line: bytes) -> bool:
    """Return whether a line is empty, which ends a response head (RFC 9112 §2.1)."""
    return line in (b"\r\n", b"\n", b"")


def parse_regular_head(head: bytes) -> ResponseHead | None:
    """Parse a head that strictly follows the standard; return None for any other head."""
    match = _REGULAR.fullmatch(head.decode("latin-1"))
    if not match:
        return None
    version, status, reason, fields = match.groups()
    headers = tuple(
        (name.lower(), value.rstrip(WHITESPACE)) for name, value in _REGULAR_FIELD.findall(fields)
    )
    return ResponseHead(version, int(status), reason, headers)


def parse_head(head: bytes) -> ResponseHead:
    """Parse a head, tolerating invalid syntax; obsolete line folding is undone.

    Lines end with CRLF or LF only (RFC 9112 §2.2); all other bytes belong to a value. CR
    and NUL become spaces (RFC 9110 §5.5).

    Raises:
        InvalidRecord: the head has no status line.
    """
    regular = parse_regular_head(head)
    if regular:
        return regular
    lines = [line.removesuffix("\r") for line in head.decode("latin-1").split("\n")]
    match = _STATUS.match(lines[0])
    if not match:
        raise InvalidRecord("This is not an HTTP response: it has no status line.")
    fields: list[tuple[str, list[str]]] = []
    for line in lines[1:]:
        if line[:1] in (" ", "\t") and fields:
            fields[-1][1].append(_value(line))
        elif ":" in line:
            name, _, value = line.partition(":")
            fields.append((name.strip(WHITESPACE).lower(), [_value(value)]))
    headers = tuple((name, " ".join(values)) for name, values in fields)
    return ResponseHead(match[1].upper(), int(match[2]), match[3], headers)


def without_fields(head: bytes, names: Collection[str]) -> bytes:
    """Return a head without the named fields (lower case), including their folded lines."""
    lines: list[bytes] = []
    is_left_out = False
    for line in BytesIO(head):  # Only LF ends a line, as in parse_head.
        if line[:1] not in (b" ", b"\t"):
            name = line.partition(b":")[0].decode("latin-1").strip(WHITESPACE).lower()
            is_left_out = name in names
        if not is_left_out:
            lines.append(line)
    return b"".join(lines)


def readable(value: str) -> str:
    """Decode a latin-1 value as UTF-8 if its bytes are valid UTF-8, as browsers do."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _value(raw: str) -> str:
    return raw.translate(_FORBIDDEN).strip(WHITESPACE)


_LINK = re.compile(r"""<([^<>]*+)>((?>(?:[^,"]++|"(?>(?:[^"\\]++|\\.)*)"?)*))""")
_PARAMETER = re.compile(r""";[ \t]*+([a-zA-Z]++)[ \t]*+=[ \t]*+(?:"([^"\\]*+)"|([^ \t;,"]++))""")


def link_values(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (URI reference, parameters) of each link in a Link field, in order.

    Parameter names are lower case. Invalid links are skipped.

    >>> list(link_values('</style.css>; rel="preload"; as=style'))
    [('/style.css', {'rel': 'preload', 'as': 'style'})]
    """
    for match in _LINK.finditer(value):
        yield (
            match[1],
            {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(match[2])},
        )


def attachment(name: str) -> str:
    r"""Return a Content-Disposition value; ``name`` must already be safe as a file name.

    >>> print(attachment("Füchse.md"))
    attachment; filename="F_chse.md"; filename*=UTF-8''F%C3%BCchse.md
    """
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
