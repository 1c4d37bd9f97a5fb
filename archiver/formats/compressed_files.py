"""Compressed files.

What comes out is bounded by how long it is packed, so a bomb costs its first megabytes, and by the
memory that unpacking may take; where a file is damaged it ends.
"""

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

from archiver.formats.archive_members import MOST_GROWTH

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_BYTES = 8 << 30
MOST_STREAMS = 200_000
"""Of 64 KiB, as bgzip has them, so many hold all that may come out; a bomb's hold nothing."""
ALWAYS_ALLOWED = 64 << 20
_GZIP_BITS = 31
_MOST_MEMORY = 96 << 20
"""Of xz: what its highest level takes is 65 MiB."""
_ZSTD_WINDOW = 27
"""128 MiB at most, which is what the command line unpacks without being asked (RFC 8878 §3.1.1)."""
_PIECE = 1 << 20
_PACKED_PIECE = 16 << 10
"""Small: whatever ends a stream copies the rest of its piece, and a stream may have 9 bytes."""
_BROKEN = (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError, zstd.ZstdError)


class _Unpacker(Protocol):
    """One stream that is unpacked, as `bz2`, `lzma` and `zstd` have it."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """The same of gzip."""

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


def _zstd() -> _Unpacker:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW}
    return zstd.ZstdDecompressor(options=options)


_KINDS: dict[bytes, Callable[[], _Unpacker]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY),
    b"\x28\xb5\x2f\xfd": _zstd,
}


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is packed in one of these ways."""
    return head.startswith(tuple(_KINDS))


def unpacked(packed: BinaryIO, head: bytes) -> BinaryIO:
    """What a packed file holds that begins with ``head``, from its start."""
    kind = next(make for signature, make in _KINDS.items() if head.startswith(signature))
    return io.BufferedReader(Unpacked(packed, kind), _PIECE)


class Unpacked(io.RawIOBase):
    """What a packed file holds; it may be of several streams, which follow each other."""

    def __init__(self, packed: BinaryIO, kind: Callable[[], _Unpacker]) -> None:
        self._packed = packed
        self._kind = kind
        self._unpacker = kind()
        self._waiting = b""
        self._read = self._given = self._ended = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Unpack the next bytes."""
        target = memoryview(buffer)
        piece = self._next(len(target))
        target[: len(piece)] = piece
        self._given += len(piece)
        return len(piece)

    def _next(self, most: int) -> bytes:
        while self._given < self._most() and self._ended < MOST_STREAMS:
            if self._unpacker.eof:
                self._ended += 1
                self._waiting = self._unpacker.unused_data
                self._unpacker = self._kind()
            is_hungry = self._unpacker.needs_input
            given = self._taken() if is_hungry else b""
            try:
                piece = self._unpacker.decompress(given, most)
            except _BROKEN:
                break
            if piece:
                return piece
            if is_hungry and not given:
                break
        return b""

    def _taken(self) -> bytes:
        """The next packed bytes."""
        given, self._waiting = self._waiting, b""
        if not given:
            given = self._packed.read(_PACKED_PIECE)
            self._read += len(given)
        return given

    def _most(self) -> int:
        return min(MOST_BYTES, max(ALWAYS_ALLOWED, self._read * MOST_GROWTH))
