"""What a tar archive holds (POSIX ustar): read where it lies, never unpacked to anywhere.

As of zip archives, a member's name is only ever shown.
"""

import io
import tarfile
from contextlib import suppress
from typing import BinaryIO

from archiver.formats.zip_members import MOST_MEMBERS, BoundedMember

_MAGIC = slice(257, 262)
_BROKEN = (tarfile.TarError, OSError, EOFError, ValueError, KeyError)


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar archive."""
    return head[_MAGIC] == b"ustar"


class TarMembers:
    """The plain files in a tar archive; what is damaged ends early.

    Attributes:
        names: of its files, in order, without a leading ``./``.

    Args:
        stream: the archive, to be sought in.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._found: dict[str, tarfile.TarInfo] = {}
        self._archive: tarfile.TarFile | None = None
        with suppress(*_BROKEN):
            self._archive = tarfile.TarFile(fileobj=stream)
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
