"""Positional reads, and file names that survive a power loss."""

import os
from pathlib import Path
from typing import Protocol


class SegmentBytes(Protocol):
    """The bytes of a segment, wherever they lie, read by position."""

    @property
    def size(self) -> int:
        """How many they are, as of now."""

    def seek(self, offset: int, /) -> int:
        """Go to a byte."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; empty at the end."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Up to ``size`` bytes from a byte on."""


class ReadOnly:
    """A file read by position, closed when nothing refers to it any more."""

    def __init__(self, path: Path) -> None:
        self._position = 0
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    @property
    def size(self) -> int:
        """Its bytes, as of now."""
        return os.fstat(self._file).st_size

    def seek(self, offset: int) -> int:
        """Go to a byte."""
        self._position = offset
        return offset

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end."""
        data = os.pread(self._file, size, self._position)
        self._position += len(data)
        return data

    def read_at(self, offset: int, size: int) -> bytes:
        """Up to ``size`` bytes from a byte on."""
        return os.pread(self._file, size, offset)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


def make_directory(path: Path) -> None:
    """Make a directory and its parents, so that their names survive a loss of power."""
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a loss of power."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_file(path: Path, *, within: Path) -> None:
    """Make a file survive a loss of power: its content, and its name from a directory on."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    for directory in path.parents:
        sync_directory(directory)
        if directory == within:
            return
