"""Exports: entries as plain text that any program reads."""

from archiver.errors import NotFound
from archiver.formats.markdown import entry_markdown
from archiver.html.colours import plain
from archiver.index.database import Database
from archiver.services.entries import Entries
from archiver.store.segments import SegmentStore


class Exports:
    """Entries as ``index.md``."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._entries = Entries(db, store)

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
