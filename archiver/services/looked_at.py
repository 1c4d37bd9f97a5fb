"""Uploaded files with an import preview: kept in ``data/tmp`` under a token for a day."""

import asyncio
import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from archiver.errors import NotFound
from archiver.model.message import marked

TMP = "tmp"
STALE_SECONDS = 86400
WHOLE, LOOKED_AT = ".upload", ".look"
NOT_KEPT = marked("This file is not kept any more. Give it again.")
_NAME = ".name"
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class LookedAt:
    """An uploaded file that the user has not imported or discarded yet."""

    token: str
    path: Path
    name: str


class LookedAtFiles:
    """The previewed files of a data directory. They are on the machine that received them."""

    def __init__(self, data: Path) -> None:
        self._directory = data / TMP

    async def keep(self, path: Path, name: str) -> LookedAt:
        """Keep a complete upload that is already in ``data/tmp``."""
        kept = path.with_suffix(LOOKED_AT)
        name_file = kept.with_suffix(_NAME)
        await asyncio.to_thread(name_file.write_text, json.dumps(name), encoding="utf-8")
        await asyncio.to_thread(path.rename, kept)
        return LookedAt(kept.stem, kept, name)

    async def find(self, token: str) -> LookedAt:
        """Return a kept file.

        Raises:
            NotFound: there is none with this token, or it is no longer kept.
        """
        if not _TOKEN.fullmatch(token):
            raise NotFound(NOT_KEPT)
        path = self._directory / f"{token}{LOOKED_AT}"
        try:
            name = json.loads(await asyncio.to_thread(path.with_suffix(_NAME).read_bytes))
        except (FileNotFoundError, ValueError):
            raise NotFound(NOT_KEPT) from None
        if not await asyncio.to_thread(path.is_file):
            raise NotFound(NOT_KEPT)
        return LookedAt(token, path, str(name))

    async def discard(self, kept: LookedAt) -> None:
        """Delete a file that is not to be imported."""
        for path in (kept.path, kept.path.with_suffix(_NAME)):
            await asyncio.to_thread(path.unlink, missing_ok=True)

    async def to_be_imported(self, kept: LookedAt) -> Path:
        """Rename a file for its import and return the new path.

        Raises:
            NotFound: another request imported or discarded it.
        """
        try:
            return await asyncio.to_thread(_renamed, kept.path)
        except FileNotFoundError:
            raise NotFound(NOT_KEPT) from None


def remove_stale(directory: Path) -> None:
    """Delete previewed files that are older than a day. Blocking."""
    for path in (*directory.glob(f"*{LOOKED_AT}"), *directory.glob(f"*{_NAME}")):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - STALE_SECONDS:
                path.unlink()


def _renamed(path: Path) -> Path:
    whole = path.with_suffix(WHOLE)
    path.rename(whole)
    path.with_suffix(_NAME).unlink(missing_ok=True)
    return whole
