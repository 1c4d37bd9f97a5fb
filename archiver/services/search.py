"""Browsing and finding: pages of entries, newest first, narrowed by words, tag, host or state."""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass

from archiver.errors import InputError, StoreError
from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.index import counters, entries, jobs, search, segments, snapshots, tags
from archiver.index.database import AsyncConnection, Database
from archiver.index.entries import Filters, Place
from archiver.model.capture import Location
from archiver.model.entry import Entry
from archiver.model.job import Job, QueueCounts, State
from archiver.query.parse import parse_query, to_fts5
from archiver.query.snippet import Marked, snippet
from archiver.store.segments import SegmentStore

MOST_PER_PAGE = 200
MOST_DIGITS = 19
_DAMAGED = "This page's address is damaged; start from the first page."
MOST_ROUNDS = 20
"""A page of a search looks at so many times its size of matches before it says "no more here"."""


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """What a list is to show.

    Attributes:
        q: words to find, in the query language; empty lists everything.
        tag, host: exact; empty leaves them open.
        status: ``saved``, ``failed``, ``queued``, or an HTTP status; empty leaves it open.
        after: the cursor of the page before.
        limit: entries on a page, 1 to 200.
    """

    q: str = ""
    tag: str = ""
    host: str = ""
    status: str = ""
    after: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry in a list, with the stretch of its text where the words were found."""

    entry: Entry
    excerpt: tuple[Marked, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list, and the cursor of the next one."""

    items: tuple[ListedEntry, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The archive in numbers, and what is being fetched now."""

    entries: int
    snapshots: int
    queue: QueueCounts
    warc_bytes: int
    under_way: tuple[Job, ...]


class Search:
    """Lists of entries."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def listing(self, query: ListingQuery) -> Listing:
        """A page of entries.

        Raises:
            InputError: the cursor, limit or status is not one.
        """
        if not 1 <= query.limit <= MOST_PER_PAGE:
            raise InputError(f"A page has 1 to {MOST_PER_PAGE} entries.")
        filters = _filters(query)
        words = parse_query(query.q)
        match = to_fts5(words)
        if not match:
            return await self._browse(query, filters)
        return await self._find(query, filters, match)

    async def tags(self, limit: int = 100) -> list[tuple[str, int]]:
        """(name, number of entries) of the tags used most."""
        async with self._db.read() as conn:
            return await tags.most_used(conn, limit)

    async def overview(self) -> Overview:
        """The archive in numbers."""
        async with self._db.read() as conn:
            known = await counters.all_counters(conn)
            return Overview(
                entries=known.get(counters.ENTRIES, 0),
                snapshots=known.get(counters.SNAPSHOTS, 0),
                queue=await jobs.queue_counts(conn),
                warc_bytes=await segments.total_bytes(conn),
                under_way=tuple(await jobs.under_way(conn, 20)),
            )

    async def _browse(self, query: ListingQuery, filters: Filters) -> Listing:
        below = _place(query.after) if query.after else None
        async with self._db.read() as conn:
            found, following = await entries.newest(conn, filters, below=below, limit=query.limit)
        cursor = f"{following.sort_at}.{following.row}" if following else None
        return Listing(tuple(ListedEntry(each) for each in found), cursor and _pack(cursor))

    async def _find(self, query: ListingQuery, filters: Filters, match: str) -> Listing:
        below = _document(query.after) if query.after else search.TOP
        async with self._db.read() as conn:
            found, following = await _matches(conn, match, filters, below, query.limit)
            ids = [entry_id for _, entry_id in found]
            listed = await entries.by_ids(conn, ids)
            held = await snapshots.latest_of(conn, ids)
        places = [held[each].snapshot.article if each in held else None for each in ids]
        excerpts = await asyncio.to_thread(self._excerpts, places, query.q)
        items = [
            ListedEntry(listed[entry_id], excerpt)
            for entry_id, excerpt in zip(ids, excerpts, strict=True)
        ]
        return Listing(tuple(items), _pack(f"{following}.") if following else None)

    def _excerpts(self, places: list[Location | None], q: str) -> list[tuple[Marked, ...]]:
        words = parse_query(q)
        return [snippet(self._text(place), words) if place else () for place in places]

    def _text(self, place: Location) -> str:
        try:
            return to_text(read_article_document(self._store.read(place).block.read())[1])
        except StoreError:
            return ""


async def matching_entries(
    conn: AsyncConnection, query: ListingQuery, *, limit: int
) -> AsyncIterator[list[int]]:
    """Row ids of all that a list would show, so many at a time, whatever page it asks for.

    Raises:
        InputError: the status is none.
    """
    filters, match = _filters(query), to_fts5(parse_query(query.q))
    below: Place | None = None
    document: int | None = search.TOP
    while match and document is not None:
        found, document = await _matches(conn, match, filters, document, limit)
        yield [entry_id for _, entry_id in found]
    while not match:
        rows, below = await entries.newest_rows(conn, filters, below=below, limit=limit)
        yield rows
        if below is None:
            return


async def _matches(
    conn: AsyncConnection, match: str, filters: Filters, below: int, limit: int
) -> tuple[list[tuple[int, int]], int | None]:
    """(document, entry) pairs of a page, and the document that the next page starts below."""
    found: list[tuple[int, int]] = []
    for _ in range(MOST_ROUNDS):
        documents = await search.matching(conn, match, below=below, count=limit + 1)
        shown = await search.shown(conn, documents, filters)
        found += [(each, shown[each]) for each in documents if each in shown]
        if len(found) > limit:
            return found[:limit], found[limit - 1][0]
        if len(documents) <= limit:
            return found, None
        below = documents[-1]
    return found, below


def _filters(query: ListingQuery) -> Filters:
    state = status = None
    if query.status.isdecimal():
        status = int(query.status[:4])
    elif query.status:
        if query.status not in (State.SAVED, State.FAILED, State.QUEUED):
            raise InputError("status is saved, failed, queued, or an HTTP status such as 200.")
        state = State(query.status)
    return Filters(query.tag or None, query.host or None, state, status)


def _pack(cursor: str) -> str:
    return urlsafe_b64encode(cursor.encode()).decode().rstrip("=")


def _unpack(packed: str) -> str:
    try:
        return urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode("ascii")
    except ValueError as error:
        raise InputError(_DAMAGED) from error


def _place(packed: str) -> Place:
    sort_at, row = _numbers(packed)
    return Place(sort_at, row)


def _document(packed: str) -> int:
    return _numbers(packed)[0]


def _numbers(packed: str) -> tuple[int, int]:
    """The numbers of a cursor, bounded by what a row of the index can hold."""
    first, dot, second = _unpack(packed).partition(".")
    numbers = (first, second or "0")
    if not dot or not all(each.isdecimal() and len(each) < MOST_DIGITS for each in numbers):
        raise InputError(_DAMAGED)
    return int(numbers[0]), int(numbers[1])
