"""Small files beside the archive, which hold what a person said: whole or not at all. Blocking."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600
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
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def write(self, content: bytes) -> None:
        """Put this in the place of what it held; it is on disk then."""
        fresh = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self._mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        finally:
            fresh.unlink(missing_ok=True)
        _sync(self.path.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
