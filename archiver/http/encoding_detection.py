"""Character encoding of a document: declared, detected or guessed.

HTML: byte order mark, transport, markup, and what the bytes look like (HTML §13.2.3.2). XML: mark,
transport, XML declaration, UTF-8. Style sheets: mark, transport, ``@charset``, and what the page
that asks for them is in (CSS Syntax 3 §3.2). JSON: mark, transport, UTF-8. Other text: mark,
transport, and what the bytes look like. A declared encoding is never doubted.

The guess is chardetng's: only encodings that browsers know, with the top-level domain as a prior.
"""

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from chardetng_py import EncodingDetector

from archiver.http.encoding_prescan import declared_in_markup, xml_declaration
from archiver.http.media_types import is_css
from archiver.http.text_decoders import (
    ASCII_TRANSPARENT,
    UTF_8,
    UTF_16BE,
    UTF_16LE,
    WINDOWS_1252,
    Encoding,
    decode,
    lookup,
    lookup_inside,
)
from archiver.http.urls import host

SAMPLE_BYTES: Final = 64 << 10
"""How much is looked at, from the first byte on that is not ASCII."""
MOST_START_BYTES: Final = 1 << 20
"""Where that byte is looked for."""

_GUESSED_BYTES: Final = 16 << 10
_GOOD_FOR_ONE_BAD: Final = 4
_LEADS: Final = bytes(range(0xC2, 0xF5))
_NOT_ASCII = re.compile(rb"[\x80-\xff\x1b]")
_FAR_FROM_OTHERS = re.compile(rb"([\x00-\x7f]{4})[\x00-\x7f]+([\x00-\x7f]{4})")
_ASCII = bytes(range(0x80))
_KANA = re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x7e\x80-\x96]")
_SHIFT_JIS: Final = Encoding("shift_jis")
_DOMAIN = re.compile(r"[a-z0-9-]*[a-z][a-z0-9-]*")
_PYTHON_NAMES: Final = {"cp874": "windows-874"}


def has_enough(start: bytes) -> bool:
    """Whether the start of a text is enough to tell its encoding by."""
    first = _NOT_ASCII.search(start, 0, MOST_START_BYTES)
    wanted = first.start() + SAMPLE_BYTES if first else MOST_START_BYTES
    return len(start) >= min(wanted, MOST_START_BYTES)


def detect(start: bytes, url: str) -> Encoding:
    """Tell the encoding of a text that declares none.

    Args:
        start: the text, or so much of it that ``has_enough``.
        url: where it was.
    """
    first = _NOT_ASCII.search(start, 0, MOST_START_BYTES)
    if first is None:
        return WINDOWS_1252
    end = min(first.start() + SAMPLE_BYTES, MOST_START_BYTES)
    sample = start[max(first.start() - 4, 0) : end]
    if _is_utf8(sample):
        return UTF_8
    return _SHIFT_JIS if _is_kana(sample) else _guess(sample, _top_level_domain(url))


def _is_utf8(sample: bytes) -> bool:
    """Whether bytes are UTF-8, but for the end that may be cut and a few that were damaged."""
    try:
        return not codecs.utf_8_decode(sample, "strict", False)[0].isascii()
    except UnicodeDecodeError:
        whole = sample.decode("utf-8", "ignore").encode()
    good = len(whole) - len(whole.translate(None, _LEADS))
    bad = sample.decode("utf-8", "replace").count("\ufffd")
    return good >= _GOOD_FOR_ONE_BAD * bad


def _is_kana(sample: bytes) -> bool:
    """Whether half of what is not ASCII is kana in Shift_JIS, which the guess takes for Cyrillic.

    In every other encoding its lead bytes are rare: quotation marks, controls, two capitals.
    """
    kana = 2 * len(_KANA.findall(sample))
    return kana > 0 and 2 * kana >= len(sample.translate(None, _ASCII))


def _guess(sample: bytes, domain: bytes | None) -> Encoding:
    """Firefox's guess. ASCII far from other bytes tells nothing, unless escapes make it more."""
    evidence = sample if b"\x1b" in sample else _FAR_FROM_OTHERS.sub(rb"\1 \2", sample)
    detector = EncodingDetector()
    detector.feed(evidence[:_GUESSED_BYTES], last=True)
    name = detector.guess(tld=domain, allow_utf8=False)
    return lookup(_PYTHON_NAMES.get(name, name)) or WINDOWS_1252


def _top_level_domain(url: str) -> bytes | None:
    if not url.startswith("http"):
        return None
    name = host(url).partition(":")[0].rstrip(".").rpartition(".")[2]
    return name.encode() if _DOMAIN.fullmatch(name) else None


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
