"""Content codings: bounded decoding of stored content."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol, cast

import brotli
from isal import isal_zlib

from archiver.errors import TooLarge
from archiver.http.headers import combined
from archiver.http.media_types import (
    SNIFFED_BYTES,
    declared_media_type,
    essence_of,
    is_generic,
    sniff,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "gzip, deflate"
"""Codings to request: every tool can decode them. Others are decoded if a server sends them."""
PIECE = 64 << 10
"""Approximate upper limit of the bytes that a decoder returns in one step."""
MAX_CODINGS = 4


def decode(pieces: Iterable[bytes], content_encoding: str | None, *, limit: int) -> Iterator[bytes]:
    """Undo the content codings, the last applied first.

    Decoding stops at an unknown coding. Bytes that are not in the declared coding are returned
    unchanged; of corrupt or truncated content, the part before the error is returned.

    Args:
        pieces: the encoded content.
        content_encoding: the value of the Content-Encoding field.
        limit: maximum size of the decoded content in bytes.

    Raises:
        TooLarge: the decoded content exceeds ``limit``; at most one piece beyond it is decoded.
    """
    for name in reversed(_codings(content_encoding)):
        make = _DECODERS.get(name)
        if make is None:
            break
        pieces = _decoded(pieces, make)
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise TooLarge("The content decompresses to more than {limit} bytes.", limit=limit)
        yield piece


def payload_media_type(headers: Sequence[tuple[str, str]], pieces: Iterable[bytes]) -> str:
    """Return the media type of a response, read from its payload if the declared one is generic.

    Args:
        headers: (name, value) in order, names lower case.
        pieces: the payload without transfer coding; only its start is read.
    """
    declared = declared_media_type(headers)
    if not is_generic(declared):
        return essence_of(declared)
    start = bytearray()
    with suppress(TooLarge):
        for piece in decode(pieces, combined(headers, "content-encoding"), limit=PIECE):
            start += piece
            if len(start) >= SNIFFED_BYTES:
                break
    return sniff(declared, bytes(start)) if start else essence_of(declared)


class _Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode more data; raise the library's error for corrupt data."""


def _codings(content_encoding: str | None) -> list[str]:
    names = [name.strip().lower() for name in (content_encoding or "").split(",")]
    return [name for name in names if name and name != "identity"][:MAX_CODINGS]


def _decoded(pieces: Iterable[bytes], make: Callable[[], _Decoder]) -> Iterator[bytes]:
    decoder, has_begun = make(), False
    source = iter(pieces)
    for piece in source:
        try:
            for out in decoder.feed(piece):
                has_begun = True
                yield out
        except _CORRUPT:
            if not has_begun:
                yield piece
                yield from source
            return


class _Inflate:
    """Decoder for gzip with any number of members, or for deflate with or without a zlib header."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._inner = isal_zlib.decompressobj(wbits=wbits) if wbits > 0 else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        full = False
        while data or full:
            if self._inner is None:
                self._inner = isal_zlib.decompressobj(wbits=15 if data[0] & 0x0F == 8 else -15)
            out = self._inner.decompress(data, PIECE)
            if out:
                yield out
            full = len(out) == PIECE
            data = self._inner.unconsumed_tail
            if self._inner.eof:
                data, full = self._inner.unused_data, False
                if self._wbits != 31 or not data.startswith(b"\x1f"):
                    return
                self._inner = isal_zlib.decompressobj(wbits=31)


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._inner.is_finished():
            out = self._inner.process(data, output_buffer_limit=PIECE)
            if not out:
                return
            yield out
            data = b""


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._inner.eof:
            out = self._inner.decompress(data, PIECE)
            if out:
                yield out
            if self._inner.needs_input:
                return
            data = b""


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": lambda: _Inflate(31),
    "x-gzip": lambda: _Inflate(31),
    "deflate": lambda: _Inflate(0),
    "br": _Brotli,
    "zstd": _Zstd,
}
_CORRUPT = cast(
    "tuple[type[Exception], ...]", (isal_zlib.error, brotli.error, zstd.ZstdError, EOFError)
)
