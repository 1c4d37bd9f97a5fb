"""Updates of articles, search documents and scores from stored records.

A new extraction of an article replaces the one of an older extractor version.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.crawl.article_extraction import DeferredExtraction, ExtractedArticle
from archiver.crawl.context import CrawlContext
from archiver.crawl.derived_rows import (
    compare_pending,
    rebuild_stale,
)
from archiver.db import jobs, queue, snapshots
from archiver.db.engine import Database
from archiver.db.snapshots import SnapshotRow
from archiver.errors import NotFound
from archiver.model.entry import Snapshot
from archiver.model.listing import ListingQuery
from archiver.model.page import EXTRACTOR_VERSION, Comparison
from archiver.pages.text_comparison import compare
from archiver.services.entries import find_entry
from archiver.services.search import matching_entries
from archiver.warc.segments import SegmentStore

ARTICLES_CHECK_SECONDS = 3.0


class Articles:
    """Articles whose extraction is pending.

    Args:
        context: context of the crawl.
        open_writer: opens a second writer, with its own segments and a running recorder.
    """

    def __init__(
        self,
        context: CrawlContext,
        open_writer: Callable[[], AbstractAsyncContextManager[CrawlContext]],
    ) -> None:
        self._context = context
        self._open_writer = open_writer

    async def pending_count(self) -> int:
        """Return the number of pending articles."""
        async with self._context.db.read() as conn:
            return await snapshots.count_pending_articles(conn)

    async def read_all(self, on_read: Callable[[str], None] = lambda _: None) -> None:
        """Extract all pending articles; ``on_read`` is called with the URL of each article."""
        async with self._open_writer() as context:
            deferred = DeferredExtraction(context)
            while await deferred.read(lambda read: on_read(read.snapshot.url)):
                pass

    async def read_when_idle(self) -> None:
        """Extract pending articles whenever no job is running or due, without end.

        Requires a running crawl.

        Raises:
            ArchiverError: the disk or the index failed.
        """
        deferred = DeferredExtraction(self._context)
        while True:
            if not (await self._is_idle() and await deferred.read()):
                await asyncio.sleep(ARTICLES_CHECK_SECONDS)

    async def _is_idle(self) -> bool:
        async with self._context.db.read() as conn:
            if (await jobs.queue_counts(conn)).fetching:
                return False
            due = await queue.next_due(conn)
        return due is None or due > datetime.now(UTC)


BATCH = 1000
"""Rows per batch."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A snapshot whose article was extracted again, and the difference of its text."""

    snapshot: Snapshot
    change: Comparison


class Reextraction:
    """Re-extraction of articles of other extractor versions.

    Args:
        db: the index.
        open_writer: opens a second writer, with its own segments and a running recorder.
        writer: returns the crawl's writer while a crawl runs; else opens a second writer.
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
        """Re-extract articles of another extractor version: all, or those of search results.

        Raises:
            InvalidQuery: the query can't be parsed.
            StoreError: the disk or the index failed.
        """
        in_batches = self._found(query) if query else self._all()
        async with self._open_writer() as context:
            deferred = DeferredExtraction(context)
            async for batch in in_batches:
                async for each in _read(deferred, batch):
                    yield each

    async def read_entry(self, ref: str) -> list[Revision]:
        """Re-extract all snapshots of an entry that another extractor version processed.

        Raises:
            NotFound: there is no such entry.
        """
        async with self._db.read() as conn:
            number, _ = await find_entry(conn, ref)
            rows = await snapshots.outdated_articles_of(conn, [number], than=EXTRACTOR_VERSION)
        if not rows:
            raise NotFound("This article is up to date.")
        async with self._writer() as context:
            return [each async for each in _read(DeferredExtraction(context), rows)]

    async def _all(self) -> AsyncIterator[list[SnapshotRow]]:
        async with self._db.read() as conn:
            end = await snapshots.last_row(conn)
        after = 0
        while after < end:
            async with self._db.read() as conn:
                articles, after = await snapshots.outdated_articles(
                    conn, after, than=EXTRACTOR_VERSION, limit=BATCH
                )
            yield articles

    async def _found(self, query: ListingQuery) -> AsyncIterator[list[SnapshotRow]]:
        async with self._db.read() as conn:
            async for numbers in matching_entries(conn, query, limit=BATCH):
                yield await snapshots.outdated_articles_of(conn, numbers, than=EXTRACTOR_VERSION)


async def _read(deferred: DeferredExtraction, rows: list[SnapshotRow]) -> AsyncIterator[Revision]:
    """Extract articles again in small groups, so that few texts are in memory."""
    for start in range(0, len(rows), 16):
        read: list[ExtractedArticle] = []
        await deferred.extract(rows[start : start + 16], read.append)
        for each in read:
            change = await asyncio.to_thread(compare, each.before, each.after)
            yield Revision(each.snapshot, change)


DOCUMENTS_CHECK_SECONDS = 2.0
REST_SECONDS = 0.05
"""Pause between batches, so that other writers get the lock."""


async def keep_documents_current(db: Database, store: SegmentStore) -> None:
    """Update outdated and pending documents of the search index, without end.

    Raises:
        ArchiverError: the disk or the index failed.
    """
    while True:
        has_more = await rebuild_stale(db, store) > 0
        has_more |= await compare_pending(db, store) > 0
        await asyncio.sleep(REST_SECONDS if has_more else DOCUMENTS_CHECK_SECONDS)
