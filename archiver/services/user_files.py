"""Files of user settings, such as the password, feeds and cookies.

Each file is in the data directory. If the index is on a server, each file is a row of the index
instead, so that all machines use the same settings.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from archiver.db import shared_files
from archiver.db.engine import Database
from archiver.helpers import PRIVATE, AtomicFile
from archiver.http import cookies

ACCESS: Final = "access.json"
FEEDS: Final = "feeds.opml"
READING: Final = "reading.json"
"""Reading positions in articles."""
SECRET: Final = "secret"  # noqa: S105 - a file name
"""The key of session cookies and signed addresses."""
MAX_BYTES: Final = 64 << 20
_MODES: Final = {
    ACCESS: PRIVATE,
    cookies.NAME: PRIVATE,
    FEEDS: 0o644,
    READING: PRIVATE,
    SECRET: PRIVATE,
}

Rewrite = Callable[[bytes | None], bytes | None]
"""Function from the current content to the new content of a file.

The current content is None if there is no file; the function returns None to change nothing.
"""


class _FileInFolder:
    """A file of user settings, read and written as a whole; ``_RowInIndex`` has the same methods.

    Attributes:
        place: location of the file, for messages.
    """

    def __init__(self, file: AtomicFile) -> None:
        self._file = file
        self.place = str(file.path)

    async def version(self) -> object:
        """Return a value that differs after each change."""
        return await asyncio.to_thread(self._file.version)

    async def read(self) -> bytes | None:
        """Return the content; None if there is no file."""
        return await asyncio.to_thread(self._file.read, MAX_BYTES)

    async def change(self, rewrite: Rewrite) -> object:
        """Change the content while holding a lock, and return the new value of ``version``."""
        return await asyncio.to_thread(self._change, rewrite)

    def _change(self, rewrite: Rewrite) -> object:
        with self._file.locked():
            after = rewrite(self._file.read(MAX_BYTES))
            if after is not None:
                self._file.write(after)
            return self._file.version()


class _RowInIndex:
    def __init__(self, db: Database, name: str) -> None:
        self._db = db
        self._name = name
        self.place = f"The row {name!r} of the table {shared_files.table}"

    async def version(self) -> object:
        return await self.read()

    async def read(self) -> bytes | None:
        async with self._db.read() as conn:
            return await shared_files.find(conn, self._name)

    async def change(self, rewrite: Rewrite) -> object:
        async with self._db.write() as conn:
            before = await shared_files.find(conn, self._name)
            after = rewrite(before)
            if after is None:
                return before
            await shared_files.put(conn, self._name, after)
            return after


UserFile: TypeAlias = _FileInFolder | _RowInIndex


def user_file(data: Path, name: str, db: Database | None = None) -> UserFile:
    """Return a file of user settings by its name."""
    if db is not None and db.is_shared:
        return _RowInIndex(db, name)
    return _FileInFolder(AtomicFile(data / name, mode=_MODES[name]))


async def copy_user_files(data: Path, source: Database, target: Database) -> None:
    """Copy all files of user settings between the data directory and an index on a server.

    Raises:
        IndexUnavailable: the index that has the files, or gets them, can't be reached.
    """
    for name in _MODES:
        content = await user_file(data, name, source).read()
        if content is not None:
            await user_file(data, name, target).change(lambda _: content)  # noqa: B023 - called now


def remove_user_files(data: Path) -> None:
    """Delete the files of user settings after they were copied to an index; blocking."""
    for name in _MODES:
        (data / name).unlink(missing_ok=True)
