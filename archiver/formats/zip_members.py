"""What a zip archive holds (APPNOTE 6.3): read where it lies, never unpacked to anywhere.

A member's name is only ever shown, so ``../`` in one leads nowhere. What comes out of one is
bounded by how long it is packed, so a bomb costs its first megabytes.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MOST_MEMBERS = 100_000
MOST_GROWTH = 200
"""How many times its packed length a member may have; lists of links come to 20."""
ALWAYS_ALLOWED = 16 << 20
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""What the standard library raises on archives that are damaged, encrypted or packed oddly."""


def is_zip(head: bytes) -> bool:
    """Whether a file that begins so is a zip archive."""
    return head.startswith(_SIGNATURES)


def member_names(stream: BinaryIO) -> tuple[str, ...]:
    """The names of its files, in order, no folders; none if its list of contents is broken."""
    try:
        with zipfile.ZipFile(stream) as archive:
            found = [each.filename for each in archive.infolist() if not each.is_dir()]
    except _BROKEN:
        return ()
    return tuple(each for each in found[:MOST_MEMBERS] if not _is_of_the_system(each))


def open_members(stream: BinaryIO, names: tuple[str, ...]) -> Iterator[tuple[str, BinaryIO]]:
    """Each of these members as a stream, which is good until the next one is asked for."""
    try:
        archive = zipfile.ZipFile(stream)
    except _BROKEN:
        return
    with archive:
        for name in names:
            try:
                member = archive.open(name)
            except (*_BROKEN, KeyError):
                yield name, io.BytesIO(b"")
                continue
            with member:
                packed = archive.getinfo(name).compress_size
                most = max(ALWAYS_ALLOWED, packed * MOST_GROWTH)
                yield name, io.BufferedReader(_Bounded(member, most), 1 << 16)


def read_member(stream: BinaryIO, name: str, most: int) -> bytes:
    """The first so many bytes of a member; empty if there is none."""
    return next((member.read(most) for _, member in open_members(stream, (name,))), b"")


class _Bounded(io.RawIOBase):
    """A member up to a length; where it is damaged it ends."""

    def __init__(self, member: IO[bytes], most: int) -> None:
        self._member = member
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer)
        try:
            piece = self._member.read(min(len(target), self._left))
        except _BROKEN:
            return 0
        self._left -= len(piece)
        target[: len(piece)] = piece
        return len(piece)


def _is_of_the_system(name: str) -> bool:
    """What Finder and Explorer leave in archives."""
    return name.startswith("__MACOSX/") or name.endswith((".DS_Store", "Thumbs.db", "desktop.ini"))
