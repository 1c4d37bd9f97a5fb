"""``archiver rescue``."""

from collections.abc import Sequence

from archiver.app import App, open_app
from archiver.cli.capture import work_queue
from archiver.cli.crawl_loop import run_crawl
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.listing import ListingQuery


def run(settings: Settings, *, refs: Sequence[str], query: str | None) -> int:
    """Ask public archives for entries: those named, those found, or all that are gone."""
    if refs and query:
        raise InputError("Name the entries, or say with --query what finds them; not both.")
    return run_crawl(_rescue(settings, refs, query))


async def _rescue(settings: Settings, refs: Sequence[str], query: str | None) -> int:
    async with open_app(settings) as runtime:
        asked = await _ask(runtime, refs, query)
        write_row("asked", str(asked))
        # One that was killed may have left some to be asked for.
        if asked or (await runtime.crawling.counts()).open:
            await work_queue(runtime.settings, runtime.crawling, runtime.articles)
    return 0


async def _ask(runtime: App, refs: Sequence[str], query: str | None) -> int:
    if refs:
        return await runtime.rescuing.rescue(refs)
    if query:
        return await runtime.rescuing.rescue_found(ListingQuery(q=query))
    return await runtime.rescuing.rescue_gone()
