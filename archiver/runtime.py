"""The runtime: the one place that builds, wires, starts and stops everything, in order."""

import asyncio
import ctypes
import gc
import resource
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from archiver import __version__
from archiver.child_process import child_command, child_environment
from archiver.config import Settings
from archiver.crawl.context import CrawlContext
from archiver.derive.pool import DerivePool
from archiver.errors import ArchiverError, ConfigurationError
from archiver.index.database import Database
from archiver.ledger.rebuild import Rebuilt
from archiver.ledger.recorder import Recorder
from archiver.ledger.recovery import recover
from archiver.net.fetcher import Fetcher
from archiver.net.throttle import Throttle
from archiver.services.archives import Archives
from archiver.services.articles import Articles
from archiver.services.cdx import Cdx
from archiver.services.crawling import Crawling
from archiver.services.entries import Entries
from archiver.services.exports import Exports
from archiver.services.fixity import Fixity
from archiver.services.imports import Imports
from archiver.services.packages import Packages
from archiver.services.reindexing import ReindexReport, build_index, can_go_on
from archiver.services.replay import Replay
from archiver.services.search import Search
from archiver.services.selection import Selection
from archiver.store.locks import RunLock, living
from archiver.store.segments import SegmentStore

INDEX = "archive.sqlite3"
SEGMENTS = "warc"
LOCKS = "run"
FILES_A_PAGE = 8
"""Open files that one page under way may need: connections, a spooled body, a segment."""
SPARE_FILES = 128
REST_SECONDS = 15.0
COLLECT = (50_000, 20, 50)
"""Looking for cycles after every 700 new objects, as Python does, was a fifth of a crawl's time."""
HELPER_SECONDS = 60.0
M_TRIM_THRESHOLD, M_ARENA_MAX = -1, -8
"""As malloc.h of the GNU C library numbers them; others have no ``mallopt``."""
TRIM_BYTES = 128 << 10

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Runtime:
    """The services of one process, ready to be called."""

    settings: Settings
    entries: Entries
    search: Search
    crawling: Crawling
    articles: Articles
    imports: Imports
    exports: Exports
    packages: Packages
    replay: Replay
    cdx: Cdx
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
    mine = fit_to_machine(_share(settings), connections)
    _be_frugal()
    async with AsyncExitStack() as stack:
        lock = await asyncio.to_thread(_claim, settings.data)
        stack.callback(lock.release)
        store = SegmentStore(
            settings.data / SEGMENTS,
            lock=lock,
            segment_bytes=settings.segment_bytes,
            software=f"archiver/{__version__}",
        )
        stack.callback(store.close)
        db = await Database.open(settings.data / INDEX)
        stack.push_async_callback(db.close)
        await recover(db, store)
        context = await _context(stack, mine, db, store)
        runtime = _runtime(settings, context)
        if crawl:
            await runtime.imports.resume()
            stack.push_async_callback(_stop, asyncio.create_task(_crawl(runtime), name="crawl"))
            reading = asyncio.create_task(runtime.articles.read_when_idle(), name="late-articles")
            stack.push_async_callback(_stop, reading)
            await stack.enter_async_context(helpers(settings, until_empty=False))
            stack.push_async_callback(runtime.imports.stop)
        yield runtime


@asynccontextmanager
async def helpers(settings: Settings, *, until_empty: bool) -> AsyncIterator[None]:
    """Let the other ``crawl_processes`` work the queue too, while the block runs.

    They end when it does; with ``until_empty`` they are first let finish what they are at, without
    it one that dies is followed by another.
    """
    others = range(settings.crawl_processes - 1)
    async with AsyncExitStack() as stack:
        if not until_empty:
            for _ in others:
                keeping = asyncio.create_task(_keep_helper(settings), name="helper")
                stack.push_async_callback(_stop, keeping)
            yield
            return
        started = [await _start_helper(stack, settings, until_empty=True) for _ in others]
        yield
        for process in started:
            await process.wait()


async def _keep_helper(settings: Settings) -> None:
    """Have a helper until cancelled."""
    while True:
        try:
            async with AsyncExitStack() as stack:
                process = await _start_helper(stack, settings, until_empty=False)
                status = await process.wait()
            log.error("a helper ended; another begins", status=status, seconds=REST_SECONDS)
        except OSError:
            log.exception("no helper could be started", seconds=REST_SECONDS)
        await asyncio.sleep(REST_SECONDS)


async def _start_helper(
    stack: AsyncExitStack, settings: Settings, *, until_empty: bool
) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.helper", "until-empty" if until_empty else "for-ever"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env=child_environment(),
    )
    stack.push_async_callback(_stop_helper, process)
    if process.stdin:
        said = settings.model_dump_json(exclude={"password"})
        process.stdin.write(f"{said}\n".encode())
    return process


async def _stop_helper(process: asyncio.subprocess.Process) -> None:
    """Ask a helper to stop, and see that it does."""
    if process.stdin:
        process.stdin.close()
    try:
        async with asyncio.timeout(HELPER_SECONDS):
            await process.wait()
    except TimeoutError:
        log.warning("a helper did not stop; it is killed", pid=process.pid)
        process.kill()
        await process.wait()


def _be_frugal() -> None:
    """Let Python look for garbage seldom, and the C library give back what was freed.

    A dozen threads have an arena each by default, and blocks of megabytes end up in them: a long
    crawl's memory would grow by a third, though it holds no more.
    """
    gc.set_threshold(*COLLECT)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_TRIM_THRESHOLD, TRIM_BYTES)


def _share(settings: Settings) -> Settings:
    """What one of several crawling processes may do, so that all of them keep to the settings."""
    processes = settings.crawl_processes
    if processes == 1:
        return settings
    return settings.model_copy(
        update={
            "concurrency": max(settings.concurrency // processes, 1),
            "host_concurrency": max(settings.host_concurrency // processes, 1),
            "host_delay": settings.host_delay * processes,
            "extract_processes": max(settings.extract_processes // processes, 1),
        }
    )


async def reindex(
    settings: Settings, on_progress: Callable[[Rebuilt], None] = lambda _: None
) -> ReindexReport:
    """Build the index again from the WARC files alone; the old one is replaced at the very end.

    Raises:
        ConfigurationError: another process is using the archive.
        StoreError: a segment can't be read.
    """
    others = await asyncio.to_thread(living, settings.data / LOCKS)
    if others:
        raise ConfigurationError(
            "The archive is in use by another process. Stop the server and every crawl first."
        )
    path, fresh = settings.data / INDEX, settings.data / f"{INDEX}.new"
    async with AsyncExitStack() as stack:
        lock = await asyncio.to_thread(_claim, settings.data)
        stack.callback(lock.release)
        store = SegmentStore(
            settings.data / SEGMENTS,
            lock=lock,
            segment_bytes=settings.segment_bytes,
            software=f"archiver/{__version__}",
        )
        stack.callback(store.close)
        old = await _open_if_readable(path)
        new = await _open_to_fill(fresh)
        try:
            report = await build_index(new, store, old, on_progress)
        finally:
            await new.close()
            if old:
                await old.close()
        _remove_index(path)
        fresh.replace(path)
    return report


def fit_to_machine(settings: Settings, connections: int = 0) -> Settings:
    """Raise the limit of open files as far as we may, and keep concurrency beneath it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = SPARE_FILES + connections
    wanted = settings.concurrency * FILES_A_PAGE + spare
    if soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), hard))
        soft = max(soft, limit)
    fits = max((soft - spare) // FILES_A_PAGE, 1)
    if settings.concurrency <= fits:
        return settings
    log.warning("concurrency lowered to fit the open-file limit", concurrency=fits, files=soft)
    return settings.model_copy(update={"concurrency": fits})


def _claim(data: Path) -> RunLock:
    try:
        data.mkdir(parents=True, exist_ok=True)
        return RunLock(data / LOCKS)
    except OSError as error:
        raise ConfigurationError(
            f"The data directory {data} can't be used: {error.strerror}. "
            "Choose another with --data or ARCHIVER_DATA."
        ) from error


async def _context(
    stack: AsyncExitStack, settings: Settings, db: Database, store: SegmentStore
) -> CrawlContext:
    derive = DerivePool(
        processes=settings.extract_processes,
        timeout=settings.extract_timeout,
        memory_bytes=settings.extract_memory_bytes,
        max_requisites=settings.max_requisites,
    )
    await derive.start()
    stack.push_async_callback(derive.stop)
    fetcher = await stack.enter_async_context(Fetcher(settings))
    return CrawlContext(
        settings=settings,
        db=db,
        store=store,
        fetcher=fetcher,
        throttle=Throttle(settings),
        derive=derive,
        recorder=Recorder(db, store),
    )


def _runtime(settings: Settings, context: CrawlContext) -> Runtime:
    crawling = Crawling(context)
    entries = Entries(context.db, context.store, on_queued=crawling.wake)
    search = Search(context.db, context.store)
    return Runtime(
        settings=settings,
        entries=entries,
        search=search,
        crawling=crawling,
        articles=Articles(context, lambda: _another_writer(context)),
        imports=Imports(
            context.db,
            Archives(lambda: _another_writer(context)),
            memory_bytes=settings.extract_memory_bytes,
            on_queued=crawling.wake,
        ),
        exports=Exports(context.db, entries),
        packages=Packages(Selection(context.db, context.store, search), context.store),
        replay=Replay(context.db, context.store, settings),
        cdx=Cdx(context.db),
        fixity=Fixity(context.db, context.store),
    )


@asynccontextmanager
async def _another_writer(context: CrawlContext) -> AsyncIterator[CrawlContext]:
    """A writer beside the crawl's: its own segments, and a recorder that runs."""
    settings = context.settings
    lock = await asyncio.to_thread(_claim, settings.data)
    async with AsyncExitStack() as stack:
        stack.callback(lock.release)
        store = SegmentStore(
            settings.data / SEGMENTS,
            lock=lock,
            segment_bytes=settings.segment_bytes,
            software=f"archiver/{__version__}",
        )
        stack.callback(store.close)
        recorder = Recorder(context.db, store)
        recording = asyncio.create_task(recorder.run(), name="another-recorder")
        try:
            yield replace(context, store=store, recorder=recorder)
        finally:
            await recorder.drain()
            recording.cancel()
            await asyncio.wait([recording])


async def _crawl(runtime: Runtime) -> None:
    """Work the queue for ever; whatever goes wrong is logged and tried again."""
    while True:
        try:
            await runtime.crawling.work(until_empty=False)
        except Exception:
            # Clean-up that fails while we are stopped must not start the crawl again.
            task = asyncio.current_task()
            if task and task.cancelling():
                log.exception("the crawl did not end cleanly")
                return
            log.exception("the crawl broke off; it starts again", seconds=REST_SECONDS)
            await asyncio.sleep(REST_SECONDS)


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _open_if_readable(path: Path) -> Database | None:
    if not await asyncio.to_thread(path.exists):
        return None
    try:
        return await Database.open(path)
    except ArchiverError:
        log.warning("the old index can't be read; its queue is lost", path=str(path))
        return None


async def _open_to_fill(path: Path) -> Database:
    """An empty index, or one that was being filled when that was broken off."""
    with suppress(ArchiverError):
        if await asyncio.to_thread(path.exists):
            left = await Database.open(path)
            if await can_go_on(left):
                return left
            await left.close()
    _remove_index(path)
    return await Database.open(path)


def _remove_index(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
