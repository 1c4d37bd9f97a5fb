"""Members of zip and tar archives, and compressed files.

Nothing is extracted to a path, so ``../`` in a name is harmless: names are only displayed and
compared. The size of a member is limited relative to its compressed size, and the total relative to
the archive's size, so only the first megabytes of a decompression bomb are read. Each member over a
limit is reported.
"""

import bz2
import gzip
import io
import lzma
import os
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from archiver.errors import UnreadableFile
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken
from archiver.warc.wacz import central_directory_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


MAX_MEMBERS = 100_000
MAX_GROWTH = 200
"""Maximum ratio of a member's size to its compressed size; lists of links compress up to 20:1."""
BASE_ALLOWANCE = 16 << 20
"""Size limit of a member in bytes if ``MAX_GROWTH`` would allow fewer."""
GROWTH_OF_ALL = 50
"""Maximum ratio of all decompressed bytes to the size of the archive."""
ALLOWED_OF_ALL = 64 << 20
"""Limit of all decompressed bytes if ``GROWTH_OF_ALL`` would allow fewer."""
MAX_LISTED = 16 << 20
"""Maximum size of the central directory in bytes; parsed members take four times as much memory."""
_UNPACKED_TOO_MUCH = marked(
    "This file is too large to be read inside an archive. Import it separately."
)
_TOO_MANY = marked(
    "The archive contains too many files. Move the files after this one to another archive."
)
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_READ_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""Exceptions of the standard library for damaged, encrypted or unsupported archives."""


def is_zip(head: bytes) -> bool:
    """Return whether a file with this head is a zip archive."""
    return head.startswith(_SIGNATURES)


class Members:
    """Files in a zip archive; empty if the central directory of the archive is broken.

    Attributes:
        names: the file names in order, without folders and operating system files.

    Raises:
        UnreadableFile: the central directory is too long.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._archive = _open_zip(stream)
        length = stream.seek(0, os.SEEK_END)
        self._remaining = max(ALLOWED_OF_ALL, length * GROWTH_OF_ALL)
        self._refused: dict[str, None] = {}
        members = self._archive.infolist() if self._archive else []
        self._first_left_out = next((each.filename for each in members[MAX_MEMBERS:]), "")
        named = [each.filename for each in members[:MAX_MEMBERS] if not each.is_dir()]
        self.names = tuple(each for each in named if not _is_system_file(each))

    def open(self, name: str) -> BinaryIO:
        """Open a member as a stream; damaged or encrypted members are empty or end early."""
        try:
            info = self._archive.getinfo(name) if self._archive else None
            member = self._archive.open(info) if self._archive and info else None
        except (*_READ_ERRORS, KeyError):
            member = info = None
        if member is None or info is None:
            return io.BytesIO(b"")
        most = max(BASE_ALLOWANCE, info.compress_size * MAX_GROWTH)
        return io.BufferedReader(ReadStream(self._limited(member, name, most)), 1 << 16)

    def _limited(self, member: IO[bytes], name: str, most: int) -> Callable[[int], bytes]:
        """Return a function that reads a member up to the limits, or up to damaged data."""
        remaining = most

        def read(size: int) -> bytes:
            nonlocal remaining
            allowed = min(size, remaining, self._remaining)
            try:
                piece = member.read(allowed or 1)
            except _READ_ERRORS:
                return b""
            if piece and not allowed:
                self._refused[name] = None
                return b""
            remaining -= len(piece)
            self._remaining -= len(piece)
            return piece

        return read

    def read(self, name: str, most: int) -> bytes:
        """Read the first ``most`` bytes of a member."""
        with self.open(name) as member:
            return member.read(most)

    def left_out(self) -> Iterator[Bookmark]:
        """Yield a problem for each member that was not read completely because of the limits."""
        for name in self._refused:
            yield broken(name, _UNPACKED_TOO_MUCH)
        if self._first_left_out:
            yield broken(self._first_left_out, _TOO_MANY)


def member_names(stream: BinaryIO) -> tuple[str, ...]:
    """Return the names of the files in a zip archive."""
    return Members(stream).names


def _open_zip(stream: BinaryIO) -> zipfile.ZipFile | None:
    try:
        if central_directory_bytes(stream) > MAX_LISTED:
            raise UnreadableFile(
                "The archive contains too many files. Split it into several archives."
            )
        return zipfile.ZipFile(stream)
    except _READ_ERRORS:
        return None


class ReadStream(io.RawIOBase):
    """Stream of what a function returns, given a number of bytes; it ends at an empty result."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read_piece = read

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read the next bytes; return 0 at the end."""
        target = memoryview(buffer)
        piece = self._read_piece(len(target))
        target[: len(piece)] = piece
        return len(piece)


def rejoined(head: bytes, read: Callable[[int], bytes]) -> BinaryIO:
    """Return a stream of a head that was read already, followed by what ``read`` returns."""

    def read_joined(size: int) -> bytes:
        nonlocal head
        piece = head[:size] or read(size)
        head = head[len(piece) :]
        return piece

    return io.BufferedReader(ReadStream(read_joined), 1 << 16)


def _is_system_file(name: str) -> bool:
    """Return whether a name is a file that Finder or Explorer adds to archives."""
    return name.startswith("__MACOSX/") or name.endswith((".DS_Store", "Thumbs.db", "desktop.ini"))


_TAR_MAGIC = slice(257, 262)
_TAR_ERRORS = (
    tarfile.TarError,
    OSError,
    EOFError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""Exceptions of tarfile for damaged or malicious archives."""


def is_tar(head: bytes) -> bool:
    """Return whether a file with this head is a tar archive."""
    return head[_TAR_MAGIC] == b"ustar"


def _open_tar(stream: BinaryIO) -> tarfile.TarFile | None:
    try:
        return tarfile.open(fileobj=stream, mode="r:")
    except _TAR_ERRORS:
        return None


class TarMembers:
    """Regular files in a tar archive; if it is damaged, only the files before the damage.

    Attributes:
        names: the names of its files in order, without a leading ``./``.

    Args:
        stream: the archive; must be seekable.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._length = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        self._archive = _open_tar(stream)
        self._found = {each.name.removeprefix("./"): each for each in self._files()}
        self.names = tuple(self._found)

    def open(self, name: str) -> BinaryIO:
        """Open a member as a stream; empty if it does not exist."""
        info = self._found.get(name)
        member = self._archive.extractfile(info) if self._archive and info else None
        return cast("BinaryIO", member or io.BytesIO(b""))

    def read(self, name: str, most: int) -> bytes:
        """Read the first ``most`` bytes of a member."""
        with self.open(name) as member:
            return member.read(most)

    def _files(self) -> Iterator[tarfile.TarInfo]:
        """Yield complete regular files; no links, devices or sparse files."""
        for _ in range(MAX_MEMBERS):
            try:
                member = self._archive.next() if self._archive else None
            except _TAR_ERRORS:
                return
            if member is None:
                return
            is_whole = 0 <= member.size <= self._length - member.offset_data
            if member.isreg() and not member.issparse() and is_whole:
                yield member


# Compressed files. Their decompressed size is limited as well; a damaged file is read up to the
# damage.
MAX_BYTES = 8 << 30
UNPACKED_ALLOWANCE = 64 << 20
"""Size limit of the content in bytes if ``MAX_GROWTH`` would allow fewer."""
_ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 27}
"""Maximum window of 128 MiB, the limit of the zstd command line tool (RFC 8878 §3.1.1)."""
_PIECE = 1 << 20
_UNPACK_ERRORS = (
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
    """Return a stream of the decompressed content, including ``head``.

    The file may consist of several compressed streams. The stream ends at damage or at the limit.
    """
    opener = next(each for signature, each in _OPENERS.items() if head.startswith(signature))
    counted = _CountedFile(packed)
    content, written = opener(cast("IO[bytes]", counted)), 0

    def read(size: int) -> bytes:
        nonlocal written
        if written >= min(MAX_BYTES, max(UNPACKED_ALLOWANCE, counted.count * MAX_GROWTH)):
            return b""
        try:
            piece = content.read1(size)
        except _UNPACK_ERRORS:
            return b""
        written += len(piece)
        return piece

    return io.BufferedReader(ReadStream(read), _PIECE)


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
