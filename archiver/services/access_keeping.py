"""Where it is kept who may come in: in a file of the data directory, or with a shared index.

Machines that share an index have the file, too: a copy, with which an index begins that has none.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from archiver.access.file import NAME, UNREADABLE, AccessFile, read_access, write_access
from archiver.errors import ConfigurationError
from archiver.index import shared_files
from archiver.index.database import AsyncConnection, Database
from archiver.model.access import Access

Change = Callable[[Access], Access]
_SIGNED_WITH: Final = "secret"
"""The name of what cookies and addresses are signed with."""


class AccessKeeping(Protocol):
    """Reads and changes it; a mark is another one once it was changed."""

    async def mark(self) -> object:
        """The mark of now."""

    async def look(self) -> tuple[Access, object]:
        """All of it, and its mark."""

    async def change(self, change: Change) -> tuple[Access, object]:
        """Change it, while nobody else does; all of it then, and its mark."""

    async def secret(self, own: bytes) -> bytes:
        """The secret of all who serve this archive; this one's own where there is none yet."""


class KeptInFile:
    """In ``access.json`` alone."""

    def __init__(self, file: AccessFile) -> None:
        self._file = file

    async def mark(self) -> object:
        """The file's."""
        return await asyncio.to_thread(self._file.mark)

    async def look(self) -> tuple[Access, object]:
        """What the file says."""
        return await asyncio.to_thread(self._file.look)

    async def change(self, change: Change) -> tuple[Access, object]:
        """Write it anew."""
        return await asyncio.to_thread(self._file.change, change)

    async def secret(self, own: bytes) -> bytes:
        """Nobody else serves it."""
        return own


class KeptInIndex:
    """With an index that machines share."""

    def __init__(self, db: Database, file: AccessFile) -> None:
        self._db = db
        self._file = file

    async def mark(self) -> object:
        """How often it was changed."""
        return await self._db.look(lambda conn: shared_files.revision_of(conn, NAME))

    async def look(self) -> tuple[Access, object]:
        """What the index says; what the file does where that says nothing.

        Raises:
            ConfigurationError: it is not what we wrote.
        """
        async with self._db.read() as conn:
            found = await shared_files.find(conn, NAME)
        if found is None:
            own = await asyncio.to_thread(self._file.read)
            return (own, None) if own == Access() else await self.change(lambda access: access)
        return await self._copied(_read_row(found)), found.revision

    async def change(self, change: Change) -> tuple[Access, object]:
        """Write a row; the file is a copy of it.

        Raises:
            ConfigurationError: what is there is not what we wrote.
        """
        async with self._db.write() as conn:
            after, revision = await self._change(conn, change)
        return await self._copied(after), revision

    async def _change(self, conn: AsyncConnection, change: Change) -> tuple[Access, int | None]:
        found = await shared_files.find(conn, NAME)
        there = _read_row(found) if found else Access()
        before = there if found else await asyncio.to_thread(self._file.read)
        after = change(before)
        if after == there:
            return after, found.revision if found else None
        return after, await shared_files.put(conn, NAME, write_access(after))

    async def secret(self, own: bytes) -> bytes:
        """That of whoever served it first."""
        async with self._db.write() as conn:
            found = await shared_files.find(conn, _SIGNED_WITH)
            if found is None:
                await shared_files.put(conn, _SIGNED_WITH, own)
            return found.content if found else own

    async def _copied(self, access: Access) -> Access:
        await asyncio.to_thread(self._file.change, lambda _: access)
        return access


def _read_row(found: shared_files.SharedFile) -> Access:
    try:
        return read_access(found.content)
    except UNREADABLE as error:
        raise ConfigurationError(
            f"What the shared index keeps as {NAME} can't be read. Delete that row of its table "
            "shared_file: then this machine's copy counts."
        ) from error


def keeping_of(data: Path, db: Database | None) -> tuple[AccessKeeping, AccessFile]:
    """Where it is kept for an archive, and the file of this machine."""
    file = AccessFile(data)
    shared = db is not None and db.machine is not None
    return (KeptInIndex(db, file) if db and shared else KeptInFile(file)), file
