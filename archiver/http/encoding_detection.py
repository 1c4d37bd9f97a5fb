"""Character encoding of a document: declared, detected or guessed.

The first source that gives an encoding is used (BOM: byte order mark, HTTP: charset parameter):

- HTML: BOM, HTTP, ``<meta>``, detection from the bytes (HTML §13.2.3.2)
- XML: BOM, HTTP, XML declaration, UTF-8
- style sheets: BOM, HTTP, ``@charset``, encoding of the including page (CSS Syntax 3 §3.2)
- JSON: BOM, HTTP, UTF-8
- other text: BOM, HTTP, detection from the bytes

A declared encoding is used even if the bytes contradict it. chardetng does the detection: it knows
the encodings that browsers support, and takes the top-level domain as a hint.
"""

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from chardetng_py import EncodingDetector

from archiver.http.encoding_prescan import declared_in_markup, xml_declaration
from archiver.http.media_types import is_css, is_xml
from archiver.http.text_decoders import (
    ASCII_TRANSPARENT,
    UTF_8,
    UTF_16BE,
    UTF_16LE,
    WINDOWS_1252,
    Encoding,
    decode_text,
    lookup,
    lookup_inside,
)
from archiver.http.urls import host

SAMPLE_BYTES: Final = 64 << 10
"""Number of bytes that detection examines, from the first non-ASCII byte on."""
MAX_START_BYTES: Final = 1 << 20
"""Number of bytes at the start of a text that are searched for a non-ASCII byte."""

_GUESSED_BYTES: Final = 16 << 10
_GOOD_FOR_ONE_BAD: Final = 4
_LEAD_BYTES: Final = bytes(range(0xC2, 0xF5))
_NOT_ASCII = re.compile(rb"[\x80-\xff\x1b]")
_LONG_ASCII = re.compile(rb"([\x00-\x7f]{4})[\x00-\x7f]+([\x00-\x7f]{4})")
_ASCII = bytes(range(0x80))
_KANA = re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x7e\x80-\x96]")
_SHIFT_JIS: Final = Encoding("shift_jis")
_DOMAIN = re.compile(r"[a-z0-9-]*[a-z][a-z0-9-]*")
_PYTHON_NAMES: Final = {"cp874": "windows-874"}


def is_enough_text(start: bytes) -> bool:
    """Return whether the start of a text is long enough to detect its encoding."""
    first = _NOT_ASCII.search(start, 0, MAX_START_BYTES)
    needed = first.start() + SAMPLE_BYTES if first else MAX_START_BYTES
    return len(start) >= min(needed, MAX_START_BYTES)


def detect(start: bytes, url: str) -> Encoding:
    """Detect the encoding of a text that declares none.

    Args:
        start: the text, or a part from its start for which ``is_enough_text`` is true.
        url: the URL of the text.
    """
    first = _NOT_ASCII.search(start, 0, MAX_START_BYTES)
    if first is None:
        return WINDOWS_1252
    end = min(first.start() + SAMPLE_BYTES, MAX_START_BYTES)
    sample = start[max(first.start() - 4, 0) : end]
    if _is_utf8(sample):
        return UTF_8
    return _SHIFT_JIS if _is_kana(sample) else _guess(sample, _top_level_domain(url))


def _is_utf8(sample: bytes) -> bool:
    """Return whether bytes are UTF-8, allowing for a truncated end and a few damaged characters."""
    try:
        return not codecs.utf_8_decode(sample, "strict", False)[0].isascii()
    except UnicodeDecodeError:
        whole = sample.decode("utf-8", "ignore").encode()
    good = len(whole) - len(whole.translate(None, _LEAD_BYTES))
    bad = sample.decode("utf-8", "replace").count("\ufffd")
    return good >= _GOOD_FOR_ONE_BAD * bad


def _is_kana(sample: bytes) -> bool:
    """Return whether at least half of the non-ASCII bytes are kana in Shift_JIS.

    chardetng mistakes such text for Cyrillic. In other encodings the first bytes of kana are rare
    characters: quotation marks, control characters and two capital letters.
    """
    kana = 2 * len(_KANA.findall(sample))
    return kana > 0 and 2 * kana >= len(sample.translate(None, _ASCII))


def _guess(sample: bytes, domain: bytes | None) -> Encoding:
    """Guess the encoding with Firefox's detector.

    Long runs of ASCII are shortened, because they are no evidence for an encoding. A text with
    ISO-2022 escape sequences is not shortened, because these change the meaning of ASCII bytes.
    """
    evidence = sample if b"\x1b" in sample else _LONG_ASCII.sub(rb"\1 \2", sample)
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
"""First bytes of XML declarations in UTF-16."""
_SHEET = re.compile(rb'@charset "([\x00-\x21\x23-\x7f]*)";')
_SHEET_BYTES: Final = 1024

_Declared = tuple[str, Encoding] | None


class Source(StrEnum):
    """Source of an encoding.

    Attributes:
        MARK: byte order mark.
        TRANSPORT: ``Content-Type`` of the response.
        DOCUMENT: declaration in the document.
        BYTES: detection from the bytes, or the default of the media type.
        ENVIRONMENT: the page that includes the document.
    """

    MARK = "mark"
    TRANSPORT = "transport"
    DOCUMENT = "document"
    BYTES = "bytes"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class ChosenEncoding:
    """Encoding of a document.

    Attributes:
        encoding: the encoding used for decoding.
        source: where the encoding comes from. ``ENVIRONMENT`` means that the page which includes a
            style sheet decides; that page is not known here, so ``encoding`` is a guess.
        declared: the declared label, even if another source was used; empty if there is none.
    """

    encoding: Encoding
    source: Source
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a document and the encoding it was decoded with."""

    text: str
    choice: ChosenEncoding


def decode_document(payload: bytes, media_type: str, charset: str, url: str) -> Decoded:
    """Decode a document; undecodable bytes become U+FFFD.

    Args:
        payload: the document without content codings, or its first part.
        media_type: the media type it is treated as.
        charset: the charset parameter of its Content-Type; empty if there is none.
        url: the URL of the document.
    """
    choice = choose_encoding(payload, media_type, charset, url)
    return Decoded(decode_text(payload, choice.encoding), choice)


def choose_encoding(start: bytes, media_type: str, charset: str, url: str) -> ChosenEncoding:
    """Choose the encoding of a document.

    Args:
        start: the document, or a part from its start for which ``is_enough_document`` is true.
        media_type: the media type it is treated as.
        charset: the charset parameter of its Content-Type; empty if there is none.
        url: the URL of the document; its top-level domain is a hint.
    """
    inside = None if lookup(charset) else _inside(start, media_type)
    declared = charset or (inside[0] if inside else "")
    marked = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
    if marked:
        return ChosenEncoding(marked, Source.MARK, declared)
    if transport := lookup(charset):
        return ChosenEncoding(transport, Source.TRANSPORT, declared)
    if inside:
        return ChosenEncoding(inside[1], Source.DOCUMENT, inside[0])
    return _undeclared(start, media_type, url, declared)


def is_enough_document(start: bytes, media_type: str, charset: str) -> bool:
    """Return whether these first bytes suffice to choose the encoding."""
    if not is_text_type(media_type):
        return True
    if len(start) < SAMPLE_BYTES:
        return False
    if lookup(charset) or is_utf8_by_default(media_type) or _inside(start, media_type):
        return True
    return is_enough_text(start)


def is_text_type(media_type: str) -> bool:
    """Return whether documents of a media type are text and have an encoding."""
    return media_type.startswith("text/") or media_type.endswith(("json", "xml"))


def _inside(start: bytes, media_type: str) -> _Declared:
    """Return (label, encoding) declared in the document itself."""
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
    """Return (label, encoding) of a style sheet's ``@charset`` (CSS Syntax 3 §3.2)."""
    match = _SHEET.match(start[:_SHEET_BYTES])
    if not match:
        return None
    label = match[1].decode("ascii")
    encoding = lookup_inside(label)
    return (label, encoding) if encoding else None


def _undeclared(start: bytes, media_type: str, url: str, declared: str) -> ChosenEncoding:
    if is_utf8_by_default(media_type):
        return ChosenEncoding(UTF_8, Source.BYTES, declared)
    encoding = detect(start, url)
    # Replay converts a page to UTF-8 if its encoding is not ASCII-transparent, so a style sheet
    # cannot inherit such an encoding.
    is_inherited = is_css(media_type) and encoding in ASCII_TRANSPARENT
    return ChosenEncoding(encoding, Source.ENVIRONMENT if is_inherited else Source.BYTES, declared)


def is_utf8_by_default(media_type: str) -> bool:
    """Return whether content without a declared encoding is UTF-8: XML and JSON (RFC 8259 §8.1)."""
    return is_xml(media_type) or media_type.endswith("json")
