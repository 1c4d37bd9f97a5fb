"""Files of user settings, such as the password, feeds and cookies.

Each file is in the data directory. If the index is on a server, each file is a row of the index
instead, so that all machines use the same settings.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from archiver.db import shared_files
from archiver.db.engine import Database, Engines
from archiver.helpers import PRIVATE, AtomicFile
from archiver.http import cookies

ACCESS: Final = "access.json"
FEEDS: Final = "feeds.opml"
READING: Final = "reading.json"
"""Reading positions in articles."""
SECRET: Final = "secret"  # noqa: S105 - a file name
"""The key of session cookies and signed addresses."""
MAX_BYTES: Final = 64 << 20
_MODES: Final = {ACCESS: PRIVATE, cookies.NAME: PRIVATE, FEEDS: 0o644}

Rewrite = Callable[[bytes | None], bytes | None]
"""Function from the current content to the new content of a file.

The current content is None if there is no file; the function returns None to change nothing.
"""


class UserFile(Protocol):
    """A file of user settings, read and written as a whole.

    Attributes:
        place: location of the file, for messages.
    """

    place: str

    async def version(self) -> object:
        """Return a value that differs after each change."""

    async def read(self) -> bytes | None:
        """Return the content; None if there is no file."""

    async def change(self, rewrite: Rewrite) -> object:
        """Change the content while holding a lock, and return the new value of ``version``."""


class _FileInFolder:
    def __init__(self, file: AtomicFile) -> None:
        self._file = file
        self.place = str(file.path)

    async def version(self) -> object:
        return await asyncio.to_thread(self._file.version)

    async def read(self) -> bytes | None:
        return await asyncio.to_thread(self._file.read, MAX_BYTES)

    async def change(self, rewrite: Rewrite) -> object:
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
        self.place = f"The row {name!r} of the table shared_file"

    async def version(self) -> object:
        async with self._db.read() as conn:
            return await shared_files.revision_of(conn, self._name)

    async def read(self) -> bytes | None:
        async with self._db.read() as conn:
            stored = await shared_files.find(conn, self._name)
        return stored.content if stored else None

    async def change(self, rewrite: Rewrite) -> object:
        async with self._db.write() as conn:
            stored = await shared_files.find(conn, self._name)
            after = rewrite(stored.content if stored else None)
            if after is not None:
                return await shared_files.put(conn, self._name, after)
            return stored.revision if stored else None


def user_file(data: Path, name: str, db: Database | None = None) -> UserFile:
    """Return a file of user settings by its name."""
    if db is not None and db.is_shared:
        return _RowInIndex(db, name)
    return _FileInFolder(AtomicFile(data / name, mode=_MODES.get(name, PRIVATE)))


async def user_settings_of(place: Engines, old: Database | None) -> dict[str, bytes] | None:
    """Return the user settings that an index on a server holds, by name.

    Args:
        place: location of the index.
        old: the open index; None if the index is missing, unreadable or of another version. Then
            only the table of user settings is read.

    Returns:
        The content of each file. None if the index is a file, because then the settings are files
        in the data directory. Also None if there is no index.

    Raises:
        IndexUnavailable: the index exists, but its table of user settings can't be read.
    """
    if not place.is_shared:
        return None
    if old:
        async with old.read() as conn:
            return await shared_files.all_of(conn)
    if not await asyncio.to_thread(place.exists):
        return None
    db = Database(place)
    try:
        async with db.read() as conn:
            return await shared_files.all_of(conn)
    finally:
        await db.close()


async def put_user_settings(files: dict[str, bytes] | None, new: Database, data: Path) -> None:
    """Write user settings to a new index on a server, or to the data directory.

    Args:
        files: result of ``user_settings_of``; None to read the files in the data directory.
        new: the new index.
        data: the data directory.
    """
    if files is None:
        files = await asyncio.to_thread(_in_folder, data)
    if new.is_shared:
        async with new.write() as conn:
            for name, content in files.items():
                await shared_files.put(conn, name, content)
    else:
        await asyncio.to_thread(_write_to_folder, data, files)


def _in_folder(data: Path) -> dict[str, bytes]:
    read = {name: AtomicFile(data / name).read(MAX_BYTES) for name in _MODES}
    return {name: content for name, content in read.items() if content is not None}


def _write_to_folder(data: Path, files: dict[str, bytes]) -> None:
    for name, mode in _MODES.items():
        if name in files:
            AtomicFile(data / name, mode=mode).write(files[name])


def remove_user_files(data: Path) -> None:
    """Delete the files of user settings after they were copied to an index; blocking."""
    for name in _MODES:
        (data / name).unlink(missing_ok=True)
