"""Articles that were left for later, read from what is stored; nothing is fetched."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from archiver.crawl.context import CrawlContext
from archiver.crawl.deferred_extraction import DeferredExtraction
from archiver.index import jobs, queue, unread_articles

LOOK_SECONDS = 3.0


class Articles:
    """The articles of an archive that are still to be read.

    Args:
        context: of the crawl.
        open_writer: gives one with a recorder that runs, where no crawl does.
    """

    def __init__(
        self,
        context: CrawlContext,
        open_writer: Callable[[], AbstractAsyncContextManager[CrawlContext]],
    ) -> None:
        self._context = context
        self._open_writer = open_writer

    async def left(self) -> int:
        """How many were left for later."""
        async with self._context.db.read() as conn:
            return await unread_articles.count_left(conn)

    async def read_all(self, on_read: Callable[[str], None] = lambda _: None) -> None:
        """Read all that were left for later; ``on_read`` is told the URL of each."""
        async with self._open_writer() as context:
            deferred = DeferredExtraction(context)
            while await deferred.read(lambda read: on_read(read.snapshot.url)):
                pass

    async def read_when_idle(self) -> None:
        """Read what was left for later, for ever, while nothing is to be fetched.

        Needs a crawl that runs.

        Raises:
            ArchiverError: the disk or the index refused.
        """
        deferred = DeferredExtraction(self._context)
        while True:
            if not (await self._is_idle() and await deferred.read()):
                await asyncio.sleep(LOOK_SECONDS)

    async def _is_idle(self) -> bool:
        async with self._context.db.read() as conn:
            if (await jobs.queue_counts(conn)).fetching:
                return False
            due = await queue.next_due(conn, ())
        return due is None or due > datetime.now(UTC)
