"""The runtime: the one place that builds, wires, starts and stops everything, in order."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from archiver.archive import EXPORTS, Archive, open_archive
from archiver.config import Settings
from archiver.crawler import Crawler, crawler_of
from archiver.limits import save_memory
from archiver.services.access import AccessControl, control_with
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
from archiver.services.rereading import Rereading
from archiver.services.rescuing import Rescuing
from archiver.services.search import Search
from archiver.services.subscriptions import Subscriptions
from archiver.services.supervision import kept_going
from archiver.services.uploading import Uploading


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
    rereading: Rereading
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
    uploading: Uploading | None


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
        opening = crawler_of(archive, connections, stands_back=crawl)
        crawler = await stack.enter_async_context(opening)
        runtime = _wire(archive, crawler)
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


def _wire(archive: Archive, crawler: Crawler) -> Runtime:
    settings, db, store, crawling = crawler.settings, archive.db, archive.store, crawler.crawling
    return Runtime(
        settings=settings,
        access=control_with(settings, db, store),
        entries=(entries := crawler.entries),
        editing=(editing := Editing(db, store, crawling.wake)),
        recapturing=Recapturing(db, store, entries),
        rescuing=Rescuing(db, settings, crawling.wake),
        compacting=Compacting(db, store, settings, crawling.close_segment),
        deleting=Deleting(db, store, on_changed=crawling.wake),
        search=(search := Search(db, store)),
        reader=Reader(db, entries, search),
        comparing=Comparing(entries, store),
        highlights=Highlights(db, entries, search, editing),
        lists=EntryLists(db, editing, search, on_changed=crawling.wake),
        feeds=Feeds(search),
        desk=Desk(db),
        subscriptions=Subscriptions(settings.data, db, FeedLooks(crawler.context, crawling.wake)),
        crawling=crawling,
        following=crawler.following,
        oversight=Oversight(crawler.context, crawling, crawler.open_writer),
        articles=crawler.articles,
        rereading=Rereading(db, crawler.open_writer, crawler.own_writer),
        documents=Documents(db, store),
        imports=(imports := _imports(archive, archives := Archives(crawler.open_writer), crawling)),
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
        uploading=crawler.uploading,
    )


def _imports(archive: Archive, archives: Archives, crawling: Crawling) -> Imports:
    return Imports(
        archive.db,
        archive.store,
        lambda: archives,
        memory_bytes=archive.settings.extract_memory_bytes,
        on_queued=crawling.wake,
    )
