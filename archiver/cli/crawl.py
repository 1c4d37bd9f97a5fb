"""``archiver crawl``."""

from archiver.cli.capture import work_queue
from archiver.cli.loop import GO_ON, run_until_signal
from archiver.config import Settings
from archiver.runtime import open_runtime


def run(settings: Settings) -> int:
    """Work the queue until it is empty."""
    return run_until_signal(_crawl(settings), said=GO_ON)


async def _crawl(settings: Settings) -> int:
    async with open_runtime(settings) as runtime:
        await work_queue(runtime)
    return 0
