"""Members of zip and tar archives.

Nothing is extracted to a path, so ``../`` in a name is harmless: names are only displayed and
compared. The size of a member is limited relative to its compressed size, and the total relative to
the archive's size, so only the first megabytes of a decompression bomb are read. Each member over a
limit is reported.
"""

import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from archiver.errors import UnreadableFile
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken
from archiver.warc.wacz import central_directory_bytes

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
        self._budget = _DecompressionBudget(max(ALLOWED_OF_ALL, length * GROWTH_OF_ALL))
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
        return io.BufferedReader(_Member(member, most, self._budget, name), 1 << 16)

    def read(self, name: str, most: int) -> bytes:
        """Read the first ``most`` bytes of a member."""
        with self.open(name) as member:
            return member.read(most)

    def left_out(self) -> Iterator[Bookmark]:
        """Yield a problem for each member that was not read completely because of the limits."""
        for name in self._budget.refused:
            yield broken(name, _UNPACKED_TOO_MUCH)
        if self._first_left_out:
            yield broken(self._first_left_out, _TOO_MANY)


@dataclass(slots=True)
class _DecompressionBudget:
    """Number of bytes that may still be decompressed, and members that exceeded a size limit."""

    remaining: int
    refused: dict[str, None] = field(default_factory=dict)


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


class _Member(io.RawIOBase):
    """Stream of a member up to the size limits; it ends at damaged data."""

    def __init__(
        self, member: IO[bytes], most: int, budget: _DecompressionBudget, name: str
    ) -> None:
        self._member = member
        self._remaining = most
        self._budget = budget
        self._name = name

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read the next bytes; return 0 at the end or at damaged data."""
        target = memoryview(buffer)
        size = min(len(target), self._remaining, self._budget.remaining)
        try:
            piece = self._member.read(size or 1)
        except _READ_ERRORS:
            return 0
        if piece and not size:
            self._budget.refused[self._name] = None
            return 0
        self._remaining -= len(piece)
        self._budget.remaining -= len(piece)
        target[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the stream and the member."""
        self._member.close()
        super().close()


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
