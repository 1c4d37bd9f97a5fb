"""``archiver recapture``."""

from collections.abc import Sequence

from archiver.cli.capture import work_queue
from archiver.cli.crawl_loop import run_crawl
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.runtime import Runtime, open_runtime

BATCH = 1000


def run(settings: Settings, *, refs: Sequence[str]) -> int:
    """Capture entries again: those named, or all that lack something."""
    return run_crawl(_recapture(settings, refs))


async def _recapture(settings: Settings, refs: Sequence[str]) -> int:
    async with open_runtime(settings) as runtime:
        queued, gone = await (_named(runtime, refs) if refs else _with_gaps(runtime))
        write_row("queued", str(queued))
        if gone:
            write_row("gone", str(gone))
        if queued:
            await work_queue(runtime)
    return 0


async def _named(runtime: Runtime, refs: Sequence[str]) -> tuple[int, int]:
    urls = [(await runtime.entries.get(ref)).entry.url for ref in refs]
    await runtime.entries.save(urls, source="cli")
    return len(urls), 0


async def _with_gaps(runtime: Runtime) -> tuple[int, int]:
    """Queue what may be had; how many entries that were, and how many were passed over."""
    waiting: list[str] = []
    queued = gone = 0
    async for entry, is_hopeless in runtime.entries.with_gaps():
        if is_hopeless:
            gone += 1
            continue
        waiting.append(entry.url)
        if len(waiting) == BATCH:
            await runtime.entries.save(waiting, source="cli")
            queued, waiting = queued + len(waiting), []
    if waiting:
        await runtime.entries.save(waiting, source="cli")
    return queued + len(waiting) + await _unrendered(runtime), gone


async def _unrendered(runtime: Runtime) -> int:
    """Queue what needs a browser, where there is one; how many."""
    queued = 0
    if not runtime.crawling.browser_problem:
        async for urls in runtime.entries.unrendered():
            await runtime.entries.save(urls, source="cli", render=True)
            queued += len(urls)
    return queued
