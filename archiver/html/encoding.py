"""Which encoding a page is in, decided as browsers do (WHATWG HTML §13.2.3, WHATWG Encoding)."""

import codecs
import re
from dataclasses import dataclass
from importlib import import_module

PRESCAN_BYTES = 1024
SAMPLE_BYTES = 32 << 10
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[\s/]([^>]{0,512})", re.IGNORECASE)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([a-zA-Z0-9_:.\-]{1,40})""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_SAME = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}
"""Labels that the web gives to a wider encoding than their name says."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page's text; the encoding used, and the one that was declared (empty if none was)."""

    text: str
    used: str
    declared: str


def decode_html(payload: bytes, charset: str) -> Decoded:
    """Decode a page: BOM, then Content-Type, then ``<meta>``, then what its bytes look like.

    Never fails: what is no text in the chosen encoding becomes U+FFFD.

    Args:
        payload: the page without content codings.
        charset: the charset parameter of its Content-Type; empty if there was none.
    """
    used, declared = choose_encoding(payload, charset)
    for mark, _ in _BOMS:
        if payload.startswith(mark):
            payload = payload[len(mark) :]
            break
    return Decoded(payload.decode(used, "replace"), used, declared)


def choose_encoding(start: bytes, charset: str) -> tuple[str, str]:
    """(encoding to use, encoding declared) for a page of which at least the start is known."""
    found = prescan(start)
    declared = charset or found
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name, declared
    for label in (charset, found):
        name = _codec(label)
        if name and not _belied(start, name):
            return name, declared
    return _detect(start), declared


def prescan(start: bytes) -> str:
    """The label in the first ``<meta>`` that has one; empty if none has."""
    head = _COMMENT.sub(b"", start[:PRESCAN_BYTES])
    for meta in _META.finditer(head):
        label = _CHARSET.search(meta[1])
        if label:
            return label[1].decode("ascii")
    return ""


def _codec(label: str) -> str:
    if not label:
        return ""
    try:
        name = codecs.lookup(label.strip()).name
        "".encode(name)
    except (LookupError, ValueError):
        return ""
    return _SAME.get(name, name)


def _belied(start: bytes, name: str) -> bool:
    """Whether a page labelled with a legacy encoding is plainly UTF-8, or the other way round."""
    sample = start[:SAMPLE_BYTES]
    if sample.isascii() or name.startswith("utf-16"):
        return False
    is_utf8 = _is_utf8(sample)
    return is_utf8 is (name != "utf-8")


def _is_utf8(sample: bytes) -> bool:
    """Whether bytes are UTF-8; the last character may be cut short, but not be the only one."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return sample.isascii() or not text.isascii()


def _detect(start: bytes) -> str:
    sample = start[:SAMPLE_BYTES]
    if _is_utf8(sample):
        return "utf-8"
    # Large, and for the few pages that say nothing: loaded when one comes.
    best = import_module("charset_normalizer").from_bytes(sample).best()
    return _codec(best.encoding) if best else "cp1252"
