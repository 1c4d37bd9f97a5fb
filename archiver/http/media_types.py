"""Media types: parsing and sniffing (WHATWG MIME Sniffing)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

MAX_FIELD: Final = 8192
"""Maximum length of a Content-Type that is parsed."""
_MAX_PARAMETERS = 16
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
    """Parsed media type; ``str`` returns its canonical form.

    Attributes:
        essence: type and subtype, lower case, such as ``text/html``.
        parameters: (name, value) in order, names lower case, each once.
    """

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        """Return a parameter's value; empty if it is missing."""
        return next((value for key, value in self.parameters if key == name), "")

    def with_parameter(self, name: str, value: str) -> Self:
        """Return a copy with the parameter set, or removed if the value is empty."""
        parameters = tuple(pair for pair in self.parameters if pair[0] != name)
        return type(self)(self.essence, (*parameters, (name, value)) if value else parameters)

    @property
    def is_xml(self) -> bool:
        """Return whether browsers parse it as XML, including SVG and XHTML."""
        return is_xml(self.essence)

    @property
    def is_json(self) -> bool:
        """Return whether it is JSON."""
        return self.essence in {"application/json", "text/json"} or self.essence.endswith("+json")

    @property
    def is_javascript(self) -> bool:
        """Return whether it is JavaScript, under any name that browsers accept."""
        return _JAVASCRIPT.fullmatch(self.essence) is not None

    def __str__(self) -> str:
        return self.essence + "".join(
            f";{name}={_write_value(value)}" for name, value in self.parameters
        )


def parse_media_type(text: str) -> MediaType | None:
    """Parse one media type (MIME Sniffing §4.4); return None if it is invalid."""
    essence, _, tail = text.strip(_WHITESPACE).partition(";")
    kind, _, subtype = essence.rstrip(_WHITESPACE).partition("/")
    if not (_TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        return None
    parameters: dict[str, str] = {}
    for name, value in _parameters(tail):
        if _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            parameters.setdefault(name.lower(), value)
        if len(parameters) == _MAX_PARAMETERS:
            break
    return MediaType(f"{kind}/{subtype}".lower(), tuple(parameters.items()))


def declared_media_type(headers: Iterable[tuple[str, str]]) -> MediaType | None:
    """Return the media type that browsers derive from all Content-Type fields; None if undeclared.

    Args:
        headers: (name, value) in order, names lower case.
    """
    return extract_media_type(", ".join(value for name, value in headers if name == "content-type"))


def essence_of(declared: MediaType | None) -> str:
    """Return the essence of a declared type; empty without one."""
    return declared.essence if declared else ""


@lru_cache(1024)
def extract_media_type(content_type: str | None) -> MediaType | None:
    """Extract the media type of a response (Fetch §2.2.2, extract a MIME type): the last valid one.

    Args:
        content_type: all Content-Type fields of a response, joined with commas. Each field can
            contain several values.

    Returns:
        The media type; None if there is no valid one.
    """
    result: MediaType | None = None
    charset = ""
    for value in _split((content_type or "")[:MAX_FIELD]):
        media_type = parse_media_type(value)
        if media_type is None or media_type.essence == "*/*":
            continue
        if result is None or media_type.essence != result.essence:
            charset = media_type.get("charset")
        elif charset and not media_type.get("charset"):
            media_type = media_type.with_parameter("charset", charset)
        result = media_type
    return result


def _split(text: str) -> Iterator[str]:
    """Yield the values of a comma-separated list; commas in quoted strings are part of a value."""
    pos = 0
    while pos <= len(text):
        match = _VALUE.match(text, pos)
        end = match.end() if match else pos
        yield text[pos:end]
        pos = end + 1


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and unquoted values of the parameters."""
    pos = 0
    while pos < len(text):
        end = _until(text, ";=", pos)
        name = text[pos:end].lstrip(_WHITESPACE)
        pos = end + 1
        if end == len(text) or text[end] == ";":
            continue
        quoted = _QUOTED.match(text, pos)
        end = _until(text, ";", quoted.end() if quoted else pos)
        value = _unescape(quoted[1]) if quoted else text[pos:end].rstrip(_WHITESPACE)
        pos = end + 1
        if quoted or value:
            yield name, value


def _until(text: str, marks: str, pos: int) -> int:
    return min((end for mark in marks if (end := text.find(mark, pos)) >= 0), default=len(text))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _write_value(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


_UNKNOWN = frozenset({"unknown/unknown", "application/unknown"})
_GENERIC = frozenset(
    f"application/{name}"
    for name in "octet-stream octetstream x-octet-stream force-download x-force-download download "
    "x-download binary x-binary save x-unknown x-pdf acrobat vnd.pdf x-zip "
    "x-zip-compressed".split()
) | {
    *("binary/octet-stream", "octet/stream", "content/unknown", "file/unknown"),
    *("text/pdf", "text/x-pdf", "image/pdf", "multipart/x-zip"),
}
"""Types that servers send for files of any kind, and old names of PDF and ZIP."""
_TEXT = "text/plain"
GENERIC_TYPES: Final = sorted((*_GENERIC, _TEXT))
"""Generic types and ``text/plain``, which servers also send for files of unknown types."""
_DEFAULT_TEXT = frozenset({"", "iso-8859-1", "utf-8"})
"""Charsets of ``text/plain`` that servers add to files of unknown types (§5.1)."""
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_HTML_STARTS = (
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<script",
    b"<iframe",
    b"<h1",
    b"<div",
    b"<font",
    b"<table",
    b"<a",
    b"<style",
    b"<title",
    b"<b",
    b"<body",
    b"<br",
    b"<p",
    b"<!--",
)
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"\0\0\2\0", "image/x-icon"),
    (b"ID3", "audio/mpeg"),
    (b"OggS\0", "application/ogg"),
    (b"MThd\0\0\0\6", "audio/midi"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"Rar!\x1a\7", "application/vnd.rar"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"\0\1\0\0", "font/ttf"),
    (b"ttcf", "font/collection"),
)
_CONTAINERS = {
    b"RIFFWEBP": "image/webp",
    b"RIFFWAVE": "audio/wave",
    b"RIFFAVI ": "video/avi",
    b"FORMAIFF": "audio/aiff",
}
"""Media types by bytes 0 to 3 and 8 to 11 of a file; bytes 4 to 7 are the length of the content."""
_BRANDS = {b"avif": "image/avif", b"avis": "image/avif", b"mp4": "video/mp4", b"iso": "video/mp4"}
_ZIP = b"PK\x03\x04"
_EPUB = b"mimetypeapplication/epub+zip"
"""Name and content of the first file of an EPUB (OCF §4.3), after the 30 bytes of its header."""
_FEED = re.compile(
    rb"\s*(?:<(?:!--.{0,1024}?--|\?[^>]{0,256}|![^>]{0,256})>\s*){0,8}"
    rb"<(?:(rss)|(feed)|rdf:RDF(?=[^>]{0,1024}http://purl\.org/rss/1\.0/))[\s>]",
    re.DOTALL,
)
_BYTE_ORDER_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
_BINARY = frozenset(bytes(range(9)) + b"\x0b" + bytes(range(0x0E, 0x1B)) + bytes(range(0x1C, 0x20)))
SNIFFED_BYTES: Final = 1445
"""Bytes at the start of a payload that are examined."""


def resolve_media_type(declared: MediaType | None, start: bytes) -> MediaType:
    """Return the media type to treat a payload as, with its parameters.

    A specific type is used as declared. Content without a type is sniffed. Content with a generic
    type can be recognised as a file such as PDF, but never as HTML, so that downloads and text
    files do not become pages.

    Args:
        declared: the result of ``declared_media_type``.
        start: the first bytes of the decoded payload; ``SNIFFED_BYTES`` are examined.
    """
    start = start[:SNIFFED_BYTES]
    if declared is None or declared.essence in _UNKNOWN:
        return MediaType(_guess(start))
    if not is_generic(declared):
        return declared
    is_text = declared.essence == _TEXT and not _BINARY.intersection(start)
    detected = "" if is_text else _type_by_signature(start)
    return MediaType(detected) if detected else declared


def is_generic(declared: MediaType | None) -> bool:
    """Return whether a media type is missing, or is one that servers send for files of any kind."""
    if declared is None or declared.essence in _UNKNOWN or declared.essence in _GENERIC:
        return True
    return declared.essence == _TEXT and declared.get("charset").lower() in _DEFAULT_TEXT


def sniff(declared: MediaType | None, start: bytes) -> str:
    """Return the essence of ``resolve_media_type``."""
    return resolve_media_type(declared, start).essence


_CSS: Final = "text/css"
_MISTYPED_STYLES: Final = frozenset({"", _TEXT, "text/html", "application/octet-stream"})
_DISPLAYED: Final = ("image/", "audio/", "video/", "font/")


def as_style(media_type: MediaType, start: bytes) -> MediaType:
    """Return the media type of a response that is loaded as a style sheet.

    Browsers apply style sheets without a media type, and in quirks mode also style sheets with
    another type (HTML §4.2.4.3). Content that starts like HTML is treated as an error page.
    """
    if media_type.essence not in _MISTYPED_STYLES or _guess(start[:SNIFFED_BYTES]) == "text/html":
        return media_type
    return MediaType(_CSS, media_type.parameters)


def as_image(media_type: MediaType, start: bytes) -> MediaType:
    """Return the media type of a response that is loaded as an image, video, sound or font.

    Browsers detect such formats from the first bytes and ignore the declared type. So the detected
    type replaces the declared type, unless this is also the type of an image, video, sound or font.
    """
    detected = _type_by_signature(start[:SNIFFED_BYTES])
    is_known = detected.startswith(_DISPLAYED) and not media_type.essence.startswith(_DISPLAYED)
    return MediaType(detected) if is_known else media_type


def is_html(kind: str) -> bool:
    """Return whether a media type is HTML or XHTML."""
    return kind in _HTML


def is_xml(kind: str) -> bool:
    """Return whether browsers parse a media type as XML (MIME Sniffing §4.6)."""
    return kind in _XML or kind.endswith("+xml")


def is_pdf(kind: str) -> bool:
    """Return whether a media type is PDF."""
    return kind == "application/pdf"


def is_css(kind: str) -> bool:
    """Return whether a media type is CSS."""
    return kind == _CSS


def _guess(start: bytes) -> str:
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip(b"\t\n\x0c\r ")
    if _starts_like_html(text.lower()):
        return "text/html"
    if detected := _type_by_signature(start):
        return detected
    if text.startswith(b"<?xml"):
        return "text/xml"
    is_text = start.startswith(_BYTE_ORDER_MARKS) or not _BINARY.intersection(start)
    return "text/plain" if is_text else "application/octet-stream"


def _type_by_signature(start: bytes) -> str:
    """Return the type that the first bytes of a file show; empty for text and unknown files."""
    for signature, kind in _SIGNATURES:
        if start.startswith(signature):
            return kind
    if start.startswith(_ZIP):
        return "application/epub+zip" if start.startswith(_EPUB, 30) else "application/zip"
    if start[4:8] == b"ftyp":
        return next((kind for mark, kind in _BRANDS.items() if start.startswith(mark, 8)), "")
    return _CONTAINERS.get(start[:4] + start[8:12]) or _feed(start)


def _feed(start: bytes) -> str:
    match = _FEED.match(start.removeprefix(b"\xef\xbb\xbf"))
    if not match:
        return ""
    return "application/atom+xml" if match[2] else "application/rss+xml"


def _starts_like_html(text: bytes) -> bool:
    return any(
        text.startswith(tag) and (tag == b"<!--" or text[len(tag) : len(tag) + 1] in (b" ", b">"))
        for tag in _HTML_STARTS
    )
