"""The archive opened to work its queue and nothing else: a process that crawls loads no more."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from archiver.archive import Archive, open_archive, open_store
from archiver.config import Settings
from archiver.crawl.context import CrawlContext
from archiver.crawl.learned_hosts import LearnedHosts
from archiver.crawl.rendering import Means, Renderer
from archiver.crawl.shared_hosts import SharedHosts
from archiver.derive.pool import DerivePool
from archiver.ledger.recorder import Recorder
from archiver.limits import fit_to_open_files, save_memory, share_among_processes
from archiver.net.fetcher import Fetcher
from archiver.net.throttle import Throttle
from archiver.services.articles import Articles
from archiver.services.crawling import Crawling
from archiver.services.entries import Entries
from archiver.services.following import Following
from archiver.services.shared_copies import shared_cookies
from archiver.services.supervision import kept_going
from archiver.services.uploading import Uploading
from archiver.store.shelf import UploadingShelf

NICE = 5
"""Of the processes that read pages, where people wait for pages of ours beside them."""

OpenWriter = Callable[[], AbstractAsyncContextManager[CrawlContext]]


@dataclass(frozen=True, slots=True)
class Crawler:
    """What works the queue.

    Attributes:
        settings: in effect.
        context: of the crawl.
        open_writer: opens a writer beside the crawl's: its own segments, a recorder that runs.
        own_writer: the crawl's own while that runs, else another.
        crawling: the queue.
        articles: those that were left for later.
        entries: what is to be captured, and what became of it.
        following: how jobs change that another process works.
        uploading: closed segments to an object store, where one is set.
    """

    settings: Settings
    context: CrawlContext
    open_writer: OpenWriter
    own_writer: OpenWriter
    crawling: Crawling
    articles: Articles
    entries: Entries
    following: Following
    uploading: Uploading | None


@asynccontextmanager
async def open_crawler(settings: Settings, *, stands_back: bool = False) -> AsyncIterator[Crawler]:
    """Open the archive; close it cleanly in the end.

    Args:
        settings: how.
        stands_back: whether others have work that goes before reading, as in ``crawler_of``.

    Raises:
        ConfigurationError: the data directory can't be used as it is.
    """
    save_memory()
    async with (
        open_archive(settings) as archive,
        crawler_of(archive, stands_back=stands_back) as crawler,
    ):
        try:
            yield crawler
        finally:
            archive.db.hurry()


@asynccontextmanager
async def crawler_of(
    archive: Archive, connections: int = 0, *, stands_back: bool = False
) -> AsyncIterator[Crawler]:
    """What works the queue of an archive that is open.

    Args:
        archive: the archive.
        connections: open files to be left to those who are served.
        stands_back: whether people are served beside it, whose pages go before reading.
    """
    async with (
        _crawl_context(archive, connections, stands_back) as context,
        AsyncExitStack() as stack,
    ):
        crawling, open_writer = Crawling(context), partial(_another_writer, context)
        own_writer = partial(_writer, crawling, open_writer, context)
        articles = Articles(context, open_writer)
        entries = Entries(archive.db, archive.store, crawling.wake)
        following = Following(archive.db, archive.store)
        uploading = _uploading(archive, crawling)
        if uploading:
            stack.push_async_callback(uploading.finish)
            for task in (uploading.watch, uploading.upload):
                await stack.enter_async_context(kept_going(task, task.__name__))
        await _share_cookies(archive, stack)
        yield Crawler(
            archive.settings,
            context,
            open_writer,
            own_writer,
            crawling,
            articles,
            entries,
            following,
            uploading,
        )


async def _share_cookies(archive: Archive, stack: AsyncExitStack) -> None:
    if archive.db.machine:
        cookies = shared_cookies(archive.settings, archive.db)
        await cookies.fetch()
        await stack.enter_async_context(kept_going(cookies.keep_fetching, "cookies"))


def _uploading(archive: Archive, crawling: Crawling) -> Uploading | None:
    settings, store = archive.settings, archive.store
    if not isinstance(store.shelf, UploadingShelf):
        return None
    return Uploading(archive.db, store, store.shelf, settings, crawling.close_segment)


@asynccontextmanager
async def _crawl_context(
    archive: Archive, connections: int, stands_back: bool
) -> AsyncIterator[CrawlContext]:
    is_shared = archive.db.membership is not None
    share = share_among_processes(
        archive.settings, hosts_are_shared=is_shared, leaves_a_core=stands_back
    )
    settings = fit_to_open_files(share, connections)
    hosts = SharedHosts(archive.db, archive.store.writer, settings) if is_shared else None
    derive = DerivePool(
        processes=settings.extract_processes,
        timeout=settings.extract_timeout,
        memory_bytes=settings.extract_memory_bytes,
        max_requisites=settings.max_requisites,
        nice=NICE if stands_back else 0,
    )
    recorder, throttle = Recorder(archive.db, archive.store), Throttle(settings, shared=hosts)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(derive.stop)
        fetcher = await stack.enter_async_context(Fetcher(settings))
        means = Means(settings, fetcher, throttle, recorder)
        renderer = Renderer(means, LearnedHosts(archive.db))
        stack.push_async_callback(renderer.stop)
        if hosts:
            keep_up = partial(hosts.keep_up, throttle.rest)
            await stack.enter_async_context(kept_going(keep_up, "shared-hosts"))
        yield CrawlContext(
            settings=settings,
            db=archive.db,
            store=archive.store,
            fetcher=fetcher,
            throttle=throttle,
            derive=derive,
            recorder=recorder,
            renderer=renderer,
            hosts=hosts,
        )


@asynccontextmanager
async def _writer(
    crawling: Crawling,
    open_another: OpenWriter,
    context: CrawlContext,
) -> AsyncIterator[CrawlContext]:
    """The crawl's writer while that runs, another one else."""
    if crawling.is_running:
        yield context
    else:
        async with open_another() as other:
            yield other


@asynccontextmanager
async def _another_writer(context: CrawlContext) -> AsyncIterator[CrawlContext]:
    """A writer beside the crawl's: its own segments, and a recorder that runs."""
    async with open_store(context.settings, context.store.shelf) as store:
        recorder = Recorder(context.db, store)
        recording = asyncio.create_task(recorder.run(), name="another-recorder")
        try:
            yield replace(context, store=store, recorder=recorder)
        finally:
            await recorder.drain()
            recording.cancel()
            await asyncio.wait([recording])
