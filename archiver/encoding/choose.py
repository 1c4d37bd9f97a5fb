"""Which encoding a document is in, decided as browsers do, in one place for all that asks.

HTML: byte order mark, transport, markup, and what the bytes look like (HTML §13.2.3.2). XML: mark,
transport, XML declaration, UTF-8. Style sheets: mark, transport, ``@charset``, and what the page
that asks for them is in (CSS Syntax 3 §3.2). JSON: mark, transport, UTF-8. Other text: mark,
transport, and what the bytes look like. A declared encoding is never doubted.
"""

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from archiver.encoding.decoders import ASCII_TRANSPARENT, decode
from archiver.encoding.detect import SAMPLE_BYTES, detect, has_enough
from archiver.encoding.labels import UTF_8, UTF_16BE, UTF_16LE, Encoding, lookup, lookup_inside
from archiver.encoding.prescan import declared_in_markup, xml_declaration
from archiver.wire.sniff import is_css

_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_BE, UTF_16BE),
    (codecs.BOM_UTF16_LE, UTF_16LE),
)
_UNMARKED = ((b"<\0?\0x\0", UTF_16LE), (b"\0<\0?\0x", UTF_16BE))
"""How XML declarations begin in UTF-16."""
_SHEET = re.compile(rb'@charset "([\x00-\x21\x23-\x7f]*)";')
_SHEET_BYTES: Final = 1024
_XML = frozenset({"application/xml", "text/xml"})

_Declared = tuple[str, Encoding] | None


class Source(StrEnum):
    """What decided on an encoding."""

    MARK = "mark"
    TRANSPORT = "transport"
    DOCUMENT = "document"
    BYTES = "bytes"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Choice:
    """The encoding of a document.

    Attributes:
        encoding: what it is read in.
        source: what decided. ``ENVIRONMENT`` is the page that asks: unknown here, so it is guessed.
        declared: the label that was declared, whether or not it decided; empty if there was none.
    """

    encoding: Encoding
    source: Source
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document's text, and the encoding it was read in."""

    text: str
    choice: Choice


def decode_document(payload: bytes, media_type: str, charset: str, url: str) -> Decoded:
    """Decode a document; what is no text in its encoding becomes U+FFFD.

    Args:
        payload: the document without content codings, or its first part.
        media_type: what it is treated as.
        charset: the charset parameter of its Content-Type; empty if there was none.
        url: where it was.
    """
    choice = choose_encoding(payload, media_type, charset, url)
    return Decoded(decode(payload, choice.encoding), choice)


def choose_encoding(start: bytes, media_type: str, charset: str, url: str) -> Choice:
    """Decide on the encoding of a document.

    Args:
        start: its first bytes: all of them, or as many as ``is_enough`` asks for.
        media_type: what it is treated as.
        charset: the charset parameter of its Content-Type; empty if there was none.
        url: where it was: its top-level domain is a hint.
    """
    inside = None if lookup(charset) else _inside(start, media_type)
    declared = charset or (inside[0] if inside else "")
    marked = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
    if marked:
        return Choice(marked, Source.MARK, declared)
    if transport := lookup(charset):
        return Choice(transport, Source.TRANSPORT, declared)
    if inside:
        return Choice(inside[1], Source.DOCUMENT, inside[0])
    return _undeclared(start, media_type, url, declared)


def is_enough(start: bytes, media_type: str, charset: str) -> bool:
    """Whether these first bytes of a document decide on its encoding, whatever follows."""
    if not is_text(media_type):
        return True
    if len(start) < SAMPLE_BYTES:
        return False
    if lookup(charset) or is_utf8_by_default(media_type) or _inside(start, media_type):
        return True
    return has_enough(start)


def is_text(media_type: str) -> bool:
    """Whether documents of a media type are text, and so have an encoding."""
    return media_type.startswith("text/") or media_type.endswith(("json", "xml"))


def is_xml(media_type: str) -> bool:
    """Whether a media type is one of XML (MIME Sniffing §4.6)."""
    return media_type in _XML or media_type.endswith("+xml")


def _inside(start: bytes, media_type: str) -> _Declared:
    """(label, encoding) that a document declares of itself."""
    if media_type == "text/html" or is_xml(media_type):
        for mark, encoding in _UNMARKED:
            if start.startswith(mark):
                return "", encoding
    if media_type == "text/html":
        return declared_in_markup(start)
    if is_xml(media_type):
        return xml_declaration(start[:_SHEET_BYTES])
    return _sheet_declaration(start) if is_css(media_type) else None


def _sheet_declaration(start: bytes) -> _Declared:
    """``@charset`` in exactly these bytes, which is no at-rule but a mark (CSS Syntax 3 §3.2)."""
    found = _SHEET.match(start[:_SHEET_BYTES])
    if not found:
        return None
    label = found[1].decode("ascii")
    encoding = lookup_inside(label)
    return (label, encoding) if encoding else None


def _undeclared(start: bytes, media_type: str, url: str, declared: str) -> Choice:
    if is_utf8_by_default(media_type):
        return Choice(UTF_8, Source.BYTES, declared)
    found = detect(start, url)
    # A page in another encoding is not served in it, so its sheets can't take that over from it.
    is_taken_over = is_css(media_type) and found in ASCII_TRANSPARENT
    return Choice(found, Source.ENVIRONMENT if is_taken_over else Source.BYTES, declared)


def is_utf8_by_default(media_type: str) -> bool:
    """Whether what is not declared is UTF-8: XML and JSON (RFC 8259 §8.1)."""
    return is_xml(media_type) or media_type.endswith("json")
