"""Files in a tar archive, listed with bounds and read in place.

As in zip archives, names are only shown and compared: nothing is ever extracted to a path.
"""

import io
import os
import tarfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from archiver.formats.zip_members import MOST_MEMBERS

_MAGIC = slice(257, 262)
_BROKEN = (tarfile.TarError, OSError, EOFError, ValueError, OverflowError, RecursionError)
"""Exceptions of tarfile for archives that are damaged, or made to harm."""


def is_tar(head: bytes) -> bool:
    """Return whether a file that begins so is a tar archive."""
    return head[_MAGIC] == b"ustar"


def _opened(stream: BinaryIO) -> tarfile.TarFile | None:
    try:
        return tarfile.open(fileobj=stream, mode="r:")
    except _BROKEN:
        return None


class TarMembers:
    """The plain files in a tar archive, up to where it is damaged.

    Attributes:
        names: of its files, in order, without a leading ``./``.

    Args:
        stream: the archive; must be seekable.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._length = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        self._archive = _opened(stream)
        self._found = {each.name.removeprefix("./"): each for each in self._files()}
        self.names = tuple(self._found)

    def open(self, name: str) -> BinaryIO:
        """Open a member as a stream; empty where there is none."""
        found = self._found.get(name)
        member = self._archive.extractfile(found) if self._archive and found else None
        return cast("BinaryIO", member or io.BytesIO(b""))

    def read(self, name: str, most: int) -> bytes:
        """Read the first ``most`` bytes of a member."""
        with self.open(name) as member:
            return member.read(most)

    def _files(self) -> Iterator[tarfile.TarInfo]:
        """Yield plain files that are there whole; no links, devices or sparse files."""
        for _ in range(MOST_MEMBERS):
            try:
                member = self._archive.next() if self._archive else None
            except _BROKEN:
                return
            if member is None:
                return
            is_whole = 0 <= member.size <= self._length - member.offset_data
            if member.isreg() and not member.issparse() and is_whole:
                yield member
