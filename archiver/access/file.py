"""The file that says who may come in: read whole, written whole or not at all. Blocking."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from archiver.errors import ConfigurationError
from archiver.kept_file import KeptFile, Mark
from archiver.model.access import Access, Scope, Session, Token

NAME: Final = "access.json"
_MOST_BYTES: Final = 1 << 20
UNREADABLE: Final = (ValueError, TypeError, KeyError, AttributeError)
"""What ``read_access`` raises of what we did not write."""


class AccessFile:
    """``access.json`` of an archive.

    Args:
        data: directory of the archive; made when something is to be kept.
    """

    def __init__(self, data: Path) -> None:
        self._file = KeptFile(data / NAME)

    def mark(self) -> Mark | None:
        """What the file looks like from outside; None if there is none."""
        return self._file.mark()

    def read(self) -> Access:
        """What it says; nobody is named where there is none.

        Raises:
            ConfigurationError: it is not what we wrote.
        """
        held = self._file.read(_MOST_BYTES)
        if held is None:
            return Access()
        try:
            return read_access(held)
        except UNREADABLE as error:
            raise ConfigurationError(
                f"{self._file.path} can't be read. Put back what was there, or delete it: then "
                "there is no password, no token and no session, and `archiver password` sets a "
                "new one."
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
        with self._file.alone():
            before = self.read()
            after = change(before)
            if after != before:
                self._file.write(write_access(after))
            return after, self.mark()


def write_access(access: Access) -> bytes:
    """Who may come in, as it is kept."""
    return json.dumps(asdict(access), indent=1).encode()


def read_access(held: bytes) -> Access:
    """The reverse.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it is not what we wrote.
    """
    document: dict[str, Any] = json.loads(held)
    password = document["password"]
    if password is not None and not isinstance(password, str):
        raise TypeError("a password is kept as text")
    return Access(
        password,
        tuple(Token(**{**each, "scope": Scope(each["scope"])}) for each in document["tokens"]),
        tuple(Session(**each) for each in document["sessions"]),
    )
