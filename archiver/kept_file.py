"""Small files beside the archive, which hold what a person said: whole or not at all. Blocking."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PRIVATE = 0o600
UNFINISHED = ".new"
"""Ends the name of what is not yet whole."""
Mark = tuple[int, int, int]
"""What changes whenever a file does: its inode, its size, its time in nanoseconds."""


class KeptFile:
    """A file that is read whole and written whole, by one process at a time.

    Args:
        path: of the file; its directory is made when something is to be kept.
        mode: of the file.
    """

    def __init__(self, path: Path, *, mode: int = PRIVATE) -> None:
        self.path = path
        self._mode = mode

    def read(self, most: int) -> bytes | None:
        """What it holds, up to ``most`` bytes; None if there is none."""
        try:
            with self.path.open("rb") as file:
                return file.read(most)
        except FileNotFoundError:
            return None

    def mark(self) -> Mark | None:
        """What it looks like from outside; None if there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other process come between a reading and the writing that follows."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        name = self.path.with_suffix(".lock")
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def write(self, content: bytes) -> None:
        """Put this in the place of what it held; it is on disk then.

        What a process that was killed had written of it is written over.
        """
        with self._unfinished() as file:
            file.truncate()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            self._fresh.replace(self.path)
        _sync(self.path.parent)

    def forget_unfinished(self) -> None:
        """Take away what a process that was killed had written of it."""
        if self._fresh.exists():
            with self._unfinished():
                self._fresh.unlink()

    @property
    def _fresh(self) -> Path:
        return self.path.with_name(f".{self.path.name}{UNFINISHED}")

    @contextmanager
    def _unfinished(self) -> Iterator[IO[bytes]]:
        """The file that will take its place, which no other process has."""
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(self._fresh, flags, self._mode), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not self._is_fresh(file):
                    continue  # who had it gave it its name, or took it away
                try:
                    yield file
                except BaseException:
                    self._fresh.unlink(missing_ok=True)
                    raise
                return

    def _is_fresh(self, file: IO[bytes]) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._fresh.lstat())
        except FileNotFoundError:
            return False


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
