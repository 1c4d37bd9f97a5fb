"""The archive opened to take files in. What captures pages is loaded where it is asked for.

A list of links is read into the queue without it; captures, pages that come with links, and a crawl
of what was read need it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from archiver.archive import Archive, open_archive
from archiver.config import Settings
from archiver.limits import save_memory
from archiver.services.imports import Imports

if TYPE_CHECKING:
    from archiver.crawl.context import CrawlContext
    from archiver.crawler import Crawler
    from archiver.services.archives import Archives


@dataclass(frozen=True, slots=True)
class Importing:
    """What takes files in.

    Attributes:
        imports: the service.
        crawler: gives what works the queue, opened once and for as long as the archive is.
    """

    imports: Imports
    crawler: "Callable[[], Awaitable[Crawler]]"


@asynccontextmanager
async def open_to_import(settings: Settings) -> AsyncIterator[Importing]:
    """Open the archive; close it cleanly in the end.

    Raises:
        ConfigurationError: the data directory can't be used as it is.
    """
    save_memory()
    async with open_archive(settings) as archive, AsyncExitStack() as stack:
        later = _Later(archive, stack)
        imports = Imports(
            archive.db,
            archive.store,
            later.archives,
            memory_bytes=settings.extract_memory_bytes,
        )
        try:
            yield Importing(imports, later.crawler)
        finally:
            archive.db.hurry()


class _Later:
    """What an archive that is open needs to capture, opened when it is first asked for."""

    def __init__(self, archive: Archive, stack: AsyncExitStack) -> None:
        self._archive = archive
        self._stack = stack
        self._crawler: Crawler | None = None

    async def crawler(self) -> "Crawler":
        if self._crawler:
            return self._crawler
        opening = import_module("archiver.crawler").crawler_of(self._archive)
        crawler: Crawler = await self._stack.enter_async_context(opening)
        self._crawler = crawler
        return crawler

    def archives(self) -> "Archives":
        archives: Archives = import_module("archiver.services.archives").Archives(self._writer)
        return archives

    @asynccontextmanager
    async def _writer(self) -> "AsyncIterator[CrawlContext]":
        crawler = await self.crawler()
        async with crawler.open_writer() as context:
            yield context
