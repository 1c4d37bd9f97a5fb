"""Articles that another version of the extractor read, read again from what is stored.

Nothing is fetched. What is read supersedes what an older extractor read.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from archiver.crawl.context import CrawlContext
from archiver.crawl.deferred_extraction import DeferredExtraction, Reread
from archiver.errors import NotFound
from archiver.html.comparison import compare
from archiver.index import snapshots, unread_articles
from archiver.index.database import Database
from archiver.index.unread_articles import Unread
from archiver.model.comparison import Comparison
from archiver.model.entry import Snapshot
from archiver.model.listing import ListingQuery
from archiver.model.page import EXTRACTOR_VERSION
from archiver.services.naming import find_entry
from archiver.services.search import matching_entries

STRETCH = 1000
"""Rows that are looked through in one go."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A snapshot whose article was read again, and what became of its text."""

    snapshot: Snapshot
    change: Comparison


class Rereading:
    """The articles of an archive that may read better.

    Args:
        db: the index.
        open_writer: gives one with a recorder that runs, where no crawl does.
        writer: gives one with a recorder that runs: the crawl's own while it does.
    """

    def __init__(
        self,
        db: Database,
        open_writer: Callable[[], AbstractAsyncContextManager[CrawlContext]],
        writer: Callable[[], AbstractAsyncContextManager[CrawlContext]],
    ) -> None:
        self._db = db
        self._open_writer = open_writer
        self._writer = writer

    async def read_all(self, query: ListingQuery | None = None) -> AsyncIterator[Revision]:
        """Read again what another version of the extractor read, all or what a search finds.

        Raises:
            InvalidQuery: the query can't be read.
            StoreError: the disk or the index refused.
        """
        stretches = self._found(query) if query else self._all()
        async with self._open_writer() as context:
            deferred = DeferredExtraction(context)
            async for some in stretches:
                async for each in _read(deferred, some):
                    yield each

    async def read_entry(self, ref: str) -> list[Revision]:
        """Read all snapshots of one entry again that another version of the extractor read.

        Raises:
            NotFound: there is no such entry.
        """
        async with self._db.read() as conn:
            number, _ = await find_entry(conn, ref)
            found = await unread_articles.read_by_others_of(conn, [number], than=EXTRACTOR_VERSION)
        if not found:
            raise NotFound("Nothing of this entry was read by an older version.")
        async with self._writer() as context:
            return [each async for each in _read(DeferredExtraction(context), found)]

    async def _all(self) -> AsyncIterator[list[Unread]]:
        async with self._db.read() as conn:
            end = await snapshots.last_row(conn)
        after = 0
        while after < end:
            async with self._db.read() as conn:
                found, after = await unread_articles.read_by_others(
                    conn, after, than=EXTRACTOR_VERSION, limit=STRETCH
                )
            yield found

    async def _found(self, query: ListingQuery) -> AsyncIterator[list[Unread]]:
        async with self._db.read() as conn:
            async for numbers in matching_entries(conn, query, limit=STRETCH):
                yield await unread_articles.read_by_others_of(conn, numbers, than=EXTRACTOR_VERSION)


async def _read(deferred: DeferredExtraction, found: list[Unread]) -> AsyncIterator[Revision]:
    """Read some again, few at a time, so that few texts are held at once."""
    for start in range(0, len(found), 16):
        read: list[Reread] = []
        await deferred.read_these(found[start : start + 16], read.append)
        for each in read:
            change = await asyncio.to_thread(compare, each.before, each.after)
            yield Revision(each.snapshot, change)
