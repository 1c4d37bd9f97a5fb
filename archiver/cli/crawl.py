"""``archiver crawl``."""

from archiver.cli.capture import work_queue
from archiver.cli.crawl_loop import run_crawl
from archiver.config import Settings
from archiver.runtime import open_runtime


def run(settings: Settings) -> int:
    """Work the queue until it is empty."""
    return run_crawl(_crawl(settings))


async def _crawl(settings: Settings) -> int:
    async with open_runtime(settings) as runtime:
        await work_queue(runtime)
    return 0
