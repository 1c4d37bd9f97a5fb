"""Uploaded files that are looked at and not yet imported: kept by a token, gone after a day.

Where machines share an archive each of them has all: the file lies in the store, and the index
knows its name for as long as nobody said what becomes of it.
"""

import asyncio
import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from archiver.errors import NotFound, StoreUnavailable
from archiver.index.database import Database
from archiver.services.kept_uploads import (
    LOOKED_AT,
    NOT_KEPT,
    STALE_SECONDS,
    WHOLE,
    KeptUploads,
    note_look,
    noted_look,
)
from archiver.store.files import sync_file

_NAME = ".name"
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A file that waits for somebody to say what becomes of it."""

    token: str
    path: Path
    name: str


class LookedAtFiles:
    """Keeps such files."""

    def __init__(self, db: Database, uploads: KeptUploads) -> None:
        self._db = db
        self._uploads = uploads

    async def keep(self, path: Path, name: str) -> LookedAt:
        """Keep a whole file that lies in its directory already.

        Raises:
            StoreUnavailable: the store does not take it; it lies where it lay.
        """
        kept, said = path.with_suffix(LOOKED_AT), json.dumps(name)
        if self._uploads.are_shared:
            # A copy that a power cut left half would be read instead of what the store has.
            await asyncio.to_thread(sync_file, path, within=path.parent)
            await self._uploads.share(path)
            async with self._db.write() as conn:
                await note_look(conn, kept, said.encode())
        else:
            await asyncio.to_thread(kept.with_suffix(_NAME).write_text, said, encoding="utf-8")
        await asyncio.to_thread(path.rename, kept)
        return LookedAt(kept.stem, kept, name)

    async def find(self, token: str) -> LookedAt:
        """A file that was kept.

        Raises:
            NotFound: it is none, or not any more.
            StoreUnavailable: it came to another machine, and can't be had here now.
        """
        if not _TOKEN.fullmatch(token):
            raise NotFound(NOT_KEPT)
        path = self._uploads.directory / f"{token}{LOOKED_AT}"
        try:
            name = json.loads(await self._said_of(path))
            await self._uploads.have_here(path)
        except (FileNotFoundError, ValueError):
            raise NotFound(NOT_KEPT) from None
        except OSError as error:
            raise StoreUnavailable(
                "The file is kept, but can't be had on this machine: {detail}. Make room on its "
                "disk, or go on at another machine.",
                detail=error.strerror or str(error),
            ) from error
        if not await asyncio.to_thread(path.is_file):
            raise NotFound(NOT_KEPT)
        return LookedAt(token, path, str(name))

    async def discard(self, kept: LookedAt) -> None:
        """Throw a file away.

        Raises:
            NotFound: somebody did so, or imported it.
        """
        await self._uploads.discard(kept.path)
        await asyncio.to_thread(kept.path.with_suffix(_NAME).unlink, missing_ok=True)

    async def to_be_imported(self, kept: LookedAt) -> Path:
        """Give a file the name that an import goes on with.

        Raises:
            NotFound: somebody did so.
        """
        try:
            return await asyncio.to_thread(_renamed, kept.path)
        except FileNotFoundError:
            raise NotFound(NOT_KEPT) from None

    async def _said_of(self, path: Path) -> bytes:
        if not self._uploads.are_shared:
            return await asyncio.to_thread(path.with_suffix(_NAME).read_bytes)
        async with self._db.read() as conn:
            said = await noted_look(conn, path)
        if said is None:
            await asyncio.to_thread(path.unlink, missing_ok=True)
            raise NotFound(NOT_KEPT)
        return said


def remove_stale(directory: Path) -> None:
    """Remove what nobody said anything of for a day. Blocking."""
    for path in (*directory.glob(f"*{LOOKED_AT}"), *directory.glob(f"*{_NAME}")):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - STALE_SECONDS:
                path.unlink()


def _renamed(path: Path) -> Path:
    whole = path.with_suffix(WHOLE)
    path.rename(whole)
    path.with_suffix(_NAME).unlink(missing_ok=True)
    return whole
