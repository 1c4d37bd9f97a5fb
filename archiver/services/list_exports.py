"""Lists of entries as bookmarks, tables and feeds."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import groupby, islice
from operator import itemgetter

from archiver.db import entries, snapshots
from archiver.db.engine import Database
from archiver.formats.feeds import Feed, FeedItem, write_atom, write_json_feed
from archiver.formats.list_writer import Heading, ListForm, ListWriter, Order
from archiver.model.entry import Entry, ExportedEntry
from archiver.model.entry_list import folder_names, folder_path
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search
from archiver.warc.temporary_lines import SortedLines

PAGE = 100
"""Entries written per batch; an entry can have half a megabyte of metadata."""

SORTED_AT_ONCE = 1000
"""Entries read per batch to sort them by folder or host."""

MAX_SNAPSHOTS = 1_000
"""Maximum number of exported snapshots of one entry; older ones are left out."""

_BETWEEN = "\0"
"""Separator of folder names. It sorts before all characters: a folder precedes its subfolders."""

_LAST = (1 << 63) - 1
"""Sort key of an entry without a position in its list: the entry comes last."""

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
    async for batch in _ordered(db, rows, form.order):
        exported = await _exported(db, [row for _, row in batch], form)
        text = await asyncio.to_thread(_items, writer, batch, exported)
        if text:
            yield _encoded(text)
    if closing := writer.closing():
        yield _encoded(closing)


async def _ordered(
    db: Database, rows: Sequence[int], order: Order
) -> AsyncGenerator[list[_Placed], None]:
    if order is Order.SAVED:
        saved = sorted(rows)
        for start in range(0, len(saved), PAGE):
            yield [("", row) for row in saved[start : start + PAGE]]
        return
    with SortedLines() as lines:
        for start in range(0, len(rows), SORTED_AT_ONCE):
            async with db.read() as conn:
                by_id = await entries.by_ids(conn, rows[start : start + SORTED_AT_ONCE])
            exported_lines = [
                line for row, each in by_id.items() for line in _lines(order, row, each)
            ]
            await asyncio.to_thread(lines.add_all, exported_lines)
        placed = (_placed(line) for line in lines)
        if order is Order.HOSTS:
            placed = (next(same) for _, same in groupby(placed, key=itemgetter(0)))
        while batch := await asyncio.to_thread(lambda: [*islice(placed, PAGE)]):
            yield batch


def _lines(order: Order, row: int, entry: Entry) -> Iterator[bytes]:
    """Yield a line for each place of an entry.

    Sorted lines of all entries are in order of place, then of position within the place.
    """
    if order is Order.HOSTS:
        yield _line(entry.host, row)
    else:
        for folder, position in (entry.annotation.lists or {"": 0}).items():
            yield _line(_BETWEEN.join(folder_names(folder)), row, position or _LAST)


def _line(key: str, row: int, position: int = 0) -> bytes:
    return f"{key}{_BETWEEN}{_BETWEEN}{position:016x}{row:016x}\n".encode("utf-8", "replace")


def _placed(line: bytes) -> _Placed:
    key, _, row = line.decode().rstrip("\n").rpartition(_BETWEEN * 2)
    return folder_path(key.split(_BETWEEN)), int(row[16:], 16)


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


class Feeds:
    """Feeds of lists."""

    def __init__(self, search: Search) -> None:
        self._search = search

    async def write(
        self, query: ListingQuery, form: FeedForm, *, origin: str, path: str, home: str
    ) -> bytes:
        """Return the newest entries of a list as a feed.

        Args:
            query: query of the list; its order and page are ignored.
            form: format of the feed.
            origin: ``http(s)://host[:port]`` of the service.
            path: URL path of the feed.
            home: URL path of the list in the web interface.

        Raises:
            InvalidQuery: the query can't be parsed.
        """
        newest = replace(query, sort=Sort.NEWEST, after="", limit=ITEMS)
        listing = await self._search.listing(newest)
        items = [FeedItem(each.entry, each.entry.changed_at) for each in listing.items]
        feed = Feed(_title(query), origin, path, home, items)
        return write_atom(feed) if form is FeedForm.ATOM else write_json_feed(feed)


def _title(query: ListingQuery) -> str:
    parts = (query.q, query.tag, query.host, query.status)
    search = " ".join(each for each in parts if each)
    return f"archiver: {search}" if search else "archiver"
