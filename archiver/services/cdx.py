"""Questions about captures as CDX servers answer them, a page of the index at a time."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from zlib import crc32

from archiver.cdx.fields import RESOLVED
from archiver.cdx.query import CdxQuery
from archiver.cdx.rows import Originals, Row, Selection
from archiver.cdx.writers import CdxWriter
from archiver.errors import InputError, NotInArchive
from archiver.index import capture_ranges, originals
from archiver.index.capture_ranges import KeyRange, Place, Placed
from archiver.index.database import Database
from archiver.memento.timestamps import pad, to_datetime, to_timestamp
from archiver.model.capture import Capture, Timestamp
from archiver.services.cdx_pages import CdxPages, Stretch, before, behind
from archiver.services.index_walk import walk
from archiver.wire.moments import FIRST, LAST

TOGETHER = 100
"""Captures that are looked at together where they come one by one."""
LOOKED_BACK = 1000
"""Captures before a page's first that tell with which neighbours it collapses."""


class Cdx:
    """Answers CDX questions."""

    def __init__(self, db: Database, pages: CdxPages | None = None) -> None:
        self._db = db
        self._pages = pages or CdxPages(db)

    async def answer(self, query: CdxQuery) -> AsyncGenerator[bytes, None]:
        """The answer to a question, in pieces.

        Raises:
            InputError: there is no such page, or the resume key is none of this index.
            NotInArchive: there is no row, and pywb would say so.
        """
        if query.paging.is_counted:
            yield await self._page_count(query)
            return
        start = await self._place_of(query.paging.resume_key)
        stretch = await self._stretch(query)
        if stretch is None:
            return
        selection, writer = Selection(query), CdxWriter(query)
        if query.collapse and query.paging.number and not start:
            selection.prime(await self._before(query, stretch))
        empty = True
        async with aclosing(self._rows(query, selection, stretch, start)) as found:
            async for rows in found:
                empty = False
                yield writer.rows(rows)
        if empty and query.pywb:
            raise NotInArchive(query.first_key)
        yield writer.end(await self._resume_key(query, selection))

    async def _page_count(self, query: CdxQuery) -> bytes:
        pages, blocks = await self._pages.count(query)
        if query.pywb:
            document = {"pages": pages, "pageSize": query.paging.blocks, "blocks": blocks}
            return json.dumps(document).encode() + b"\n"
        return f"{pages}\n".encode()

    async def _stretch(self, query: CdxQuery) -> Stretch | None:
        """The part of the index that is asked for; None for a page behind the last one."""
        if query.paging.number is None:
            return Stretch()
        found = await self._pages.stretch(query)
        if found is None and query.pywb:
            pages, _ = await self._pages.count(query)
            raise InputError(
                f"Page {query.paging.number} invalid: First Page is 0, Last Page is {pages - 1}"
            )
        return found

    async def _before(self, query: CdxQuery, stretch: Stretch) -> list[tuple[str, Capture, int]]:
        """What stands before a page, as far as it tells which neighbours collapse."""
        if stretch.after is None:
            return []
        turned = replace(_range(query), newest_first=not query.newest_first)
        edge = before(stretch.after) if query.newest_first else behind(stretch.after)
        async with self._db.read() as conn:
            found = await capture_ranges.in_range(conn, turned, after=edge, limit=LOOKED_BACK)
        return [(place[0], capture, place[2]) for place, capture in reversed(found)]

    async def _rows(
        self, query: CdxQuery, selection: Selection, stretch: Stretch, start: Place | None
    ) -> AsyncGenerator[list[Row], None]:
        last: list[Row] = []
        async with aclosing(self._found(query, stretch, start)) as pages:
            async for page in pages:
                originals = await self._originals(query, page)
                some = [(place[0], capture, place[2]) for place, capture in page]
                rows = await asyncio.to_thread(selection.select, some, originals)
                if query.from_end:
                    last += rows
                elif rows:
                    yield rows
                if selection.is_done:
                    break
        if rows := [*last[::-1], *selection.rest()]:
            yield rows

    def _found(
        self, query: CdxQuery, stretch: Stretch, start: Place | None
    ) -> AsyncGenerator[list[Placed], None]:
        """Captures in the order they are walked, from a place on if one is given."""
        if query.closest:
            return self._by_distance(query, start)
        wanted = _range(query)
        if start:
            stretch = replace(
                stretch, after=behind(start) if wanted.newest_first else before(start)
            )
        return walk(self._db, wanted, after=stretch.after, until=stretch.until)

    async def _by_distance(
        self, query: CdxQuery, start: Place | None
    ) -> AsyncGenerator[list[Placed], None]:
        """Captures by their distance from a moment, the nearer and of two the older first."""
        moment = to_datetime(pad(query.closest))
        older, newer = _sides(query, moment, start)
        async with (
            aclosing(_each(walk(self._db, *older))) as back,
            aclosing(_each(walk(self._db, *newer))) as forth,
        ):
            one, other = await anext(back, None), await anext(forth, None)
            some: list[Placed] = []
            while nearer := _nearer(one, other, moment):
                if nearer is one:
                    one = await anext(back, None)
                else:
                    other = await anext(forth, None)
                some.append(nearer)
                if len(some) == TOGETHER:
                    yield some
                    some = []
            yield some

    async def _originals(self, query: CdxQuery, page: Sequence[Placed]) -> Originals:
        if RESOLVED[0] not in query.counts:
            return {}
        digests = [capture.payload_digest for _, capture in page if capture.is_revisit]
        async with self._db.read() as conn:
            return await originals.originals(conn, digests)

    async def _resume_key(self, query: CdxQuery, selection: Selection) -> str:
        if not query.paging.shows_resume_key or query.from_end or selection.following is None:
            return ""
        async with self._db.read() as conn:
            place = await capture_ranges.place_of(conn, selection.following)
        return f"{place[2]}-{place[1]}-{_mark(place)}" if place else ""

    async def _place_of(self, resume_key: str) -> Place | None:
        """Where an answer goes on; the key names the row, and tells whether it is still that."""
        if not resume_key:
            return None
        number, _, rest = resume_key.partition("-")
        place = None
        if number.isascii() and number.isdecimal() and len(number) < 19:
            async with self._db.read() as conn:
                place = await capture_ranges.place_of(conn, int(number))
        if place is None or rest != f"{place[1]}-{_mark(place)}":
            raise InputError("resumeKey is none of this index: start without one.")
        return place


def _mark(place: Place) -> str:
    return f"{crc32(place[0].encode()):08x}"


def _range(query: CdxQuery) -> KeyRange:
    backwards = query.newest_first is not query.from_end
    return KeyRange(query.first_key, query.last_key, query.first, query.last, backwards)


_Walk = tuple[KeyRange, Place | None]


def _sides(query: CdxQuery, moment: datetime, start: Place | None) -> tuple[_Walk, _Walk]:
    """The walks from a moment to the past and to the future; what was given already left out."""
    middle = int(to_timestamp(moment))
    whole = _range(query)
    older: _Walk = replace(whole, last=min(middle, whole.last), newest_first=True), None
    newer: _Walk = replace(whole, first=max(middle + 1, whole.first)), None
    if start is None:
        return older, newer
    gone = abs(to_datetime(Timestamp(f"{start[1]:014d}")) - moment)
    if start[1] <= middle:
        first = _shifted(moment, gone)
        return (older[0], behind(start)), (replace(newer[0], first=max(first, middle + 1)), None)
    last = _shifted(moment, -gone - timedelta(seconds=1))
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
