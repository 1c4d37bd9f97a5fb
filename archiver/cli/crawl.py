"""``archiver crawl``."""

from archiver.app import open_app
from archiver.cli.capture import work_queue
from archiver.cli.crawl_loop import run_crawl
from archiver.config import Settings


def run(settings: Settings) -> int:
    """Work the queue until it is empty."""
    return run_crawl(_crawl(settings))


async def _crawl(settings: Settings) -> int:
    async with open_app(settings) as crawler:
        await work_queue(crawler.settings, crawler.crawling, crawler.articles)
    return 0
