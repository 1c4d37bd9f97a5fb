"""HTTP/1.1 response heads and structured header fields."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from urllib.parse import quote

from archiver.errors import InvalidRecord

WHITESPACE = " \t"
"""What surrounds a field's value (RFC 9110 §5.6.3); ``str.strip`` would take U+0085 and more."""
_STATUS = re.compile(
    r"(HTTP(?:/\d(?:\.\d)?)?)[ \t]+(\d{3})(?!\d)[ \t]*(.*)", re.ASCII | re.DOTALL | re.IGNORECASE
)
_REGULAR = re.compile(
    r"(HTTP/1\.[01]) ([1-9][0-9]{2}) ([^\r\n\0]*)\r\n"
    r"((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*)\r\n"
)
_REGULAR_FIELD = re.compile(r"([^:]+):[ \t]*([^\r]*)\r\n")
_FORBIDDEN = str.maketrans("\0\r", "  ")


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

    def combined(self, name: str) -> str | None:
        """All fields of that lower-case name as one value (RFC 9110 §5.3); None without any."""
        values = [value for key, value in self.headers if key == name]
        return ", ".join(values) if values else None

    @property
    def is_chunked(self) -> bool:
        """Whether what follows it is said to carry chunk framing (RFC 9112 §7.1)."""
        given = self.combined("transfer-encoding")
        codings = given.lower().split(",") if given else ()
        return any(each.partition(";")[0].strip(WHITESPACE) == "chunked" for each in codings)


def is_end_of_head(line: bytes) -> bool:
    """Whether a line ends a head: it is empty (RFC 9112 §2.1). One of spaces is a folded value."""
    return line in (b"\r\n", b"\n", b"")


def parse_regular_head(head: bytes) -> ResponseHead | None:
    """Parse a head in which nothing needs tolerance, as most are; None if something does."""
    found = _REGULAR.fullmatch(head.decode("latin-1"))
    if not found:
        return None
    version, status, reason, fields = found.groups()
    headers = tuple(
        (name.lower(), value.rstrip(WHITESPACE)) for name, value in _REGULAR_FIELD.findall(fields)
    )
    return ResponseHead(version, int(status), reason, headers)


def parse_head(head: bytes) -> ResponseHead:
    """Parse a head, tolerant of what servers send; obsolete line folding is undone.

    Lines end with CRLF or LF and with nothing else (RFC 9112 §2.2): a value is any other byte. CR
    and NUL become spaces (RFC 9110 §5.5).

    Raises:
        InvalidRecord: there is no status line.
    """
    regular = parse_regular_head(head)
    if regular:
        return regular
    lines = [line.removesuffix("\r") for line in head.decode("latin-1").split("\n")]
    found = _STATUS.match(lines[0])
    if not found:
        raise InvalidRecord("This is not an HTTP response: it has no status line.")
    fields: list[tuple[str, list[str]]] = []
    for line in lines[1:]:
        if line[:1] in (" ", "\t") and fields:
            fields[-1][1].append(_value(line))
        elif ":" in line:
            name, _, value = line.partition(":")
            fields.append((name.strip(WHITESPACE).lower(), [_value(value)]))
    headers = tuple((name, " ".join(values)) for name, values in fields)
    return ResponseHead(found[1].upper(), int(found[2]), found[3], headers)


def without_fields(head: bytes, names: Collection[str]) -> bytes:
    """A head without the fields of some lower-case names, folded lines and all."""
    kept: list[bytes] = []
    is_left_out = False
    for line in BytesIO(head):  # as parse_head: no other byte ends a line
        if line[:1] not in (b" ", b"\t"):
            name = line.partition(b":")[0].decode("latin-1").strip(WHITESPACE).lower()
            is_left_out = name in names
        if not is_left_out:
            kept.append(line)
    return b"".join(kept)


def readable(value: str) -> str:
    """What a field's value says: UTF-8 where its bytes are that, as browsers read them."""
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
    """(URI reference, parameters) of each link of a field's value, in order.

    Names of parameters are lower case. What is no link is passed over.

    >>> list(link_values('</style.css>; rel="preload"; as=style'))
    [('/style.css', {'rel': 'preload', 'as': 'style'})]
    """
    for found in _LINK.finditer(value):
        yield (
            found[1],
            {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(found[2])},
        )


def attachment(name: str) -> str:
    r"""The field's value; ``name`` is safe as a file's already.

    >>> attachment("Füchse.md")
    "attachment; filename=\"F_chse.md\"; filename*=UTF-8''F%C3%BCchse.md"
    """
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


_LONGEST = 1024
"""Characters of the field that are looked at: a dozen codings take a tenth of them."""
_ITEM = re.compile(
    r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)"
    r"(?:[ \t]*;[ \t]*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?[ \t]*"
)
_ALIASES = {"x-gzip": "gzip"}
_ANY = "*"


class Coding(StrEnum):
    """The codings that answers are sent in."""

    BROTLI = "br"
    GZIP = "gzip"
    IDENTITY = "identity"


def choose_coding(accept_encoding: str | None, offered: Sequence[Coding]) -> Coding:
    """Choose the coding that is wanted most; of several wanted alike the one offered first.

    What can't be read of the field is passed over. Where nothing that is offered will do, the
    answer is sent as it is, as the RFC has it: better than none.

    Args:
        accept_encoding: the field's value, several of them joined by commas; None if missing.
        offered: beside ``IDENTITY``, which can always be had.
    """
    weights = _weights(accept_encoding or "")
    otherwise = weights.get(_ANY, 0.0)
    best, most = Coding.IDENTITY, weights.get(Coding.IDENTITY, 0.0)
    for coding in offered:
        weight = weights.get(coding, otherwise)
        is_tie_with_identity = best is Coding.IDENTITY and weight == most
        if weight > most or (weight > 0 and is_tie_with_identity):
            best, most = coding, weight
    return best


def _weights(field: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for item in field[:_LONGEST].split(","):
        found = _ITEM.fullmatch(item)
        if found:
            name = found[1].lower()
            weights.setdefault(_ALIASES.get(name, name), float(found[2] or 1))
    return weights
