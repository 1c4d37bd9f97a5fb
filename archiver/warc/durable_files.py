"""Positional reads, and files that survive a power loss."""

import os
from pathlib import Path
from typing import Protocol


class SegmentBytes(Protocol):
    """Bytes of a segment, local or remote, read by position."""

    @property
    def size(self) -> int:
        """Current size in bytes."""

    def seek(self, offset: int, /) -> int:
        """Set the position to a byte offset."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to ``size`` bytes at ``offset``."""


class ReadOnly:
    """File read by position; closed when it is garbage-collected."""

    def __init__(self, path: Path) -> None:
        self._position = 0
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    @property
    def size(self) -> int:
        """Current size in bytes."""
        return os.fstat(self._file).st_size

    def seek(self, offset: int) -> int:
        """Set the position to a byte offset."""
        self._position = offset
        return offset

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""
        data = os.pread(self._file, size, self._position)
        self._position += len(data)
        return data

    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to ``size`` bytes at ``offset``."""
        return os.pread(self._file, size, offset)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


def make_directory(path: Path) -> None:
    """Create a directory and its parents, and fsync their names."""
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Fsync a directory, so that the names in it survive a power loss."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_file(path: Path, *, within: Path) -> None:
    """Fsync a file, its directory and the parents up to ``within``."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    for directory in path.parents:
        sync_directory(directory)
        if directory == within:
            return
