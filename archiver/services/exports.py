"""Exports: entries as plain text that any program reads."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from archiver.errors import NotFound
from archiver.formats.markdown import entry_markdown
from archiver.html.colours import plain
from archiver.index import counters, entries
from archiver.index.database import Database
from archiver.model.capture import HashUrl
from archiver.services.entries import Entries
from archiver.services.manifest import Selected, draw_up
from archiver.store.segments import SegmentStore

PAGE = 200


class Exports:
    """Entries as ``index.md``."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._entries = Entries(db, store)

    async def count(self) -> int:
        """How many entries there are."""
        async with self._db.read() as conn:
            return (await counters.all_counters(conn)).get(counters.ENTRIES, 0)

    async def index_md(self, ref: str, timestamp: str | None = None) -> str:
        """An entry as text: front matter, then its article as clean HTML.

        Raises:
            NotFound: there is no such entry.
            InvalidUrl: ``ref`` is neither a hash_url nor a URL.
        """
        try:
            detail = await self._entries.snapshot(ref, timestamp)
        except NotFound:
            found = await self._entries.get(ref)
            return entry_markdown(found.entry, None, "")
        return entry_markdown(detail.entry, detail.snapshot, plain(detail.article))

    async def markdown_tree(self, directory: Path) -> AsyncIterator[HashUrl]:
        """Write ``directory/<hash_url>/index.md`` for each entry that there is now."""
        rows = (await draw_up(self._db, Selected())).entries
        for start in range(0, len(rows), PAGE):
            async with self._db.read() as conn:
                found = await entries.by_ids(conn, rows[start : start + PAGE])
            for entry in found.values():
                yield await self._write(directory, entry.hash_url)

    async def _write(self, directory: Path, name: HashUrl) -> HashUrl:
        text = await self.index_md(name)
        await asyncio.to_thread(_replace, directory / name / "index.md", text)
        return name


def _replace(path: Path, text: str) -> None:
    """Write a file so that it is the old one or the new one at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".md.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
