"""The `list` and `search` commands."""

import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import click

from archiver.app import open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.terminal import JsonArray, clean, write_row
from archiver.config import Settings
from archiver.formats.json_output import to_document
from archiver.http.timestamps import write_iso
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import MAX_PER_PAGE, Search
from archiver.services.search_results import ListedEntry


def run(
    settings: Settings, *, limit: int | None, everything: bool, as_json: bool, **asked: str
) -> int:
    """Print entries, filtered and sorted as ``asked``; return 1 if there are none.

    Without a limit the default order is that of the named list, else newest first, because sorting
    by relevance needs all results in memory.
    """
    if limit is None and not everything and sys.stdout.isatty():
        limit = ON_A_SCREEN
    wanted = None if everything else limit
    sort = asked["sort"] or ("list" if wanted is None else "")
    query = ListingQuery(asked["q"], asked["tag"], asked["host"], asked["status"], sort)
    return run_until_signal(_list(settings, query, wanted, as_json=as_json))


ON_A_SCREEN = 50
"""Default number of entries on a terminal."""


async def _list(
    settings: Settings, query: ListingQuery, wanted: int | None, *, as_json: bool
) -> int:
    async with open_app(settings, reads_only=True) as app:
        search = app.search
        array, found = JsonArray(), 0
        await _warn_about_pending_documents(search)
        async for listed in _pages(search, query, wanted):
            found += 1
            if as_json:
                array.add(_document(listed, with_excerpt=bool(query.q)))
            else:
                _write(listed)
        if as_json:
            array.end()
    if found == wanted == ON_A_SCREEN and sys.stdout.isatty():
        click.echo(f"archiver: the first {found}; --limit or --all prints more.", err=True)
    return int(not found)


async def _pages(
    search: Search, query: ListingQuery, wanted: int | None
) -> AsyncIterator[ListedEntry]:
    """Yield entries page by page, holding one page in memory.

    The service sorts only the newest entries of a very large result. In that case all results are
    sorted here.
    """
    after: str | None = ""
    while after is not None and (wanted is None or wanted > 0):
        limit = MAX_PER_PAGE if wanted is None else min(wanted, MAX_PER_PAGE)
        page = await search.listing(replace(query, after=after, limit=limit))
        if page.meant:
            click.echo(f"archiver: did you mean: {clean(page.meant)}", err=True)
        if page.answers and not after:
            click.echo(
                f"archiver: no results; showing results for: {clean(page.answers)}", err=True
            )
        if page.is_of_newest and (wanted is None or page.sort is not Sort.BEST):
            asked = replace(query, q=page.answers or query.q)
            async with aclosing(search.all_in_order(asked, wanted)) as put:
                async for listed in put:
                    yield listed
            return
        whole = page.items[: len(page.items) - page.partial]
        for listed in whole:
            yield listed
        after = None if page.partial else page.after
        wanted = None if wanted is None else wanted - len(page.items)


async def _warn_about_pending_documents(search: Search) -> None:
    pending = round(100 * await search.pending_share())
    if pending:
        click.echo(
            f"archiver: {pending}% of the archive is not indexed yet after an update; "
            "`archiver serve` does so in the background, `archiver reindex` immediately.",
            err=True,
        )


def _document(listed: ListedEntry, *, with_excerpt: bool) -> dict[str, object]:
    document: dict[str, object] = to_document(listed.entry)
    return document | {"excerpt": to_document(listed.excerpt)} if with_excerpt else document


def _write(listed: ListedEntry) -> None:
    entry = listed.entry
    write_row(
        entry.hash_url,
        write_iso(entry.annotation.saved_at)[:10],
        entry.state,
        entry.title or "-",
        entry.url,
    )
    if listed.excerpt and sys.stdout.isatty():
        shown = (click.style(clean(each.text), bold=each.hit) for each in listed.excerpt)
        click.echo("    " + "".join(shown))
