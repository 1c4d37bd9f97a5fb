"""Reader of compressed files.

The decompressed size is limited relative to the compressed size, so only the first megabytes of a
decompression bomb are read. The memory of the decompressor is limited, too. A damaged file is read
up to the damage.
"""

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

from archiver.formats.archive_members import MAX_GROWTH

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_BYTES = 8 << 30
MAX_STREAMS = 200_000
"""Maximum number of concatenated streams; enough for ``MAX_BYTES`` in bgzip blocks of 64 KiB."""
BASE_ALLOWANCE = 64 << 20
"""Size limit of the content in bytes if ``MAX_GROWTH`` would allow fewer."""
_GZIP_BITS = 31
_MAX_MEMORY = 96 << 20
"""Memory limit for xz; its highest level needs 65 MiB."""
_ZSTD_WINDOW = 27
"""Base-2 logarithm of the maximum window size of Zstandard (RFC 8878 §3.1.1).

It is 128 MiB, the limit of the zstd command line tool without options.
"""
_PIECE = 1 << 20
_INPUT_PIECE = 16 << 10
"""Number of bytes of input that are read at a time.

Pieces are small, because the rest of a piece is copied at the end of each stream, and a stream may
have only 9 bytes.
"""
_READ_ERRORS = (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError, zstd.ZstdError)


class _Decompressor(Protocol):
    """Decoder of one stream, with the interface of the decoders in `bz2`, `lzma` and `zstd`."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """Decoder of gzip with the interface of ``_Decompressor``."""

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(_GZIP_BITS)

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def needs_input(self) -> bool:
        return not self._unpacker.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._unpacker.decompress(self._unpacker.unconsumed_tail + data, max_length)


def _zstd() -> _Decompressor:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW}
    return zstd.ZstdDecompressor(options=options)


_KINDS: dict[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_MEMORY),
    b"\x28\xb5\x2f\xfd": _zstd,
}


def is_packed(head: bytes) -> bool:
    """Return whether a file with this head has a supported compression."""
    return head.startswith(tuple(_KINDS))


def unpacked(packed: BinaryIO, head: bytes) -> BinaryIO:
    """Return a stream of the decompressed content, including ``head``."""
    kind = next(make for signature, make in _KINDS.items() if head.startswith(signature))
    return io.BufferedReader(_Decompressed(packed, kind), _PIECE)


class _Decompressed(io.RawIOBase):
    """Decompressed content of a file, which may consist of several concatenated streams."""

    def __init__(self, packed: BinaryIO, kind: Callable[[], _Decompressor]) -> None:
        self._packed = packed
        self._kind = kind
        self._unpacker = kind()
        self._waiting = b""
        self._read = self._written = self._streams = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Decompress the next bytes."""
        target = memoryview(buffer)
        piece = self._next(len(target))
        target[: len(piece)] = piece
        self._written += len(piece)
        return len(piece)

    def _next(self, most: int) -> bytes:
        while self._written < self._most() and self._streams < MAX_STREAMS:
            if self._unpacker.eof:
                self._streams += 1
                self._waiting = self._unpacker.unused_data
                self._unpacker = self._kind()
            needs_more_input = self._unpacker.needs_input
            data = self._next_input() if needs_more_input else b""
            try:
                piece = self._unpacker.decompress(data, most)
            except _READ_ERRORS:
                break
            if piece:
                return piece
            if needs_more_input and not data:
                break
        return b""

    def _next_input(self) -> bytes:
        data, self._waiting = self._waiting, b""
        if not data:
            data = self._packed.read(_INPUT_PIECE)
            self._read += len(data)
        return data

    def _most(self) -> int:
        return min(MAX_BYTES, max(BASE_ALLOWANCE, self._read * MAX_GROWTH))
