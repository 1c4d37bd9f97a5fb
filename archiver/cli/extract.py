"""``archiver extract``."""

from archiver.cli.crawl_loop import run_crawl
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.runtime import open_runtime

STOPPED = "Stopped. What was not read is still left: `archiver extract` goes on with it."


def run(settings: Settings) -> int:
    """Read the articles that were left for later."""
    return run_crawl(_extract(settings), stopped=STOPPED)


async def _extract(settings: Settings) -> int:
    async with open_runtime(settings) as runtime:
        total = await runtime.articles.left()
        read = 0
        with progress_bar("Reading") as bar:

            def on_read(url: str) -> None:
                nonlocal read
                read += 1
                bar.show(done=read, total=total, now=url)

            await runtime.articles.read_all(on_read)
        left = await runtime.articles.left()
    write_row("read", str(read))
    write_row("left", str(left))
    return 1 if left else 0
