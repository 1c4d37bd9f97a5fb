"""From the bytes of a payload to those that are replayed, piece by piece, blocking.

A document whose charset is ASCII-transparent is served in it, byte for byte but for what was
rewritten; any other is served as UTF-8. Either is said in ``Content-Type``, which browsers believe
before anything in the document.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from archiver.html.encoding import SAMPLE_BYTES, choose_encoding
from archiver.rewrite.css import CssRewriter
from archiver.rewrite.html import HtmlRewriter
from archiver.rewrite.raw_bytes import LABELS, Raw
from archiver.rewrite.url_rewriter import UrlRewriter
from archiver.wire.head import charset_parameter
from archiver.wire.sniff import is_css, is_html, sniff

PIECE = 64 << 10
"""Bytes that are rewritten at a time."""

_XHTML = "application/xhtml+xml"
_XML = frozenset({"text/xml", "application/xml"})
_XML_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")
_CSS_ENCODING = re.compile(rb'\A(?:\xef\xbb\xbf)?@charset "([\w.:-]{1,40})";')
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNPRINTABLE = re.compile(r"[^ -~]")


@dataclass(frozen=True, slots=True)
class Content:
    """What a payload comes to.

    Attributes:
        content_type: to serve it with; empty if none is known.
        pieces: its bytes, none much larger than ``PIECE``.
    """

    content_type: str
    pieces: Iterator[bytes]


class _Rewriter(Protocol):
    def feed(self, text: str, /) -> str:
        """Take some more; return what is ready."""

    def close(self) -> str:
        """Return what is left."""


def as_stored(payload: Iterable[bytes], content_type: str | None) -> Content:
    """The payload as it was, its content codings left on."""
    return Content(_clean(content_type), gather(payload))


def rewritten(
    payload: Iterable[bytes],
    content_type: str | None,
    links: UrlRewriter,
    *,
    for_style: bool = False,
) -> Content:
    """The payload led into the archive, if it is a page, a style sheet or XML; else as it is.

    Args:
        payload: without content codings.
        content_type: as it was sent.
        links: where the references of this payload lead.
        for_style: it is asked for as a style sheet, so that is what it is if nothing says other.
    """
    pieces = gather(payload, first=SAMPLE_BYTES)
    start = next(pieces, b"")
    kind = sniff(content_type, start)
    if for_style and not content_type:
        kind = "text/css"
    everything = _chain(start, pieces)
    make = _rewriter_of(kind, links)
    if make is None:
        return Content(_clean(content_type) or kind, everything)
    charset, is_sure = _charset(kind, start, charset_parameter(content_type))
    label = LABELS.get(charset)
    said = f"{kind}; charset={label or 'utf-8'}" if is_sure else kind
    if label:
        return Content(said, _as_bytes(everything, make(charset)))
    return Content(said, _as_text(everything, make(None), charset))


def gather(payload: Iterable[bytes], *, first: int = PIECE) -> Iterator[bytes]:
    """The same bytes in pieces of about ``first``, then ``PIECE``: what came chunked is in bits."""
    held: list[bytes] = []
    length, wanted = 0, first
    for piece in payload:
        held.append(piece)
        length += len(piece)
        if length >= wanted:
            yield b"".join(held)
            held, length, wanted = [], 0, PIECE
    if held:
        yield b"".join(held)


def _chain(start: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if start:
        yield start
    yield from rest


def _rewriter_of(kind: str, links: UrlRewriter) -> Callable[[str | None], _Rewriter] | None:
    """Makes the rewriter for a media type, given the charset whose bytes it is to read."""
    if is_css(kind):
        return lambda charset: CssRewriter(links.lead, Raw(charset).to_text)
    if is_html(kind) or kind in _XML or kind.endswith("+xml"):
        is_xml = kind != "text/html"
        return lambda charset: HtmlRewriter(links, charset=charset, xml=is_xml)
    return None


def _charset(kind: str, start: bytes, declared: str) -> tuple[str, bool]:
    """Python's name of the charset, and whether it is to be said.

    A style sheet that declares none takes that of the page (CSS Syntax 3 §3.2): none is said.
    """
    if is_html(kind) and kind != _XHTML:
        return choose_encoding(start, declared)[0], True
    marked = next((name for mark, name in _BOMS if start.startswith(mark)), "")
    inside = (_CSS_ENCODING if is_css(kind) else _XML_ENCODING).search(start[:1024])
    label = marked or declared or (inside[1].decode() if inside else "")
    if is_css(kind) and not label:
        return "utf-8", False
    return choose_encoding(start, label or "utf-8")[0], True


def _as_bytes(pieces: Iterator[bytes], rewriter: _Rewriter) -> Iterator[bytes]:
    """Rewrite bytes as if each were a character, so that the untouched come out as they went in."""
    for piece in pieces:
        ready = rewriter.feed(piece.decode("latin-1"))
        if ready:
            yield ready.encode("latin-1")
    yield rewriter.close().encode("latin-1")


def _as_text(pieces: Iterator[bytes], rewriter: _Rewriter, charset: str) -> Iterator[bytes]:
    """Rewrite text, and encode it as UTF-8."""
    decoder = codecs.getincrementaldecoder(charset)("replace")
    is_start = True
    for piece in pieces:
        text = decoder.decode(piece)
        if is_start and text:
            text, is_start = text.removeprefix("\ufeff"), False
        yield rewriter.feed(text).encode("utf-8", "replace")
    text = rewriter.feed(decoder.decode(b"", final=True)) + rewriter.close()
    yield text.encode("utf-8", "replace")


def _clean(content_type: str | None) -> str:
    """A Content-Type that can stand in a header."""
    return _UNPRINTABLE.sub("", content_type or "")[:256]
