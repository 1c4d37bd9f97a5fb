"""CDX queries and TimeMaps."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from zlib import crc32

from archiver.db import captures
from archiver.db.captures import Place, Placed
from archiver.db.engine import Database
from archiver.errors import InputError, NotInArchive
from archiver.http.surt import surt_key
from archiver.http.timestamps import FIRST, LAST, middle_of, to_datetime, to_timestamp
from archiver.model.capture import Capture, KeyRange, Timestamp
from archiver.replay.cdx_query import BLOCK_CAPTURES, RESOLVED, CdxQuery
from archiver.replay.cdx_rows import CdxWriter, Originals, Row, Selection

PAGE = 1000


async def iterate_captures(
    db: Database, key_range: KeyRange, after: Place | None = None, until: Place | None = None
) -> AsyncGenerator[list[Placed], None]:
    """Yield the captures of a range in batches.

    The iteration begins after ``after`` and ends before ``until``.
    """
    while True:
        async with db.read() as conn:
            page = await captures.in_range(conn, key_range, after=after, limit=PAGE)
        inside = [each for each in page if _is_before(each[0], until, key_range)]
        if inside:
            after = inside[-1][0]
            yield inside
        if len(inside) < PAGE:
            return


def _is_before(place: Place, until: Place | None, key_range: KeyRange) -> bool:
    if until is None:
        return True
    return place > until if key_range.newest_first else place < until


_Bounds = tuple[Place | None, Place | None]
"""The position after which an iteration begins, and the one before which it ends."""


def before(place: Place) -> Place:
    """Return the position immediately before ``place``."""
    key, timestamp, row_id = place
    return key, timestamp, row_id - 1


def position_after(place: Place) -> Place:
    """Return the position immediately after ``place``."""
    key, timestamp, row_id = place
    return key, timestamp, row_id + 1


BATCH = 100
"""Number of captures per batch in queries with ``closest``."""
MAX_BEFORE_PAGE = 1000
"""Maximum number of captures read before a page, because its first rows may collapse with them."""


class Cdx:
    """CDX queries.

    Args:
        db: the index.
        block: number of captures in a block; a page consists of blocks.
    """

    def __init__(self, db: Database, *, block: int = BLOCK_CAPTURES) -> None:
        self._db = db
        self._block = block

    async def result(self, query: CdxQuery) -> AsyncGenerator[bytes, None]:
        """Yield the result of a query in chunks.

        Raises:
            InputError: there is no such page, or the resume key is invalid.
            NotInArchive: a query in the dialect of pywb has no results; pywb returns 404.
        """
        if query.paging.is_counted:
            yield await self._page_count(query)
            return
        start = await self._place_of(query.paging.resume_key)
        bounds = await self._bounds(query)
        if bounds is None:
            return
        selection, writer = Selection(query), CdxWriter(query)
        if query.collapse and query.paging.number and bounds[0] and not start:
            selection.prime(await self._before(query, bounds[0]))
        if start:
            bounds = _with_itself(query, start), bounds[1]
        empty = True
        found = (
            self._by_distance(query, start)
            if query.closest
            else iterate_captures(self._db, query, *bounds)
        )
        async with aclosing(self._rows(query, selection, found)) as batches:
            async for rows in batches:
                empty = False
                yield writer.rows(rows)
        if empty and query.pywb:
            raise NotInArchive(query.first_key)
        yield writer.end(await self._resume_key(query, selection))

    async def _page_count(self, query: CdxQuery) -> bytes:
        pages, blocks = await self._pages(query)
        if query.pywb:
            document = {"pages": pages, "pageSize": query.paging.blocks, "blocks": blocks}
            return json.dumps(document).encode() + b"\n"
        return f"{pages}\n".encode()

    async def _pages(self, query: CdxQuery) -> tuple[int, int]:
        """Return (number of pages, number of blocks) of a query's result."""
        async with self._db.read() as conn:
            count = await captures.count_in_range(conn, query)
        blocks = math.ceil(count / self._block)
        return math.ceil(blocks / query.paging.blocks), blocks

    async def _bounds(self, query: CdxQuery) -> _Bounds | None:
        """Return the bounds of the requested page; None for a page after the last one.

        If captures are added while a client requests pages, a capture may be on two of them.
        """
        number, size = query.paging.number, query.paging.blocks * self._block
        if number is None:
            return None, None
        async with self._db.read() as conn:
            first = await captures.place_at(conn, query, number * size)
            end = await captures.place_at(conn, query, (number + 1) * size)
        if first:
            return _with_itself(query, first), end
        if number and query.pywb:
            last = (await self._pages(query))[0] - 1
            raise InputError(f"Page {number} invalid: First Page is 0, Last Page is {last}")
        return None if number else (None, None)

    async def _before(self, query: CdxQuery, start: Place) -> list[tuple[str, Capture, int]]:
        """Return the captures just before a page, with which its first rows may collapse."""
        turned = replace(query, newest_first=not query.newest_first)
        edge = before(start) if query.newest_first else position_after(start)
        async with self._db.read() as conn:
            rows = await captures.in_range(conn, turned, after=edge, limit=MAX_BEFORE_PAGE)
        return [(place[0], capture, place[2]) for place, capture in reversed(rows)]

    async def _rows(
        self, query: CdxQuery, selection: Selection, found: AsyncGenerator[list[Placed], None]
    ) -> AsyncGenerator[list[Row], None]:
        last: list[Row] = []
        async with aclosing(found) as pages:
            async for page in pages:
                originals = await self._originals(query, page)
                listed = [(place[0], capture, place[2]) for place, capture in page]
                rows = await asyncio.to_thread(selection.select, listed, originals)
                if query.from_end:
                    last += rows
                elif rows:
                    yield rows
                if selection.is_done:
                    break
        if last:
            yield last[::-1]

    async def _by_distance(
        self, query: CdxQuery, start: Place | None
    ) -> AsyncGenerator[list[Placed], None]:
        """Yield batches of captures sorted by their distance from the ``closest`` timestamp.

        Of two equally distant captures, the older comes first.
        """
        moment = to_datetime(middle_of(query.closest))
        older, newer = _sides(query, moment, start)
        async with (
            aclosing(_each(iterate_captures(self._db, *older))) as back,
            aclosing(_each(iterate_captures(self._db, *newer))) as forth,
        ):
            one, other = await anext(back, None), await anext(forth, None)
            batch: list[Placed] = []
            while nearer := _nearer(one, other, moment):
                if nearer is one:
                    one = await anext(back, None)
                else:
                    other = await anext(forth, None)
                batch.append(nearer)
                if len(batch) == BATCH:
                    yield batch
                    batch = []
            yield batch

    async def _originals(self, query: CdxQuery, page: Sequence[Placed]) -> Originals:
        if RESOLVED[0] not in query.counts:
            return {}
        digests = [capture.payload_digest for _, capture in page if capture.is_revisit]
        async with self._db.read() as conn:
            return await captures.originals(conn, digests)

    async def _resume_key(self, query: CdxQuery, selection: Selection) -> str:
        if not query.paging.shows_resume_key or query.from_end or selection.following is None:
            return ""
        async with self._db.read() as conn:
            place = await captures.place_of(conn, selection.following)
        return f"{place[2]}-{place[1]}-{_checksum(place)}" if place else ""

    async def _place_of(self, resume_key: str) -> Place | None:
        """Return the position of a resume key; reject the key if its row has changed."""
        if not resume_key:
            return None
        number, _, key = resume_key.partition("-")
        place = None
        if number.isascii() and number.isdecimal() and len(number) < 19:
            async with self._db.read() as conn:
                place = await captures.place_of(conn, int(number))
        if place is None or key != f"{place[1]}-{_checksum(place)}":
            raise InputError("resumeKey is not valid for this index. Start without it.")
        return place


def _with_itself(query: CdxQuery, place: Place) -> Place:
    """Return the position after which an iteration begins with the capture at ``place``."""
    return position_after(place) if query.newest_first else before(place)


def _checksum(place: Place) -> str:
    return f"{crc32(place[0].encode()):08x}"


_Walk = tuple[KeyRange, Place | None]


def _sides(query: CdxQuery, moment: datetime, start: Place | None) -> tuple[_Walk, _Walk]:
    """Return the ranges of captures before and after a timestamp.

    Each range comes with the position after which its iteration begins, or None. With ``start``,
    the captures that come before it in the result are left out.
    """
    middle = int(to_timestamp(moment))
    older: _Walk = replace(query, last=min(middle, query.last), newest_first=True), None
    newer: _Walk = replace(query, first=max(middle + 1, query.first)), None
    if start is None:
        return older, newer
    distance = abs(to_datetime(Timestamp(f"{start[1]:014d}")) - moment)
    if start[1] <= middle:
        first = _shifted(moment, distance)
        return (older[0], position_after(start)), (
            replace(newer[0], first=max(first, middle + 1)),
            None,
        )
    last = _shifted(moment, -distance - timedelta(seconds=1))
    return (replace(older[0], last=min(last, older[0].last)), None), (newer[0], before(start))


def _shifted(moment: datetime, distance: timedelta) -> int:
    try:
        return int(to_timestamp(moment + distance))
    except OverflowError:
        return int(to_timestamp(LAST if distance > timedelta() else FIRST))


def _nearer(one: Placed | None, other: Placed | None, moment: datetime) -> Placed | None:
    if one is None or other is None:
        return one or other
    return one if _apart(one, moment) <= _apart(other, moment) else other


def _apart(placed: Placed, moment: datetime) -> timedelta:
    return abs(to_datetime(placed[1].timestamp) - moment)


async def _each(pages: AsyncGenerator[list[Placed], None]) -> AsyncGenerator[Placed, None]:
    async with aclosing(pages):
        async for page in pages:
            for placed in page:
                yield placed


class Mementos:
    """Mementos of a URL, including those of other URLs with the same SURT."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of(self, url: str) -> AsyncGenerator[Capture, None]:
        """Yield the captures with the SURT of a URL, oldest first; one per second and URL.

        Raises:
            NotInArchive: there are no captures.
        """
        key, previous = surt_key(url), ("", "")
        async with aclosing(iterate_captures(self._db, KeyRange(key, key + "\0"))) as pages:
            async for capture in (each async for page in pages for _, each in page):
                listed = (capture.timestamp, capture.url)
                if listed != previous:
                    yield capture
                previous = listed
        if previous == ("", ""):
            raise NotInArchive(url)

    async def around(self, capture: Capture) -> list[tuple[Capture, tuple[str, ...]]]:
        """Return a capture with the first, previous, next and last capture of its SURT.

        Each capture appears once, oldest first, with its relations to ``capture``: ``first``,
        ``prev``, ``next``, ``last``.
        """
        key, moment = surt_key(capture.url), int(capture.timestamp)
        whole = KeyRange(key, key + "\0")
        ranges = {
            "first": whole,
            "prev": replace(whole, last=moment - 1, newest_first=True),
            "": replace(whole, first=moment, last=moment),
            "next": replace(whole, first=moment + 1),
            "last": replace(whole, newest_first=True),
        }
        names: dict[Timestamp, tuple[Capture, list[str]]] = {}
        async with self._db.read() as conn:
            for name, key_range in ranges.items():
                for _, row in await captures.in_range(conn, key_range, after=None, limit=1):
                    listed = row if name else capture
                    names.setdefault(listed.timestamp, (listed, []))[1].append(name)
        return [(each, tuple(filter(None, relations))) for each, relations in names.values()]
