"""What a zip archive holds (APPNOTE 6.3): read where it lies, never unpacked to anywhere.

A member's name is only ever shown, so ``../`` in one leads nowhere. What comes out of one is
bounded by how long it is packed, so a bomb costs its first megabytes.
"""

import io
import zipfile
import zlib
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


class Members:
    """The files in a zip archive: none, if its list of contents is broken.

    Attributes:
        names: of its files, in order, no folders, nothing that a system left there.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._archive = _opened(stream)
        found = self._archive.infolist() if self._archive else []
        named = [each.filename for each in found[:MOST_MEMBERS] if not each.is_dir()]
        self.names = tuple(each for each in named if not _is_of_the_system(each))

    def open(self, name: str) -> BinaryIO:
        """A member as a stream; what is damaged or encrypted is empty, or ends early."""
        try:
            info = self._archive.getinfo(name) if self._archive else None
            member = self._archive.open(info) if self._archive and info else None
        except (*_BROKEN, KeyError):
            member = info = None
        if member is None or info is None:
            return io.BytesIO(b"")
        most = max(ALWAYS_ALLOWED, info.compress_size * MOST_GROWTH)
        return io.BufferedReader(BoundedMember(member, most, _BROKEN), 1 << 16)

    def read(self, name: str, most: int) -> bytes:
        """The first so many bytes of a member."""
        with self.open(name) as member:
            return member.read(most)


def member_names(stream: BinaryIO) -> tuple[str, ...]:
    """The names of the files in a zip archive."""
    return Members(stream).names


def _opened(stream: BinaryIO) -> zipfile.ZipFile | None:
    try:
        return zipfile.ZipFile(stream)
    except _BROKEN:
        return None


class BoundedMember(io.RawIOBase):
    """A member up to a length; where it is ``broken`` it ends."""

    def __init__(self, member: IO[bytes], most: int, broken: tuple[type[Exception], ...]) -> None:
        self._member = member
        self._left = most
        self._broken = broken

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read the next bytes; none where it is at its end, or damaged."""
        target = memoryview(buffer)
        try:
            piece = self._member.read(min(len(target), self._left))
        except self._broken:
            return 0
        self._left -= len(piece)
        target[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the member, too."""
        self._member.close()
        super().close()


def _is_of_the_system(name: str) -> bool:
    """What Finder and Explorer leave in archives."""
    return name.startswith("__MACOSX/") or name.endswith((".DS_Store", "Thumbs.db", "desktop.ini"))
