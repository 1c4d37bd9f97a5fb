"""Commands that crawl: crawl, recapture, rescue and extract."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

import click

from archiver.app import App, open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.terminal import Bar, progress_bar, write_row, write_text
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.job import Job, QueueCounts
from archiver.model.listing import ListingQuery
from archiver.model.page import Piece, Side
from archiver.services.background_tasks import crawl_processes
from archiver.services.crawling import Crawling
from archiver.services.derived_data import Articles, Revision

POLL_SECONDS = 0.5


async def work_queue(settings: Settings, crawling: Crawling, articles: Articles) -> None:
    """Capture until the queue is empty, then print how many entries were saved and failed."""
    before = await crawling.counts()
    with progress_bar("Capturing") as bar:
        now = [""]

        def on_change(job: Job) -> None:
            now[0] = job.url

        async with _showing_progress(crawling, bar, before, now):
            async with crawl_processes(settings, until_empty=True):
                await crawling.work(on_change=on_change if bar.is_shown else None)
            if (await crawling.counts()).open:
                # A crawl process that died may have left jobs.
                await crawling.work(on_change=on_change)
    after = await crawling.counts()
    write_row("saved", str(after.saved - before.saved))
    write_row("failed", str(after.failed - before.failed))
    if after.open:
        write_row("waiting", str(after.open))
        click.echo(
            "The remaining jobs are being captured by another process, wait for a retry, or belong "
            "to a paused import.",
            err=True,
        )
    unread = await articles.pending_count()
    if unread:
        write_row("articles not extracted", str(unread))
        click.echo("Run `archiver extract` to extract them.", err=True)


@asynccontextmanager
async def _showing_progress(
    crawling: Crawling, bar: Bar, before: QueueCounts, now: list[str]
) -> AsyncIterator[None]:
    """Update a progress bar by polling, since several processes may work on the queue."""
    if not bar.is_shown:
        yield
        return

    async def poll() -> None:
        while True:
            counts = await crawling.counts()
            done = counts.saved + counts.failed - before.saved - before.failed
            bar.show(done=done, total=done + counts.open, now=now[0])
            await asyncio.sleep(POLL_SECONDS)

    polling = asyncio.create_task(poll())
    try:
        yield
    finally:
        polling.cancel()
        with suppress(asyncio.CancelledError):
            await polling


async def crawl(settings: Settings) -> None:
    """Capture queued pages until the queue is empty."""
    async with open_app(settings) as crawler:
        await work_queue(crawler.settings, crawler.crawling, crawler.articles)


SOURCE = "cli"


async def recapture(settings: Settings, *, refs: Sequence[str], below: float | None) -> int:
    """Recapture given entries, those with a score lower than ``below``, or all incomplete ones.

    Raises:
        InputError: both entries and a score are given.
    """
    if refs and below is not None:
        raise InputError("Use either entries or --below, not both.")
    async with open_app(settings) as runtime:
        urls = [(await runtime.entries.get(ref)).entry.url for ref in refs]
        queued, unrecoverable = await _queue(runtime, urls, below)
        write_row("queued", str(queued))
        if unrecoverable:
            write_row("gone", str(unrecoverable))
        if queued:
            await work_queue(runtime.settings, runtime.crawling, runtime.articles)
        return await _failed(runtime, urls)


async def _failed(runtime: App, urls: Sequence[str]) -> int:
    """Print failures of the given URLs; return 1 if there are any."""
    status = 0
    for url in urls:
        entry = (await runtime.entries.get(url)).entry
        if entry.failure:
            write_row(entry.hash_url, "failed", f"{url}: {entry.failure.message}")
            status = 1
    return status


async def _queue(runtime: App, urls: Sequence[str], below: float | None) -> tuple[int, int]:
    """Queue the selected entries; return the numbers of queued and of skipped entries."""
    recaptures_service, can_render = runtime.recaptures, not runtime.crawling.browser_problem
    if urls:
        await runtime.entries.save(urls, source=SOURCE)
        return len(urls), 0
    if below is not None:
        percent = round(100 * below if below <= 1 else below)
        return await recaptures_service.below(percent, render=can_render), 0
    queued, unrecoverable = await recaptures_service.gaps()
    if can_render:
        queued += await recaptures_service.unrendered()
    return queued, unrecoverable


async def rescue(settings: Settings, *, refs: Sequence[str], query: str | None) -> None:
    """Recover given entries, search results or all missing pages from public archives.

    Raises:
        InputError: both entries and a search are given.
    """
    if refs and query:
        raise InputError("Use either entries or --query, not both.")
    async with open_app(settings) as runtime:
        queued_count = await runtime.recovery.rescue_any(refs, query)
        write_row("asked", str(queued_count))
        # An earlier run that was killed may have left jobs.
        if queued_count or (await runtime.crawling.counts()).open:
            await work_queue(runtime.settings, runtime.crawling, runtime.articles)


_MARKS = {Side.BEFORE: ("[-", "-]"), Side.AFTER: ("{+", "+}")}
"""Markers of ``git diff --word-diff``."""
STOPPED = "Stopped. `archiver extract` continues with the remaining articles."
STOPPED_AGAIN = "Stopped. Run the same command again to continue."


def extract(settings: Settings, *, again: bool, query: str, diff: bool) -> int:
    """Extract pending articles, or with ``again`` those of another extractor version.

    With ``again``, ``query`` selects the entries, and ``diff`` prints changed paragraphs.

    Raises:
        InputError: ``query`` or ``diff`` is given without ``again``.
    """
    if (query or diff) and not again:
        raise InputError("--query and --diff require --again.")
    if again:
        return run_until_signal(_extract_again(settings, query, diff=diff), stopped=STOPPED_AGAIN)
    return run_until_signal(_extract(settings), stopped=STOPPED)


async def _extract(settings: Settings) -> int:
    async with open_app(settings) as runtime:
        total = await runtime.articles.pending_count()
        read = 0
        with progress_bar("Extracting") as bar:

            def on_read(url: str) -> None:
                nonlocal read
                read += 1
                bar.show(done=read, total=total, now=url)

            await runtime.articles.read_all(on_read)
        pending = await runtime.articles.pending_count()
    write_row("extracted", str(read))
    write_row("left", str(pending))
    return 1 if pending else 0


async def _extract_again(settings: Settings, query: str, *, diff: bool) -> None:
    read = changed = 0
    async with open_app(settings) as runtime:
        selection = ListingQuery(q=query) if query else None
        with progress_bar("Extracting") as bar:
            async for each in runtime.reextraction.read_all(selection):
                read += 1
                bar.show(done=read, now=each.snapshot.url)
                if not each.change.is_same:
                    changed += 1
                    for line in _revision_lines(each, diff=diff):
                        write_text(line)
    write_row("extracted", str(read))
    write_row("changed", str(changed))


def _revision_lines(revision: Revision, *, diff: bool) -> Iterator[str]:
    snapshot, change = revision.snapshot, revision.change
    yield f"{snapshot.timestamp}\t+{change.added_words}\t-{change.removed_words}\t{snapshot.url}"
    if diff:
        yield from changed_lines(change.pieces)


def changed_lines(pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield the paragraphs that changed, with removed and inserted words marked."""
    line, is_changed = "", False
    for piece in pieces:
        before, after = _MARKS.get(piece.side, ("", ""))
        for part in piece.text.splitlines(keepends=True):
            words = part.rstrip("\n")
            line += f"{before}{words}{after}" if words.strip() else words
            is_changed |= piece.side is not Side.BOTH
            if part.endswith("\n"):
                if is_changed and line.strip():
                    yield line
                line, is_changed = "", False
    if is_changed:
        yield line
