"""A crawling process for tests."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archiver.config import Settings
from archiver.crawl import browser_rendering
from archiver.crawl.context import CrawlContext
from archiver.crawl.pipeline import Pipeline
from archiver.crawl.recorder import Recorder
from archiver.crawl.rendering_policy import BrowserServices, Renderer
from archiver.db import jobs as db_jobs
from archiver.db import new_entries
from archiver.db.engine import Database
from archiver.http.cookies import UserCookies
from archiver.http.fetcher import Fetcher
from archiver.http.politeness import Throttle
from archiver.http.urls import hash_url, host, parse_entry_url
from archiver.model.annotation import Annotation
from archiver.model.job import Job
from archiver.model.seed import Seed
from archiver.pages.worker_pool import WorkerPool
from archiver.services.cookies import CookieSettings
from tests.segments import segment_store


@asynccontextmanager
async def crawler(data: Path, **more: object) -> AsyncIterator[CrawlContext]:
    """Open the parts of a crawling process, with its own locks, leases and segments."""
    settings = Settings(
        data=data,
        **{
            "allow_networks": "127.0.0.0/8",
            "host_delay": 0,
            "retry_delay": 0,
            "render": "never",
            **more,
        },
    )
    async with AsyncExitStack() as stack:
        store = stack.enter_context(segment_store(data))
        db = await Database.open(data / "archive.sqlite3")
        stack.push_async_callback(db.close)
        derive = WorkerPool(processes=1, timeout=30, memory_bytes=1 << 30, max_requisites=500)
        stack.push_async_callback(derive.stop)
        cookies = UserCookies()
        cookies.load(await CookieSettings(data).content())
        fetcher = await stack.enter_async_context(Fetcher(settings, cookies=cookies))
        recorder, throttle = Recorder(db, store), Throttle(settings)
        services = BrowserServices(settings, fetcher, throttle, recorder)
        renderer = Renderer(services)
        stack.push_async_callback(renderer.stop)
        yield CrawlContext(settings, db, store, fetcher, throttle, derive, recorder, renderer)


class Crawl:
    """The crawl of one process."""

    def __init__(self, context: CrawlContext) -> None:
        self.context = context
        self.changed_jobs: list[Job] = []
        self.pipeline = Pipeline(context, on_change=self.changed_jobs.append)

    async def queue(self, *urls: str, recapture: bool = True) -> list[int]:
        """Queue URLs; return their jobs."""
        now = datetime.now(UTC)
        parsed = map(parse_entry_url, urls)
        seeds = [Seed(hash_url(u), u, host(u), Annotation(u, now)) for u in parsed]
        async with self.context.db.write() as conn:
            created = await new_entries.receive(conn, seeds, now=now, recapture=recapture)
        return [each.job_id for each in created]

    @asynccontextmanager
    async def recording(self) -> AsyncIterator[None]:
        """Run the recorder as a pipeline does."""
        running = asyncio.create_task(self.context.recorder.run())
        try:
            yield
        finally:
            await self.context.recorder.drain()
            running.cancel()
            await asyncio.wait([running])

    async def run(self) -> None:
        """Run until the queue is empty."""
        await self.pipeline.run(until_empty=True)

    async def jobs(self) -> list[Job]:
        """Return every job in order of creation."""
        async with self.context.db.read() as conn:
            return await db_jobs.by_ids(conn, range(1, 1000))


def renderer_of(context: CrawlContext) -> Renderer:
    """Return a renderer for a crawl; its browser starts with the first page."""
    services = BrowserServices(
        context.settings, context.fetcher, context.throttle, context.recorder
    )
    return Renderer(services)


@contextmanager
def quick_rendering(**seconds: float) -> Iterator[None]:
    """Shorten the waits of the browser, and set other time limits."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"LEAST_SECONDS": 1.1, "QUIET_SECONDS": 0.4, **seconds}.items():
            patch.setattr(browser_rendering, name, value)
        yield


@asynccontextmanager
async def rendering_crawl(data: Path, **settings: object) -> AsyncIterator[Crawl]:
    """A crawl with a browser that waits for a short time only."""
    with quick_rendering():
        async with crawler(data, render="auto", **settings) as context:
            yield Crawl(context)
