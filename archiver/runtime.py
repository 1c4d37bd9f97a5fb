"""The runtime: the one place that builds, wires, starts and stops everything, in order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from archiver.archive import EXPORTS, Archive, open_archive, open_store
from archiver.config import Settings
from archiver.crawl.context import CrawlContext
from archiver.crawl.learned_hosts import LearnedHosts
from archiver.crawl.rendering import Means, Renderer
from archiver.derive.pool import DerivePool
from archiver.ledger.recorder import Recorder
from archiver.limits import fit_to_open_files, save_memory, share_among_processes
from archiver.net.fetcher import Fetcher
from archiver.net.throttle import Throttle
from archiver.services.access import AccessControl
from archiver.services.archives import Archives
from archiver.services.articles import Articles
from archiver.services.cdx import Cdx
from archiver.services.compacting import Compacting
from archiver.services.comparing import Comparing
from archiver.services.crawling import Crawling
from archiver.services.deleting import Deleting
from archiver.services.desk import Desk
from archiver.services.documents import Documents
from archiver.services.editing import Editing
from archiver.services.entries import Entries
from archiver.services.entry_lists import EntryLists
from archiver.services.export_files import ExportFiles
from archiver.services.exporting import Exporting
from archiver.services.exports import Exports
from archiver.services.feed_looks import FeedLooks
from archiver.services.feeds import Feeds
from archiver.services.fixity import Fixity
from archiver.services.following import Following
from archiver.services.handing_in import HandingIn
from archiver.services.helpers import helpers
from archiver.services.highlights import Highlights
from archiver.services.import_survey import ImportSurveys
from archiver.services.import_undo import ImportUndo
from archiver.services.imports import Imports
from archiver.services.kept_exports import KeptExports
from archiver.services.mementos import Mementos
from archiver.services.oversight import Oversight
from archiver.services.packages import Packages
from archiver.services.reader import Reader
from archiver.services.recapturing import Recapturing
from archiver.services.receipts import Receipts
from archiver.services.replay import Replay
from archiver.services.rescuing import Rescuing
from archiver.services.search import Search
from archiver.services.subscriptions import Subscriptions
from archiver.services.supervision import kept_going

_OpenWriter = Callable[[], AbstractAsyncContextManager[CrawlContext]]


@dataclass(frozen=True, slots=True)
class Runtime:
    """The services of one process, ready to be called."""

    settings: Settings
    access: AccessControl
    entries: Entries
    recapturing: Recapturing
    editing: Editing
    rescuing: Rescuing
    deleting: Deleting
    compacting: Compacting
    search: Search
    reader: Reader
    highlights: Highlights
    lists: EntryLists
    comparing: Comparing
    feeds: Feeds
    desk: Desk
    subscriptions: Subscriptions
    crawling: Crawling
    following: Following
    oversight: Oversight
    articles: Articles
    documents: Documents
    imports: Imports
    handing_in: HandingIn
    surveys: ImportSurveys
    import_undo: ImportUndo
    receipts: Receipts
    exports: Exports
    packages: Packages
    exporting: Exporting
    kept_exports: KeptExports
    replay: Replay
    cdx: Cdx
    mementos: Mementos
    fixity: Fixity


@asynccontextmanager
async def open_runtime(
    settings: Settings, *, crawl: bool = False, connections: int = 0
) -> AsyncIterator[Runtime]:
    """Open the archive; close it cleanly in the end.

    Args:
        settings: how.
        crawl: whether to work the queue in the background as long as it is open.
        connections: open files to be left to those who are served.

    Raises:
        ConfigurationError: the data directory can't be used as it is.
    """
    save_memory()
    async with AsyncExitStack() as stack:
        archive = await stack.enter_async_context(open_archive(settings))
        context = await stack.enter_async_context(_crawl_context(archive, connections))
        runtime = _wire(archive, context, partial(_another_writer, context))
        if crawl:
            await runtime.imports.resume()
            for work, name in _beside(runtime):
                await stack.enter_async_context(kept_going(work, name))
            if settings.quiet_hour >= 0:
                quiet = partial(runtime.compacting.compact_at_quiet_hours, settings.quiet_hour)
                await stack.enter_async_context(kept_going(quiet, "compaction"))
            await stack.enter_async_context(helpers(settings, until_empty=False))
            stack.push_async_callback(runtime.imports.stop)
            await stack.enter_async_context(kept_going(runtime.imports.go_on, "imports"))
        stack.push_async_callback(runtime.import_undo.stop)
        stack.callback(archive.db.hurry)
        yield runtime


def _beside(runtime: Runtime) -> tuple[tuple[Callable[[], Awaitable[object]], str], ...]:
    """What is done beside those who are served, and what each is called."""
    return (
        (partial(runtime.crawling.work, until_empty=False), "crawl"),
        (runtime.articles.read_when_idle, "deferred-extraction"),
        (runtime.documents.keep_up_to_date, "documents"),
        (runtime.lists.keep_counted, "saved-searches"),
        (runtime.kept_exports.work, "exports"),
        (runtime.subscriptions.keep_looking, "feeds"),
    )


@asynccontextmanager
async def _crawl_context(archive: Archive, connections: int) -> AsyncIterator[CrawlContext]:
    settings = fit_to_open_files(share_among_processes(archive.settings), connections)
    derive = DerivePool(
        processes=settings.extract_processes,
        timeout=settings.extract_timeout,
        memory_bytes=settings.extract_memory_bytes,
        max_requisites=settings.max_requisites,
    )
    recorder, throttle = Recorder(archive.db, archive.store), Throttle(settings)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(derive.stop)
        fetcher = await stack.enter_async_context(Fetcher(settings))
        means = Means(settings, fetcher, throttle, recorder)
        renderer = Renderer(means, LearnedHosts(archive.db))
        stack.push_async_callback(renderer.stop)
        yield CrawlContext(
            settings=settings,
            db=archive.db,
            store=archive.store,
            fetcher=fetcher,
            throttle=throttle,
            derive=derive,
            recorder=recorder,
            renderer=renderer,
        )


def _wire(archive: Archive, context: CrawlContext, open_writer: _OpenWriter) -> Runtime:
    settings, db, store = archive.settings, archive.db, archive.store
    crawling, search, archives = Crawling(context), Search(db, store), Archives(open_writer)
    entries, editing = Entries(db, store, crawling.wake), Editing(db, store, crawling.wake)
    return Runtime(
        settings=settings,
        access=AccessControl(settings.data, settings.password, settings.host),
        entries=entries,
        recapturing=Recapturing(db, store, entries),
        editing=editing,
        rescuing=Rescuing(db, settings, crawling.wake),
        compacting=Compacting(db, store, settings, crawling.close_segment),
        deleting=Deleting(db, store, on_changed=crawling.wake),
        search=search,
        reader=Reader(db, entries, search),
        comparing=Comparing(entries, store),
        highlights=Highlights(db, entries, search, editing),
        lists=EntryLists(db, editing, search, on_changed=crawling.wake),
        feeds=Feeds(search),
        desk=Desk(db),
        subscriptions=Subscriptions(settings.data, db, FeedLooks(context, crawling.wake)),
        crawling=crawling,
        following=Following(db, store),
        oversight=Oversight(context, crawling, open_writer),
        articles=Articles(context, open_writer, partial(_writer, crawling, open_writer, context)),
        documents=Documents(db, store),
        imports=(imports := _imports(archive, archives, crawling)),
        handing_in=HandingIn(imports, archives, memory_bytes=settings.extract_memory_bytes),
        surveys=ImportSurveys(db, memory_bytes=settings.extract_memory_bytes),
        import_undo=ImportUndo(db, store, on_changed=crawling.wake),
        receipts=Receipts(db),
        exports=Exports(db, store),
        packages=Packages(db, store),
        exporting=Exporting(db, store),
        kept_exports=KeptExports(settings.data / EXPORTS, ExportFiles(db, store)),
        replay=Replay(db, store, settings),
        cdx=Cdx(db),
        mementos=Mementos(db),
        fixity=Fixity(db, store),
    )


def _imports(archive: Archive, archives: Archives, crawling: Crawling) -> Imports:
    return Imports(
        archive.db,
        archive.store,
        archives,
        memory_bytes=archive.settings.extract_memory_bytes,
        on_queued=crawling.wake,
    )


@asynccontextmanager
async def _writer(
    crawling: Crawling,
    open_another: _OpenWriter,
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
    async with open_store(context.settings) as store:
        recorder = Recorder(context.db, store)
        recording = asyncio.create_task(recorder.run(), name="another-recorder")
        try:
            yield replace(context, store=store, recorder=recorder)
        finally:
            await recorder.drain()
            recording.cancel()
            await asyncio.wait([recording])
