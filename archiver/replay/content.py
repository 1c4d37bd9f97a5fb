"""Replayed content."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from archiver.errors import StoreError
from archiver.http.text_decoders import Encoding, decoder
from archiver.pages.css_references import CssReferences
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.response import Presentation, Rewriting
from archiver.replay.tag_syntax import Raw
from archiver.replay.url_rewriter import UrlRewriter

PIECE = 64 << 10
"""Bytes that are rewritten at a time."""
SKIPPED = 8 << 20
"""Bytes that are passed over at a time."""


class _Rewriter(Protocol):
    def feed(self, text: str, /) -> str:
        """Take some more; return what is ready."""

    def close(self) -> str:
        """Return what is left."""


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


def rewritten(pieces: Iterator[bytes], shown: Presentation, links: UrlRewriter) -> Iterator[bytes]:
    """A document led into the archive.

    Args:
        pieces: of the document, without content codings.
        shown: what was decided about it.
        links: where its references lead.
    """
    make = _rewriter_of(shown, links)
    if shown.charset.is_kept:
        return _as_bytes(pieces, make(shown.charset.encoding))
    return _as_text(pieces, make(None), shown.charset.encoding)


def part(pieces: Iterator[bytes], first: int, end: int) -> Iterator[bytes]:
    """The bytes from ``first`` on and before ``end``.

    An empty piece comes now and then while those before are passed over, so that whoever waits
    can give up.

    Raises:
        StoreError: there are not as many.
    """
    at = passed = 0
    while at < end:
        piece = next(pieces, None)
        if piece is None:
            raise StoreError(
                f"A record has {at:,} bytes of payload, and should have {end:,}. "
                "Run `archiver verify`."
            )
        start, at = at, at + len(piece)
        if at > first:
            yield piece[max(first - start, 0) : end - start]
        elif at - passed >= SKIPPED:
            passed = at
            yield b""


def _rewriter_of(shown: Presentation, links: UrlRewriter) -> Callable[[Encoding | None], _Rewriter]:
    """Makes the rewriter of a document, given the encoding whose bytes it is to read."""
    if shown.rewriting is Rewriting.CSS:
        return lambda encoding: CssReferences(links.lead, Raw(encoding).to_text)
    is_xml, rests = shown.rewriting is Rewriting.XML, shown.is_sandboxed
    return lambda encoding: HtmlRewriter(links, encoding=encoding, xml=is_xml, rests=rests)


def _as_bytes(pieces: Iterator[bytes], rewriter: _Rewriter) -> Iterator[bytes]:
    """Rewrite bytes as if each were a character, so that the untouched come out as they went in."""
    for piece in pieces:
        ready = rewriter.feed(piece.decode("latin-1"))
        if ready:
            yield ready.encode("latin-1")
    yield rewriter.close().encode("latin-1")


def _as_text(pieces: Iterator[bytes], rewriter: _Rewriter, encoding: Encoding) -> Iterator[bytes]:
    """Rewrite text, and encode it as UTF-8."""
    reading = decoder(encoding)
    for piece in pieces:
        yield rewriter.feed(reading.decode(piece)).encode("utf-8", "replace")
    text = rewriter.feed(reading.decode(b"", True)) + rewriter.close()
    yield text.encode("utf-8", "replace")
