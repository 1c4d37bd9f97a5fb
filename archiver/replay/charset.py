"""In which charset a rewritten document is read, and which one is stated for it.

A document whose charset is ASCII-transparent is served in it, byte for byte but for what was
rewritten; any other is served as UTF-8. Either is stated in ``Content-Type``, which browsers
believe before anything in the document.
"""

import codecs
import re
from dataclasses import dataclass

from archiver.html.encoding import choose_encoding
from archiver.rewrite.raw_bytes import LABELS
from archiver.wire.media_type import MediaType

UNICODE = "utf-8"
_XML_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")
_CSS_ENCODING = re.compile(rb'\A(?:\xef\xbb\xbf)?@charset "([\w.:-]{1,40})";')
_BOMS = (
    (codecs.BOM_UTF8, UNICODE),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class DocumentCharset:
    """How the text of a document is read and written.

    Attributes:
        codec: Python's name of the charset it is stored in.
        label: the one it is served in (WHATWG Encoding §4.2); empty where none is stated.
    """

    codec: str
    label: str

    @property
    def is_kept(self) -> bool:
        """Whether it is served in the charset it is stored in."""
        return self.codec in LABELS


def charset_of_html(start: bytes, declared: str) -> DocumentCharset:
    """The charset of an HTML document that starts so, its Content-Type declaring one or none."""
    return _served(choose_encoding(start, declared)[0])


def charset_of_xml(start: bytes, declared: str) -> DocumentCharset:
    """The charset of an XML document: its BOM, its Content-Type, its XML declaration, or UTF-8."""
    label = _marked(start) or declared or _inside(_XML_ENCODING, start) or UNICODE
    return _served(choose_encoding(start, label)[0])


def charset_of_css(start: bytes, declared: str) -> DocumentCharset:
    """The charset of a style sheet.

    One that declares none takes that of the page (CSS Syntax 3 §3.2): none is stated.
    """
    label = _marked(start) or declared or _inside(_CSS_ENCODING, start)
    return _served(choose_encoding(start, label)[0]) if label else DocumentCharset(UNICODE, "")


def stated_charset(media_type: MediaType) -> str:
    """The charset parameter of a media type that is passed on; empty if it is no label."""
    label = media_type.get("charset").strip()
    return label.lower() if re.fullmatch(r"[\w.:-]{1,40}", label, re.ASCII) else ""


def _served(codec: str) -> DocumentCharset:
    return DocumentCharset(codec, LABELS.get(codec, UNICODE))


def _marked(start: bytes) -> str:
    return next((name for mark, name in _BOMS if start.startswith(mark)), "")


def _inside(pattern: re.Pattern[bytes], start: bytes) -> str:
    found = pattern.search(start[:1024])
    return found[1].decode() if found else ""
