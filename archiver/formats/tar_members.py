"""What a packed tar archive holds (POSIX ustar): unpacked to one file, and never to others.

As of zip archives, a member's name is only ever shown, and a bomb costs its first megabytes.
"""

import io
import tarfile
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from archiver.formats.zip_members import MOST_GROWTH, MOST_MEMBERS, BoundedMember

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MOST_BYTES = 8 << 30
ALWAYS_ALLOWED = 64 << 20
_GZIP = b"\x1f\x8b"
_GZIP_BITS = 31
_MAGIC = slice(257, 262)
_PIECE = 1 << 20
_BROKEN = (tarfile.TarError, OSError, EOFError, ValueError, KeyError, zlib.error)


def is_gzip(head: bytes) -> bool:
    """Whether a file that begins so is packed with gzip (RFC 1952)."""
    return head.startswith(_GZIP)


def is_tar_gz(head: bytes) -> bool:
    """Whether a file that begins so is a tar archive, packed with gzip."""
    if not is_gzip(head):
        return False
    try:
        start = zlib.decompressobj(_GZIP_BITS).decompress(head, 512)
    except zlib.error:
        return False
    return start[_MAGIC] == b"ustar"


class TarMembers:
    """The plain files in a tar archive; what is damaged ends early.

    Attributes:
        names: of its files, in order, without a leading ``./``.

    Args:
        unpacked: the archive, to be sought in.
    """

    def __init__(self, unpacked: BinaryIO) -> None:
        self._found: dict[str, tarfile.TarInfo] = {}
        self._archive: tarfile.TarFile | None = None
        with suppress(*_BROKEN):
            self._archive = tarfile.TarFile(fileobj=unpacked)
            for each in self._archive:
                if each.isreg() and not each.issparse():
                    self._found[each.name.removeprefix("./")] = each
                if len(self._found) >= MOST_MEMBERS:
                    break
        self.names = tuple(self._found)

    def open(self, name: str) -> BinaryIO:
        """A member as a stream; empty where there is none."""
        found, member = self._found.get(name), None
        with suppress(*_BROKEN):
            member = self._archive.extractfile(found) if self._archive and found else None
        if member is None or found is None:
            return io.BytesIO(b"")
        return io.BufferedReader(BoundedMember(member, found.size, _BROKEN), 1 << 16)

    def read(self, name: str, most: int) -> bytes:
        """The first so many bytes of a member."""
        with self.open(name) as member:
            return member.read(most)


class Gunzipped(io.RawIOBase):
    """What a gzip stream holds, bounded by how long that is; where it is damaged it ends.

    It may have several members, which follow each other (RFC 1952 §2.2).
    """

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._unpacker = zlib.decompressobj(_GZIP_BITS)
        self._waiting = b""
        self._read = self._given = 0

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
        while self._given < self._most() and self._has_more():
            try:
                piece = self._unpacker.decompress(self._waiting, most)
            except zlib.error:
                break
            self._waiting = self._unpacker.unconsumed_tail or self._unpacker.unused_data
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(_GZIP_BITS)
            if piece:
                return piece
        return b""

    def _has_more(self) -> bool:
        if not self._waiting:
            self._waiting = self._packed.read(_PIECE)
            self._read += len(self._waiting)
        return bool(self._waiting)

    def _most(self) -> int:
        return min(MOST_BYTES, max(ALWAYS_ALLOWED, self._read * MOST_GROWTH))
