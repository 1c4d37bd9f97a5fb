"""The `list` and `search` commands."""

import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from archiver.app import open_app
from archiver.cli.terminal import Field, JsonArray, ago, note, write_row, write_table
from archiver.config import Settings
from archiver.formats.json_output import to_document
from archiver.http.timestamps import in_utc, write_iso
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import MAX_PER_PAGE, Search
from archiver.services.search_results import ListedEntry

TERMINAL_LIMIT = 50
"""Default maximum number of entries that are printed to a terminal."""


async def listing(
    settings: Settings,
    *,
    words: Sequence[str] = (),
    limit: int | None,
    everything: bool,
    as_json: bool,
    exit_status: bool = False,
    **options: str,
) -> int:
    """Print the results of a search, with the filters and the order in ``options``.

    Without a limit, the default order is the order of the user's list, if the query is for one
    list, or else newest first. Sorting by relevance would need all results in memory. With
    ``exit_status``, the exit status is 1 if there are no results.
    """
    usual = TERMINAL_LIMIT if sys.stdout.isatty() else None
    max_entries = None if everything else limit or usual
    sort = options["sort"] or ("list" if max_entries is None else "")
    query = ListingQuery(" ".join(words), options["tag"], options["host"], options["status"], sort)
    is_screen = sys.stdout.isatty() and not as_json
    array, total, shown = JsonArray(), 0, list[ListedEntry]()
    async with (
        open_app(settings, reads_only=True) as app,
        aclosing(_results(app.search, query, max_entries)) as results,
    ):
        async for listed in results:
            total += 1
            if as_json:
                array.add(_document(listed, with_excerpt=bool(query.q)))
            elif is_screen:
                shown.append(listed)
            else:
                _write(listed)
            if len(shown) == MAX_PER_PAGE:
                _show(shown)
                shown.clear()
            if total == max_entries:
                break
        if as_json:
            array.end()
    if shown:
        _show(shown)
    if not total:
        note("no results." if query.q else "no entries.")
    if total == max_entries == TERMINAL_LIMIT and is_screen:
        note(f"these are the first {total}; --limit or --all prints more.")
    return int(exit_status and not total)


async def _results(
    search: Search, query: ListingQuery, max_entries: int | None
) -> AsyncGenerator[ListedEntry, None]:
    """Yield entries, read page by page to limit memory use; there may be more than ``max_entries``.

    If there are very many results, ``Search.listing`` sorts only the newest (``is_newest_only``).
    Then all results are read in order with ``all_in_order``, unless a limited number of best
    matches was requested.
    """
    limit = min(max_entries or MAX_PER_PAGE, MAX_PER_PAGE)
    after: str | None = ""
    while after is not None:
        page = await search.listing(replace(query, after=after, limit=limit))
        if page.suggestion:
            note(f"did you mean: {page.suggestion}")
        if page.used_query and not after:
            note(f"no results; showing results for: {page.used_query}")
        if page.is_newest_only and (max_entries is None or page.sort is not Sort.BEST):
            used = replace(query, q=page.used_query or query.q)
            async with aclosing(search.all_in_order(used)) as in_order:
                async for listed in in_order:
                    yield listed
            return
        for listed in page.items[: len(page.items) - page.partial]:
            yield listed
        after = None if page.partial else page.after


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


SHORT_ID = 8
"""Number of digits of a hash_url shown on a terminal. Commands accept a prefix of four or more."""


def _show(listed: Sequence[ListedEntry]) -> None:
    write_table(("saved", "title", "state", "site", "id"), [*_cells(listed, datetime.now(UTC))])


def _cells(listed: Sequence[ListedEntry], now: datetime) -> Iterator[Sequence[Field]]:
    """Yield a table row for each entry, and another row for its excerpt, if any."""
    for each in listed:
        entry = each.entry
        when = ago(in_utc(entry.annotation.saved_at), now)
        site = urlsplit(entry.url).netloc
        yield when, entry.title or entry.url, entry.state, site, entry.hash_url[:SHORT_ID]
        if each.excerpt:
            yield "", [(part.text, part.is_match) for part in each.excerpt], "", "", ""
