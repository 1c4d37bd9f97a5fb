"""Applies content codings: to a whole body, or piece by piece in bounded memory."""

from typing import Protocol

import brotli
from isal import isal_zlib

from archiver.wire.accept_encoding import Coding

_GZIP = 16 + 15
_ISAL_LEVEL = 2
_BROTLI_QUALITY = 3
_BROTLI_BEST = 11
_BROTLI_WINDOW = 19


class Packer(Protocol):
    """Packs a body that comes in pieces."""

    def pack(self, piece: bytes) -> bytes:
        """What is to be sent so that the receiver has all of the piece."""

    def finish(self) -> bytes:
        """What is to be sent at the end."""


def pack(body: bytes, coding: Coding) -> bytes:
    """A whole body in a coding: fast rather than as small as can be."""
    if coding is Coding.BROTLI:
        packed: bytes = brotli.compress(body, quality=_BROTLI_QUALITY, lgwin=_BROTLI_WINDOW)
        return packed
    if coding is Coding.GZIP:
        gzipped: bytes = isal_zlib.compress(body, _ISAL_LEVEL, _GZIP)
        return gzipped
    return body


def pack_once(body: bytes, coding: Coding) -> bytes:
    """A body that is packed once and sent for ever: as small as can be, 200 times as slow."""
    if coding is Coding.BROTLI:
        packed: bytes = brotli.compress(body, quality=_BROTLI_BEST)
        return packed
    return pack(body, coding)


def new_packer(coding: Coding) -> Packer | None:
    """What packs a stream in a coding; None where nothing has to be done."""
    if coding is Coding.BROTLI:
        return _Brotli()
    return _Gzip() if coding is Coding.GZIP else None


class _Gzip:
    def __init__(self) -> None:
        self._inner = isal_zlib.compressobj(_ISAL_LEVEL, isal_zlib.DEFLATED, _GZIP)

    def pack(self, piece: bytes) -> bytes:
        packed: bytes = self._inner.compress(piece) + self._inner.flush(isal_zlib.Z_SYNC_FLUSH)
        return packed

    def finish(self) -> bytes:
        rest: bytes = self._inner.flush()
        return rest


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Compressor(quality=_BROTLI_QUALITY, lgwin=_BROTLI_WINDOW)

    def pack(self, piece: bytes) -> bytes:
        packed: bytes = self._inner.process(piece) + self._inner.flush()
        return packed

    def finish(self) -> bytes:
        rest: bytes = self._inner.finish()
        return rest
