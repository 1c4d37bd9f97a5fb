"""Archive locks and liveness of processes.

A process has died if its run lock file exists but is not locked.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from archiver.helpers import make_directory

SUFFIX = ".lock"


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Try to lock a lock file for the duration of the block; yield whether the lock was taken."""
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(file)


class ArchiveLock:
    """Shared or exclusive lock on ``<directory>/archive``, held until ``release``.

    Raises:
        BlockingIOError: another process holds the lock in a conflicting mode.
        OSError: the directory can't be used.
    """

    def __init__(self, directory: Path, *, exclusive: bool) -> None:
        make_directory(directory)
        self._file = os.open(directory / "archive", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)


class RunLock:
    """Run lock of this process, ``<directory>/<name>.lock``, held until ``release`` or exit."""

    def __init__(self, directory: Path) -> None:
        make_directory(directory)
        self.directory = directory
        self.name = uuid4().hex[:12]
        self._path = directory / f"{self.name}{SUFFIX}"
        partial = self._path.with_suffix(".new")
        self._file = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        # The file is locked before it gets its name, so that no process considers this one dead.
        partial.rename(self._path)

    def is_alive(self, name: str) -> bool:
        """Return whether the process ``name`` is running; True for this process."""
        return name == self.name or _is_locked(self.directory / f"{name}{SUFFIX}")

    def is_abandoned(self, name: str) -> bool:
        """Return whether a lock file of the process ``name`` remains although it died."""
        path = self.directory / f"{name}{SUFFIX}"
        return path.exists() and not self.is_alive(name)

    def remove_dead(self) -> None:
        """Remove the lock files of dead processes."""
        for path in self.directory.glob(f"*{SUFFIX}"):
            if path != self._path and not _is_locked(path):
                path.unlink(missing_ok=True)

    def release(self) -> None:
        """Release the lock; other processes then treat this process as dead."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)


class NoLock(RunLock):
    """Replacement for the run lock in a process that can't write to the archive directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.name = ""

    def is_alive(self, name: str) -> bool:  # noqa: ARG002 - as in RunLock
        """Return False, because no process can write to the archive."""
        return False

    def is_abandoned(self, name: str) -> bool:  # noqa: ARG002
        """Return False, because this process can't recover anything."""
        return False

    def remove_dead(self) -> None:
        """Do nothing."""

    def release(self) -> None:
        """Do nothing."""


def _is_locked(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(file)
