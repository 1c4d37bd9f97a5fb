"""``archiver recapture``."""

from collections.abc import Sequence

from archiver.app import App, open_app
from archiver.cli.capture import work_queue
from archiver.cli.crawl_loop import run_crawl
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.errors import InputError

SOURCE = "cli"


def run(settings: Settings, *, refs: Sequence[str], below: float | None = None) -> int:
    """Capture entries again: those named, those kept worse than that, or all that lack something.

    Raises:
        InputError: both are asked for.
    """
    if refs and below is not None:
        raise InputError("Name what to capture again, or give --below; not both.")
    return run_crawl(_recapture(settings, refs, below))


async def _recapture(settings: Settings, refs: Sequence[str], below: float | None) -> int:
    async with open_app(settings) as runtime:
        urls = [(await runtime.entries.get(ref)).entry.url for ref in refs]
        queued, gone = await _queue(runtime, urls, below)
        write_row("queued", str(queued))
        if gone:
            write_row("gone", str(gone))
        if queued:
            await work_queue(runtime.settings, runtime.crawling, runtime.articles)
        return await _failed(runtime, urls)


async def _failed(runtime: App, urls: Sequence[str]) -> int:
    """Say why those that were named could not be captured; 1 if any could not."""
    status = 0
    for url in urls:
        entry = (await runtime.entries.get(url)).entry
        if entry.failure:
            write_row(entry.hash_url, "failed", f"{url}: {entry.failure.message}")
            status = 1
    return status


async def _queue(runtime: App, urls: Sequence[str], below: float | None) -> tuple[int, int]:
    """Queue what is asked for; how many entries that were, and how many were passed over."""
    recapturing, can_render = runtime.recapturing, not runtime.crawling.browser_problem
    if urls:
        await runtime.entries.save(urls, source=SOURCE)
        return len(urls), 0
    if below is not None:
        percent = round(100 * below if below <= 1 else below)
        return await recapturing.below(percent, render=can_render), 0
    queued, gone = await recapturing.gaps()
    if can_render:
        queued += await recapturing.unrendered()
    return queued, gone
