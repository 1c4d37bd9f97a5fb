"""The progress bar of capturing commands is updated while it is shown."""

import asyncio

from archiver.cli.crawl import _shown
from archiver.cli.terminal import Bar
from archiver.model.job import QueueCounts
from archiver.services.crawling import Crawling


class SeenBar(Bar):
    """A visible progress bar."""

    is_shown = True

    def __init__(self) -> None:
        self.seen: asyncio.Future[tuple[float, float | None, str]] = asyncio.Future()

    def show(self, *, done: float, total: float | None = None, now: str = "") -> None:
        if not self.seen.done():
            self.seen.set_result((done, total, now))


async def test_a_bar_shows_the_progress_of_the_queue(crawl):
    await crawl.queue("http://a.example/", "http://b.example/")
    bar = SeenBar()

    async with _shown(Crawling(crawl.context), bar, QueueCounts(), ["http://a.example/"]):
        assert await asyncio.wait_for(bar.seen, 60) == (0, 2, "http://a.example/")


async def test_a_hidden_bar_costs_no_counting(crawl):
    before = asyncio.all_tasks()

    async with _shown(Crawling(crawl.context), Bar(), QueueCounts(), [""]):
        assert asyncio.all_tasks() == before
