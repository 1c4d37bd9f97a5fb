"""Media types as browsers read them: WHATWG MIME Sniffing §4, Fetch's "extract a MIME type"."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

LONGEST: Final = 8192
"""Characters of a Content-Type that are looked at."""
_MOST_PARAMETERS = 16
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_QUOTABLE = re.compile(r"[\t -~\x80-\xff]*")
_WHITESPACE = "\t\n\r "
_VALUE = re.compile(r'(?>(?:[^",]++|"(?>(?:[^"\\]++|\\.?)*+)"?)*+)', re.DOTALL)
_QUOTED = re.compile(r'"((?>(?:[^"\\]++|\\.?)*+))"?', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_XML: Final = frozenset({"text/xml", "application/xml"})
_JAVASCRIPT = re.compile(
    r"(?:application|text)/(?:x-)?(?:ecma|java)script|text/(?:javascript1\.[0-5]|jscript|livescript)"
)


@dataclass(frozen=True, slots=True)
class MediaType:
    """A parsed media type; ``str`` gives the one way to write it.

    Attributes:
        essence: type and subtype, lower case, such as ``text/html``.
        parameters: (name, value) in order, names lower case, each once.
    """

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        """A parameter's value; empty if it is missing."""
        return next((value for key, value in self.parameters if key == name), "")

    def with_parameter(self, name: str, value: str) -> Self:
        """The same with one parameter of that name; without it where the value is empty."""
        kept = tuple(pair for pair in self.parameters if pair[0] != name)
        return type(self)(self.essence, (*kept, (name, value)) if value else kept)

    @property
    def is_xml(self) -> bool:
        """Whether browsers parse it as XML: SVG and XHTML, too."""
        return self.essence in _XML or self.essence.endswith("+xml")

    @property
    def is_json(self) -> bool:
        """Whether it is JSON."""
        return self.essence in {"application/json", "text/json"} or self.essence.endswith("+json")

    @property
    def is_javascript(self) -> bool:
        """Whether it is a script, by any of the names browsers know."""
        return _JAVASCRIPT.fullmatch(self.essence) is not None

    def __str__(self) -> str:
        return self.essence + "".join(
            f";{name}={_write_value(value)}" for name, value in self.parameters
        )


def parse_media_type(text: str) -> MediaType | None:
    """Parse one media type (MIME Sniffing §4.4); None if it is none."""
    essence, _, rest = text.strip(_WHITESPACE).partition(";")
    kind, _, subtype = essence.rstrip(_WHITESPACE).partition("/")
    if not (_TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        return None
    parameters: dict[str, str] = {}
    for name, value in _parameters(rest):
        if _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            parameters.setdefault(name.lower(), value)
        if len(parameters) == _MOST_PARAMETERS:
            break
    return MediaType(f"{kind}/{subtype}".lower(), tuple(parameters.items()))


def declared_media_type(headers: Iterable[tuple[str, str]]) -> MediaType | None:
    """What browsers make of all Content-Type fields of a head; None if they declare nothing.

    Args:
        headers: (name, value) in order, names lower case.
    """
    return extract_media_type(", ".join(value for name, value in headers if name == "content-type"))


def essence_of(declared: MediaType | None) -> str:
    """The essence of what is declared; empty if nothing is."""
    return declared.essence if declared else ""


@lru_cache(1024)
def extract_media_type(content_type: str | None) -> MediaType | None:
    """What browsers take a response for (Fetch §2.2.2, extract a MIME type): the last valid one.

    Args:
        content_type: every Content-Type field of a response, joined with commas; each may hold a
            list itself.

    Returns:
        None if nothing in it is a media type.
    """
    found: MediaType | None = None
    charset = ""
    for value in _split((content_type or "")[:LONGEST]):
        given = parse_media_type(value)
        if given is None or given.essence == "*/*":
            continue
        if found is None or given.essence != found.essence:
            charset = given.get("charset")
        elif charset and not given.get("charset"):
            given = given.with_parameter("charset", charset)
        found = given
    return found


def _split(text: str) -> Iterator[str]:
    """The values of a list; a comma within quotes divides none."""
    at = 0
    while at <= len(text):
        found = _VALUE.match(text, at)
        end = found.end() if found else at
        yield text[at:end]
        at = end + 1


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    """Names and values behind the essence, as they are written but for quotes."""
    at = 0
    while at < len(text):
        end = _until(text, ";=", at)
        name = text[at:end].lstrip(_WHITESPACE)
        at = end + 1
        if end == len(text) or text[end] == ";":
            continue
        quoted = _QUOTED.match(text, at)
        end = _until(text, ";", quoted.end() if quoted else at)
        value = _unescape(quoted[1]) if quoted else text[at:end].rstrip(_WHITESPACE)
        at = end + 1
        if quoted or value:
            yield name, value


def _until(text: str, marks: str, at: int) -> int:
    return min((end for mark in marks if (end := text.find(mark, at)) >= 0), default=len(text))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _write_value(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
