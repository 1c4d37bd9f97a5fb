"""Locks of an archive and liveness of processes.

A run lock that nobody holds belonged to a process that died.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from archiver.helpers import AtomicFile
from archiver.warc.durable_files import make_directory

SUFFIX = ".lock"


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Be the only process that has a lock file, as long as the block lasts; whether this one is."""
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
    """A place in the archive, ``<directory>/archive``: shared, or had alone, until ``release``.

    Raises:
        BlockingIOError: another process has it alone, or any has it where this wants it alone.
        OSError: the directory can't be used.
    """

    def __init__(self, directory: Path, *, alone: bool) -> None:
        make_directory(directory)
        self._file = os.open(directory / "archive", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise

    def release(self) -> None:
        """Let go."""
        os.close(self._file)


class RunLock:
    """This process's lock, ``<directory>/<name>.lock``, held until ``release`` or death."""

    def __init__(self, directory: Path) -> None:
        make_directory(directory)
        self.directory = directory
        self.name = uuid4().hex[:12]
        self._path = directory / f"{self.name}{SUFFIX}"
        unready = self._path.with_suffix(".new")
        self._file = os.open(unready, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        # Only a lock that is held gets its name, so nobody ever sees it free and sweeps it away.
        unready.rename(self._path)

    def is_alive(self, name: str) -> bool:
        """Whether the process of that name is running; true of this one."""
        return name == self.name or _is_held(self.directory / f"{name}{SUFFIX}")

    def left_behind(self, name: str) -> bool:
        """Whether a process of that name was one of ours and died: its lock file is still here."""
        path = self.directory / f"{name}{SUFFIX}"
        return path.exists() and not self.is_alive(name)

    def sweep(self) -> None:
        """Remove the lock files of the dead."""
        for path in self.directory.glob(f"*{SUFFIX}"):
            if path != self._path and not _is_held(path):
                path.unlink(missing_ok=True)

    def release(self) -> None:
        """Let go; from here on this process counts as dead."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def _is_held(path: Path) -> bool:
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


NAME = "machine"
_MOST = 100


def machine_of(data: Path) -> str:
    """The name of the machine whose data directory this is, made when first asked for. Blocking.

    A copy of the directory is another machine: each knows of its own processes by their locks,
    and must never take those of the other for dead. So the name is bound to the directory's inode.
    """
    file, here = AtomicFile(data / NAME, mode=0o644), str(data.stat().st_ino)
    with file.alone():
        held = (file.read(_MOST) or b"").decode("utf-8", "replace").split()
        if held[1:] == [here]:
            return held[0]
        name = uuid4().hex[:12]
        file.write(f"{name} {here}\n".encode())
        return name
