"""The application: opens an archive and builds its services.

Services are imported where they are built: importing all of them takes over a second, and a command
such as ``archiver list`` uses one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from archiver.config import (
    INDEX,
    Settings,
    raise_open_file_limit,
    share_among_processes,
    tune_memory,
)
from archiver.crawl.archive import Archive, open_archive, open_store
from archiver.db.schema_version import outdated_revision
from archiver.services.background_tasks import keep_running

if TYPE_CHECKING:
    from archiver.crawl.context import CrawlContext
    from archiver.http.cookies import UserCookies
    from archiver.model.message import Message
    from archiver.services.access import AccessControl
    from archiver.services.archive_imports import Archives
    from archiver.services.capture_queries import Cdx, Mementos
    from archiver.services.compaction import BackgroundMaintenance, CompactionService
    from archiver.services.comparison import SnapshotComparison
    from archiver.services.cookies import CookieSettings
    from archiver.services.crawling import ChangeStream, Crawling, CrawlStatus
    from archiver.services.deletion import EntryDeletion
    from archiver.services.derived_data import Articles, Reextraction
    from archiver.services.editing import Editing
    from archiver.services.entries import Entries
    from archiver.services.export_files import ExportJobs
    from archiver.services.exports import EntryExports
    from archiver.services.feeds import Subscriptions
    from archiver.services.fixity import Fixity
    from archiver.services.health import HealthCheck
    from archiver.services.highlights import Highlights
    from archiver.services.import_previews import ImportSurveys
    from archiver.services.import_reading import ImportStatuses
    from archiver.services.import_reports import ImportReports
    from archiver.services.imports import Imports, ImportUndo
    from archiver.services.lists import EntryLists, NavigationData
    from archiver.services.page_uploads import PageUploads
    from archiver.services.preferences import Preferences
    from archiver.services.reader_view import Reader, ReadingPlaces
    from archiver.services.recapture import PublicArchiveRecovery, Recaptures
    from archiver.services.replay import Replay
    from archiver.services.search import Search
    from archiver.services.segment_uploads import SegmentUploads

READER_NICENESS = 5
"""Increase of the niceness of processes that parse pages, if any process serves users."""


class App:
    """Services of one open archive.

    Attributes:
        settings: settings in effect.
        db: the index.
        store: the segment store; each process writes its own segments.
        is_serving: whether this or another process serves users. Background work then gets lower
            priority.
    """

    def __init__(self, archive: Archive, stack: AsyncExitStack, *, is_serving: bool) -> None:
        """Wrap an open archive; services register their cleanup on ``stack``."""
        self.db = archive.db
        self.store = archive.store
        self.is_serving = is_serving
        self._user_settings = archive.settings
        self._stack = stack

    @cached_property
    def settings(self) -> Settings:
        """Settings in effect: the user's, divided among processes."""
        return share_among_processes(
            self._user_settings,
            hosts_are_shared=self.db.locks is not None,
            leaves_a_core=self.is_serving,
        )

    @cached_property
    def context(self) -> "CrawlContext":
        """Dependencies shared by all crawl stages."""
        from archiver.crawl.context import CrawlContext
        from archiver.crawl.recorder import Recorder
        from archiver.crawl.rendering_policy import BrowserServices, Renderer
        from archiver.http.fetcher import Fetcher
        from archiver.http.politeness import Throttle
        from archiver.http.site_rules import SiteRules
        from archiver.pages.worker_pool import WorkerPool

        settings = self.settings
        derive = WorkerPool(
            processes=settings.extract_processes,
            timeout=settings.extract_timeout,
            memory_bytes=settings.extract_memory_bytes,
            max_requisites=settings.max_requisites,
            nice=READER_NICENESS if self.is_serving else 0,
        )
        recorder = Recorder(self.db, self.store)
        rules = SiteRules(settings.data)
        throttle = Throttle(settings, shared=self.db.locks, rules=rules)
        fetcher = Fetcher(settings, cookies=self.user_cookies, rules=rules)
        renderer = Renderer(BrowserServices(settings, fetcher, throttle, recorder))
        for close in (derive.stop, fetcher.close, renderer.stop):
            self._stack.push_async_callback(close)
        return CrawlContext(
            settings=settings,
            db=self.db,
            store=self.store,
            fetcher=fetcher,
            throttle=throttle,
            derive=derive,
            recorder=recorder,
            renderer=renderer,
        )

    @cached_property
    def user_cookies(self) -> "UserCookies":
        """The user's cookies, which ``_prepare_to_capture`` loads."""
        from archiver.http.cookies import UserCookies

        return UserCookies()

    def wake_crawl(self) -> None:
        """Notify a running crawl of new jobs."""
        self.crawling.wake()

    @asynccontextmanager
    async def open_writer(self) -> "AsyncIterator[CrawlContext]":
        """Yield a context with a second writer, which has its own segments and recorder."""
        from archiver.crawl.recorder import Recorder

        async with open_store(self.settings, self.store.storage) as store:
            recorder = Recorder(self.db, store)
            recording = asyncio.create_task(recorder.run(), name="second-recorder")
            try:
                yield replace(self.context, store=store, recorder=recorder)
            finally:
                await recorder.drain()
                recording.cancel()
                await asyncio.wait([recording])

    @asynccontextmanager
    async def own_writer(self) -> "AsyncIterator[CrawlContext]":
        """Yield the context of the crawl if a crawl is running, else one with a second writer."""
        if self.crawling.is_running:
            yield self.context
        else:
            async with self.open_writer() as other:
                yield other

    @cached_property
    def entries(self) -> "Entries":
        from archiver.services.entries import Entries

        return Entries(self.db, self.store, self.wake_crawl)

    @cached_property
    def search(self) -> "Search":
        from archiver.services.search import Search

        return Search(self.db, self.store)

    @cached_property
    def reader(self) -> "Reader":
        from archiver.services.reader_view import Reader

        return Reader(self.db, self.entries, self.search)

    @cached_property
    def reading_places(self) -> "ReadingPlaces":
        from archiver.services.reader_view import ReadingPlaces

        return ReadingPlaces(self.settings.data, self.db)

    @cached_property
    def comparing(self) -> "SnapshotComparison":
        from archiver.services.comparison import SnapshotComparison

        return SnapshotComparison(self.entries, self.store)

    @cached_property
    def editing(self) -> "Editing":
        from archiver.services.editing import Editing

        return Editing(self.db, self.store, self.wake_crawl)

    @cached_property
    def highlights(self) -> "Highlights":
        from archiver.services.highlights import Highlights

        return Highlights(self.db, self.entries, self.search, self.editing)

    @cached_property
    def lists(self) -> "EntryLists":
        from archiver.services.lists import EntryLists

        return EntryLists(self.db, self.editing, self.search, on_changed=self.wake_crawl)

    @cached_property
    def deleting(self) -> "EntryDeletion":
        from archiver.services.deletion import EntryDeletion

        return EntryDeletion(self.db, self.store, on_changed=self.wake_crawl)

    @cached_property
    def recaptures(self) -> "Recaptures":
        from archiver.services.recapture import Recaptures

        return Recaptures(self.db, self.store, self.entries)

    @cached_property
    def recovery(self) -> "PublicArchiveRecovery":
        from archiver.services.recapture import PublicArchiveRecovery

        return PublicArchiveRecovery(self.db, self.settings, self.wake_crawl)

    @cached_property
    def preferences(self) -> "Preferences":
        from archiver.services.preferences import Preferences

        return Preferences(self._user_settings)

    @cached_property
    def cookie_settings(self) -> "CookieSettings":
        from archiver.services.cookies import CookieSettings

        return CookieSettings(self.settings.data, self.db)

    @cached_property
    def navigation(self) -> "NavigationData":
        from archiver.services.lists import NavigationData

        return NavigationData(self.db, self.lists)

    @cached_property
    def subscriptions(self) -> "Subscriptions":
        from archiver.services.feeds import FeedChecks, Subscriptions

        checks = FeedChecks(self.context, self.own_writer, self.wake_crawl)
        return Subscriptions(self.settings.data, self.db, checks)

    @cached_property
    def change_stream(self) -> "ChangeStream":
        from archiver.services.crawling import ChangeStream

        return ChangeStream(self.db, self.import_statuses)

    @cached_property
    def replay(self) -> "Replay":
        from archiver.services.replay import Replay

        return Replay(self.db, self.store, self.settings)

    @cached_property
    def cdx(self) -> "Cdx":
        from archiver.services.capture_queries import Cdx

        return Cdx(self.db)

    @cached_property
    def mementos(self) -> "Mementos":
        from archiver.services.capture_queries import Mementos

        return Mementos(self.db)

    @cached_property
    def access(self) -> "AccessControl":
        from archiver.services.access import AccessControl

        settings = self.settings
        return AccessControl(settings.data, settings.password, settings.host, db=self.db)

    @cached_property
    def archives(self) -> "Archives":
        from archiver.services.archive_imports import Archives

        return Archives(self.open_writer)

    @cached_property
    def import_statuses(self) -> "ImportStatuses":
        from archiver.services.import_reading import ImportStatuses

        return ImportStatuses(self.db, self.store)

    @cached_property
    def surveys(self) -> "ImportSurveys":
        from archiver.services.import_previews import ImportSurveys

        return ImportSurveys(self.db, memory_bytes=self.settings.extract_memory_bytes)

    @cached_property
    def import_reports(self) -> "ImportReports":
        from archiver.services.import_reports import ImportReports

        return ImportReports(self.db)

    @cached_property
    def page_uploads(self) -> "PageUploads":
        from archiver.services.page_uploads import PageUploads

        return PageUploads(
            self.imports, self.archives, memory_bytes=self.settings.extract_memory_bytes
        )

    @cached_property
    def exporting(self) -> "EntryExports":
        from archiver.services.exports import EntryExports

        return EntryExports(self.db, self.store)

    @cached_property
    def export_jobs(self) -> "ExportJobs":
        from archiver.crawl.archive import EXPORTS
        from archiver.services.export_files import ExportJobs

        return ExportJobs(self.settings.data / EXPORTS, self.exporting)

    @cached_property
    def crawling(self) -> "Crawling":
        from archiver.services.crawling import Crawling

        return Crawling(self.context)

    @cached_property
    def articles(self) -> "Articles":
        from archiver.services.derived_data import Articles

        return Articles(self.context, self.open_writer)

    @cached_property
    def reextraction(self) -> "Reextraction":
        from archiver.services.derived_data import Reextraction

        return Reextraction(self.db, self.open_writer, self.own_writer)

    @cached_property
    def crawl_status(self) -> "CrawlStatus":
        from archiver.services.crawling import CrawlStatus

        return CrawlStatus(self.context, self.crawling, self.open_writer)

    @cached_property
    def compacting(self) -> "CompactionService":
        from archiver.services.compaction import CompactionService

        return CompactionService(self.db, self.store, self.settings, self.crawling.close_segment)

    @cached_property
    def upkeep(self) -> "BackgroundMaintenance":
        from archiver.services.compaction import BackgroundMaintenance

        maintenance = BackgroundMaintenance(self.settings.data, self.fixity, self.compacting)
        self._stack.push_async_callback(maintenance.stop)
        return maintenance

    @cached_property
    def fixity(self) -> "Fixity":
        from archiver.services.fixity import Fixity

        return Fixity(self.db, self.store)

    @cached_property
    def health(self) -> "HealthCheck":
        from archiver.services.health import HealthCheck

        return HealthCheck(self.db, self.store, self.settings.data)

    async def problems(self) -> "tuple[Message, ...]":
        """Return messages about problems that need the user's attention."""
        warnings = (await self.health.current()).warnings
        problem = self.uploading.backlog.problem if self.uploading else None
        return (*warnings, problem) if problem else warnings

    @cached_property
    def imports(self) -> "Imports":
        from archiver.services.imports import Imports

        imports = Imports(
            self.db,
            self.store,
            lambda: self.archives,
            memory_bytes=self.settings.extract_memory_bytes,
            on_queued=self.wake_crawl,
        )
        self._stack.push_async_callback(imports.stop)
        return imports

    @cached_property
    def import_undo(self) -> "ImportUndo":
        from archiver.services.imports import ImportUndo

        undo = ImportUndo(self.db, self.store, on_changed=self.wake_crawl)
        self._stack.push_async_callback(undo.stop)
        return undo

    @cached_property
    def uploading(self) -> "SegmentUploads | None":
        """Upload of closed segments; None if segments are stored only in the data directory."""
        from archiver.services.segment_uploads import SegmentUploads

        if not self.store.storage.is_uploaded:
            return None
        return SegmentUploads(self.db, self.store, self.settings, self.crawling.close_segment)


def outdated_index(settings: Settings) -> str | None:
    """Return the schema revision of the archive's index file if an earlier version wrote it."""
    return outdated_revision(settings.data / INDEX)


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    serve: bool = False,
    low_priority: bool = False,
    reads_only: bool = False,
) -> AsyncIterator[App]:
    """Open the archive and its services, and close them on exit.

    Args:
        settings: user-supplied settings.
        serve: whether to crawl and run background tasks while the archive is open.
        low_priority: whether this process has lower priority than another one that serves users.
        reads_only: whether the caller captures nothing. Then no cookies are loaded, and no
            segments are uploaded.

    Raises:
        ConfigurationError: the data directory cannot be used.
    """
    tune_memory()
    raise_open_file_limit()
    async with open_archive(settings, reads_only=reads_only) as archive, AsyncExitStack() as stack:
        app = App(archive, stack, is_serving=serve or low_priority)
        if not reads_only:
            await _prepare_to_capture(app, stack)
        if serve:
            await _start_background_work(app, stack)
        stack.callback(app.db.limit_waits)
        yield app


async def _prepare_to_capture(app: App, stack: AsyncExitStack) -> None:
    """Load the user's cookies, and start the tasks that follow them and that upload segments."""
    app.user_cookies.load(await app.cookie_settings.content())
    follow = partial(app.cookie_settings.follow, app.user_cookies.load)
    await stack.enter_async_context(keep_running(follow, "cookies"))
    if app.uploading:
        stack.push_async_callback(app.uploading.finish)
        for task in (app.uploading.watch, app.uploading.upload):
            await stack.enter_async_context(keep_running(task, task.__name__))


async def _start_background_work(app: App, stack: AsyncExitStack) -> None:
    """Start the background tasks of `archiver serve`."""
    from archiver.services.background_tasks import crawl_processes
    from archiver.services.derived_data import keep_documents_current
    from archiver.services.health import ProblemNotifier

    await app.imports.resume()
    for work, name in (
        (partial(app.crawling.work, until_empty=False), "crawl"),
        (app.articles.read_when_idle, "deferred-extraction"),
        (partial(keep_documents_current, app.db, app.store), "documents"),
        (app.lists.keep_counts_current, "saved-searches"),
        (app.export_jobs.work, "exports"),
        (app.subscriptions.keep_checking, "feeds"),
    ):
        await stack.enter_async_context(keep_running(work, name))
    if app.settings.notify_url:
        notifier = ProblemNotifier(app.settings.notify_url, app.problems)
        await stack.enter_async_context(keep_running(notifier.watch, "notifications"))
    if app.settings.quiet_hour >= 0:
        compact = partial(app.compacting.compact_at_quiet_hours, app.settings.quiet_hour)
        await stack.enter_async_context(keep_running(compact, "compaction"))
    await stack.enter_async_context(crawl_processes(app.settings, until_empty=False))
    await stack.enter_async_context(keep_running(app.imports.keep_resuming, "imports"))
