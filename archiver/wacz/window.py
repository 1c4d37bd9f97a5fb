"""A stretch of a file as a file of its own, so that a package within a package is read in place."""

import io
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class FileWindow(io.RawIOBase):
    """A stretch of a file, as a file of its own."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a byte of the stretch."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError("before the start")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill a buffer with what comes next, as far as there is some."""
        target = memoryview(buffer)
        self._file.seek(self._start + self._at)
        data = self._file.read(max(min(len(target), self._size - self._at), 0))
        target[: len(data)] = data
        self._at += len(data)
        return len(data)
