"""Lists of entries as bookmarks, tables and feeds."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import islice

from archiver.db import entries, snapshots, tags_and_lists
from archiver.db.engine import Database
from archiver.formats.feeds import Feed, write_atom, write_json_feed
from archiver.formats.list_writer import Heading, ListForm, ListWriter, Order
from archiver.model.entry import ExportedEntry
from archiver.model.entry_list import folder_names
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search

PAGE = 100
"""Entries written per batch; an entry can have half a megabyte of metadata."""

READ_AT_ONCE = 1000
"""Entries read per batch to find their hosts."""

MAX_SNAPSHOTS = 1_000
"""Maximum number of exported snapshots of one entry; older ones are left out."""

_Placed = tuple[str, int]
"""Place of an entry (its folder or host; see `Order`) and its row id."""


async def write_list(
    db: Database, rows: Sequence[int], form: ListForm, heading: Heading
) -> AsyncGenerator[bytes, None]:
    """Yield the text of a list; entries deleted in the meantime are left out.

    Args:
        db: the index.
        rows: row ids of the entries.
        form: format of the list.
        heading: title, date and lists, written before the entries.
    """
    writer = form.writer(heading)
    if opening := writer.opening():
        yield _encoded(opening)
    placed = await _ordered(db, rows, form.order)
    while batch := [*islice(placed, PAGE)]:
        exported = await _exported(db, [row for _, row in batch], form)
        text = await asyncio.to_thread(_items, writer, batch, exported)
        if text:
            yield _encoded(text)
    if closing := writer.closing():
        yield _encoded(closing)


async def _ordered(db: Database, rows: Sequence[int], order: Order) -> Iterator[_Placed]:
    """Return the entries in the order of a format, each with its place."""
    if order is Order.SAVED:
        return (("", row) for row in sorted(rows))
    if order is Order.HOSTS:
        return iter(sorted((await _first_by_host(db, rows)).items()))
    members = await _members(db, rows)
    return ((path, row) for path in sorted(members, key=folder_names) for row in members[path])


async def _first_by_host(db: Database, rows: Sequence[int]) -> dict[str, int]:
    """Return the entry of each host that was saved first."""
    first: dict[str, int] = {}
    in_order = sorted(rows)
    for start in range(0, len(in_order), READ_AT_ONCE):
        async with db.read() as conn:
            by_id = await entries.by_ids(conn, in_order[start : start + READ_AT_ONCE])
        for row, each in sorted(by_id.items()):
            first.setdefault(each.host, row)
    return first


async def _members(db: Database, rows: Sequence[int]) -> dict[str, list[int]]:
    """Return the entries of each list in order; those that are in no list have an empty path."""
    selected, members = set(rows), dict[str, list[int]]()
    async with db.read() as conn:
        for each in await tags_and_lists.all_lists(conn):
            in_order = await tags_and_lists.members_in_order(conn, each.path)
            members[each.path] = [row for row, _ in in_order if row in selected]
    return {"": sorted(selected.difference(*members.values())), **members}


async def _exported(db: Database, rows: Sequence[int], form: ListForm) -> dict[int, ExportedEntry]:
    async with db.read() as conn:
        by_id = await entries.by_ids(conn, rows)
        visited = [row for row, each in by_id.items() if each.snapshot_count]
        row_ids = visited if form.has_snapshots else []
        rows_by_entry = await snapshots.of_entries(conn, row_ids) if row_ids else {}
    return {
        row: ExportedEntry(
            entry,
            tuple(each.snapshot for each in islice(rows_by_entry.get(row, ()), MAX_SNAPSHOTS)),
        )
        for row, entry in by_id.items()
    }


def _items(writer: ListWriter, batch: Sequence[_Placed], exported: dict[int, ExportedEntry]) -> str:
    return "".join(writer.item(exported[row], place) for place, row in batch if row in exported)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


ITEMS = 50


class FeedForm(StrEnum):
    """Formats of a feed."""

    ATOM = "atom"
    JSON = "json"


async def write_feed(
    search: Search, query: ListingQuery, form: FeedForm, *, origin: str, path: str, home: str
) -> bytes:
    """Return the newest entries of a list as a feed.

    Args:
        search: searches the index.
        query: query of the list; its order and page are ignored.
        form: format of the feed.
        origin: ``http(s)://host[:port]`` of the service.
        path: URL path of the feed.
        home: URL path of the list in the web interface.

    Raises:
        InvalidQuery: the query can't be parsed.
    """
    newest = replace(query, sort=Sort.NEWEST, after="", limit=ITEMS)
    listing = await search.listing(newest)
    parts = (query.q, query.tag, query.host, query.status)
    words = " ".join(each for each in parts if each)
    title = f"archiver: {words}" if words else "archiver"
    feed = Feed(title, origin, path, home, [each.entry for each in listing.items])
    return write_atom(feed) if form is FeedForm.ATOM else write_json_feed(feed)
