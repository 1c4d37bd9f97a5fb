"""Rewriting and byte ranges of replayed content."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from archiver.errors import StoreError
from archiver.http.text_decoders import Encoding, decoder
from archiver.pages.css_references import CssReferences
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.response import Presentation, Rewriting
from archiver.replay.tag_syntax import BytesText
from archiver.replay.url_rewriter import UrlRewriter

PIECE_BYTES = 64 << 10
"""Minimum bytes that are rewritten at a time."""
SKIP_BYTES = 8 << 20
"""Bytes skipped before `byte_range` yields an empty piece."""


class _Rewriter(Protocol):
    def feed(self, text: str, /) -> str:
        """Accept more text; return the output that is ready."""

    def close(self) -> str:
        """Return the remaining output."""


def merge_pieces(payload: Iterable[bytes], *, first: int = PIECE_BYTES) -> Iterator[bytes]:
    """Merge small pieces, such as transfer chunks.

    The first merged piece has at least `first` bytes, the others at least `PIECE_BYTES`.
    """
    waiting: list[bytes] = []
    length, length_wanted = 0, first
    for piece in payload:
        waiting.append(piece)
        length += len(piece)
        if length >= length_wanted:
            yield b"".join(waiting)
            waiting, length, length_wanted = [], 0, PIECE_BYTES
    if waiting:
        yield b"".join(waiting)


def rewrite_document(
    pieces: Iterator[bytes], presentation: Presentation, links: UrlRewriter
) -> Iterator[bytes]:
    """Return a document with its references rewritten.

    Args:
        pieces: bytes of the document, without content codings.
        presentation: how the document is presented.
        links: rewriter of the document's references.
    """
    make = _rewriter_of(presentation, links)
    if presentation.charset.keeps_encoding:
        return _as_bytes(pieces, make(presentation.charset.encoding))
    return _as_text(pieces, make(None), presentation.charset.encoding)


def byte_range(pieces: Iterator[bytes], first: int, end: int) -> Iterator[bytes]:
    """Yield the bytes from `first` to `end` (exclusive).

    While earlier bytes are skipped, an empty piece is yielded every `SKIP_BYTES` bytes so that the
    caller can cancel.

    Raises:
        StoreError: the payload is shorter than `end`.
    """
    pos = passed = 0
    while pos < end:
        piece = next(pieces, None)
        if piece is None:
            raise StoreError(
                f"A record has {pos:,} bytes of payload instead of {end:,}. Run `archiver verify`."
            )
        start, pos = pos, pos + len(piece)
        if pos > first:
            yield piece[max(first - start, 0) : end - start]
        elif pos - passed >= SKIP_BYTES:
            passed = pos
            yield b""


def _rewriter_of(
    presentation: Presentation, links: UrlRewriter
) -> Callable[[Encoding | None], _Rewriter]:
    """Return a function that creates the rewriter.

    Its argument is the encoding of the document if the rewriter gets bytes decoded as latin-1, or
    None if it gets decoded text.
    """
    if presentation.rewriting is Rewriting.CSS:
        return lambda encoding: CssReferences(links.rewrite, BytesText(encoding).to_text)
    is_xml = presentation.rewriting is Rewriting.XML
    return lambda encoding: HtmlRewriter(links, encoding=encoding, xml=is_xml)


def _as_bytes(pieces: Iterator[bytes], rewriter: _Rewriter) -> Iterator[bytes]:
    """Rewrite bytes decoded as latin-1, so that bytes outside references stay the same."""
    for piece in pieces:
        ready = rewriter.feed(piece.decode("latin-1"))
        if ready:
            yield ready.encode("latin-1")
    yield rewriter.close().encode("latin-1")


def _as_text(pieces: Iterator[bytes], rewriter: _Rewriter, encoding: Encoding) -> Iterator[bytes]:
    """Rewrite decoded text and encode it as UTF-8."""
    reading = decoder(encoding)
    for piece in pieces:
        yield rewriter.feed(reading.decode(piece)).encode("utf-8", "replace")
    text = rewriter.feed(reading.decode(b"", True)) + rewriter.close()
    yield text.encode("utf-8", "replace")
