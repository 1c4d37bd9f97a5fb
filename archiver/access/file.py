"""The file that says who may come in: read whole, written whole or not at all. Blocking."""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from archiver.errors import ConfigurationError
from archiver.model.access import Access, Scope, Session, Token

NAME: Final = "access.json"
_LOCK: Final = "access.lock"
_MOST_BYTES: Final = 1 << 20
Mark = tuple[int, int, int]
"""What changes whenever the file does: its inode, its size, its time in nanoseconds."""


class AccessFile:
    """``access.json`` of an archive.

    Args:
        data: directory of the archive; made when something is to be kept.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / NAME
        self._data = data

    def mark(self) -> Mark | None:
        """What the file looks like from outside; None if there is none."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def read(self) -> Access:
        """What it says; nobody is named where there is none.

        Raises:
            ConfigurationError: it is not what we wrote.
        """
        try:
            with self._path.open("rb") as file:
                return _read(json.loads(file.read(_MOST_BYTES)))
        except FileNotFoundError:
            return Access()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigurationError(
                f"{self._path} can't be read. Put back what was there, or delete it: then there is "
                "no password, no token and no session, and `archiver password` sets a new one."
            ) from error

    def look(self) -> tuple[Access, Mark | None]:
        """What it says, and how it looked just before it was read.

        Raises:
            ConfigurationError: it is not what we wrote.
        """
        mark = self.mark()
        return self.read(), mark

    def change(self, change: Callable[[Access], Access]) -> tuple[Access, Mark | None]:
        """Write what ``change`` makes of what it says; no other process comes between.

        Returns:
            What it says now, and how it looks.

        Raises:
            ConfigurationError: it is not what we wrote.
        """
        with self._alone():
            before = self.read()
            after = change(before)
            if after != before:
                self._write(json.dumps(asdict(after), indent=1).encode())
            return after, self.mark()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._data.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._data / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _write(self, text: bytes) -> None:
        fresh = self._path.with_name(f".{NAME}.{secrets.token_hex(8)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        finally:
            fresh.unlink(missing_ok=True)
        _sync(self._data)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(document: dict[str, Any]) -> Access:
    password = document["password"]
    if password is not None and not isinstance(password, str):
        raise TypeError("a password is kept as text")
    return Access(
        password,
        tuple(Token(**{**each, "scope": Scope(each["scope"])}) for each in document["tokens"]),
        tuple(Session(**each) for each in document["sessions"]),
    )
