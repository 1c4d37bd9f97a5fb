"""Reader of compressed files.

The decompressed size is limited relative to the compressed size, so only the first megabytes of a
decompression bomb are read. A damaged file is read up to the damage.
"""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from archiver.formats.archive_members import MAX_GROWTH

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_BYTES = 8 << 30
BASE_ALLOWANCE = 64 << 20
"""Size limit of the content in bytes if ``MAX_GROWTH`` would allow fewer."""
_ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 27}
"""Maximum window of 128 MiB, the limit of the zstd command line tool (RFC 8878 §3.1.1)."""
_PIECE = 1 << 20
_READ_ERRORS = (
    *(zlib.error, lzma.LZMAError, zstd.ZstdError),
    *(OSError, EOFError, ValueError, MemoryError),
)

_OPENERS: dict[bytes, Callable[[IO[bytes]], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda packed: zstd.ZstdFile(packed, options=_ZSTD_OPTIONS),
}


def is_packed(head: bytes) -> bool:
    """Return whether a file with this head has a supported compression."""
    return head.startswith(tuple(_OPENERS))


def unpacked(packed: BinaryIO, head: bytes) -> BinaryIO:
    """Return a stream of the decompressed content, including ``head``."""
    opener = next(each for signature, each in _OPENERS.items() if head.startswith(signature))
    return io.BufferedReader(_Decompressed(packed, opener), _PIECE)


class _CountedFile:
    """File that counts the bytes that are read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int = -1, /) -> bytes:
        """Read bytes."""
        data = self._file.read(size)
        self.count += len(data)
        return data


class _Decompressed(io.RawIOBase):
    """Decompressed content of a file, which may consist of several concatenated streams."""

    def __init__(self, packed: BinaryIO, opener: Callable[[IO[bytes]], io.BufferedIOBase]) -> None:
        self._packed = _CountedFile(packed)
        self._content = opener(cast("IO[bytes]", self._packed))
        self._written = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Decompress the next bytes; return 0 at the end, at damage or at the size limit."""
        target = memoryview(buffer)
        most = min(MAX_BYTES, max(BASE_ALLOWANCE, self._packed.count * MAX_GROWTH))
        if self._written >= most:
            return 0
        try:
            piece = self._content.read1(len(target))
        except _READ_ERRORS:
            return 0
        target[: len(piece)] = piece
        self._written += len(piece)
        return len(piece)
