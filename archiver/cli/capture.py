"""Working the queue with a bar: what ``crawl`` and ``import`` share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import click

from archiver.cli.output import write_row
from archiver.cli.progress import Bar, progress_bar
from archiver.config import Settings
from archiver.model.job import Job, QueueCounts
from archiver.services.articles import Articles
from archiver.services.crawling import Crawling
from archiver.services.helpers import helpers

LOOK_SECONDS = 0.5


async def work_queue(settings: Settings, crawling: Crawling, articles: Articles) -> None:
    """Capture until nothing is queued, then print how many were saved and how many failed."""
    before = await crawling.counts()
    with progress_bar("Capturing") as bar:
        now = [""]

        def on_change(job: Job) -> None:
            now[0] = job.url

        async with _shown(crawling, bar, before, now):
            async with helpers(settings, until_empty=True):
                await crawling.work(on_change=on_change)
            if (await crawling.counts()).open:
                # What a helper left that died when nothing else was to be done.
                await crawling.work(on_change=on_change)
    after = await crawling.counts()
    write_row("saved", str(after.saved - before.saved))
    write_row("failed", str(after.failed - before.failed))
    if after.open:
        write_row("left", str(after.open))
        click.echo("Another process is at what is left, or it waits to be tried again.", err=True)
    unread = await articles.left()
    if unread:
        write_row("unread", str(unread))
        click.echo("Articles were left for later: `archiver extract` reads them.", err=True)


@asynccontextmanager
async def _shown(
    crawling: Crawling, bar: Bar, before: QueueCounts, now: list[str]
) -> AsyncIterator[None]:
    """Keep a bar up to date: the queue may be worked by several processes."""
    if not bar.is_shown:
        yield
        return

    async def look() -> None:
        while True:
            counts = await crawling.counts()
            done = counts.saved + counts.failed - before.saved - before.failed
            bar.show(done=done, total=done + counts.open, now=now[0])
            await asyncio.sleep(LOOK_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
