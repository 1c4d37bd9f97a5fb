"""CDX queries and TimeMaps.

A page has a number and nothing else, so who asks for the next one must be answered by the pages
that the last one was of, whatever was captured meanwhile: what is new joins the page it falls into.
"""

import asyncio
import json
import time
from array import array
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zlib import crc32

from archiver.db import captures
from archiver.db.captures import KeyRange, Place, Placed
from archiver.db.engine import Database
from archiver.errors import InputError, NotInArchive
from archiver.http.surt import surt
from archiver.http.timestamps import FIRST, LAST, pad, to_datetime, to_timestamp
from archiver.model.capture import Capture, Timestamp
from archiver.replay.cdx_query import BLOCK_CAPTURES, RESOLVED, CdxQuery
from archiver.replay.cdx_rows import CdxWriter, Originals, Row, Selection

PAGE = 1000


async def walk(
    db: Database, wanted: KeyRange, after: Place | None = None, until: Place | None = None
) -> AsyncGenerator[list[Placed], None]:
    """All captures of a range, between two places in the direction of the walk."""
    while True:
        async with db.read() as conn:
            found = await captures.in_range(conn, wanted, after=after, limit=PAGE)
        inside = [each for each in found if _is_before(each[0], until, wanted)]
        if inside:
            after = inside[-1][0]
            yield inside
        if len(inside) < PAGE:
            return


def _is_before(place: Place, until: Place | None, wanted: KeyRange) -> bool:
    if until is None:
        return True
    return place > until if wanted.newest_first else place < until


KEPT_SECONDS = 600
"""How long the blocks of a range are kept after they were last asked for."""
MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a walk: what lies between two places, in its direction; None leaves it open."""

    after: Place | None = None
    until: Place | None = None


@dataclass(slots=True)
class _Blocks:
    starts: "array[int]"
    used_at: float


class CdxPages:
    """Knows the blocks of the ranges that were asked for lately: eight bytes a block."""

    def __init__(
        self,
        db: Database,
        *,
        block: int = BLOCK_CAPTURES,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._block = block
        self._now = now
        self._kept: OrderedDict[KeyRange, _Blocks] = OrderedDict()
        self._turn = asyncio.Lock()

    async def count(self, query: CdxQuery) -> tuple[int, int]:
        """How many pages the answer has, and of how many blocks."""
        blocks = len(await self._starts(query))
        return -(-blocks // query.paging.blocks), blocks

    async def stretch(self, query: CdxQuery) -> Stretch | None:
        """Where the page that is asked for lies; None if there is no such page."""
        number, size = query.paging.number or 0, query.paging.blocks
        starts = await self._starts(query)
        if number * size >= len(starts):
            return None if number else Stretch()
        first, last = number * size, (number + 1) * size
        if query.newest_first:
            first, last = max(len(starts) - last, 0), len(starts) - first
        begin = await self._place(starts[first]) if first else None
        end = await self._place(starts[last]) if last < len(starts) else None
        if query.newest_first:
            return Stretch(end, begin and before(begin))
        return Stretch(begin and before(begin), end)

    async def _starts(self, query: CdxQuery) -> "array[int]":
        wanted = KeyRange(query.first_key, query.last_key, query.first, query.last)
        async with self._turn:
            self._forget()
            known = self._kept.get(wanted) or _Blocks(await self._walk(wanted), 0)
            known.used_at = self._now()
            self._kept[wanted] = known
            self._kept.move_to_end(wanted)
            return known.starts

    async def _walk(self, wanted: KeyRange) -> "array[int]":
        starts: array[int] = array("q")
        place: Place | None = None
        while True:
            async with self._db.read() as conn:
                place = await captures.block_after(conn, wanted, after=place, size=self._block)
            if place is None:
                return starts
            starts.append(place[2])

    async def _place(self, row_id: int) -> Place:
        async with self._db.read() as conn:
            place = await captures.place_of(conn, row_id)
        if place is None:
            raise InputError("The index was built again: start from the first page.")
        return place

    def _forget(self) -> None:
        oldest = self._now() - KEPT_SECONDS
        while self._kept:
            wanted, blocks = next(iter(self._kept.items()))
            if len(self._kept) <= MOST_KEPT and blocks.used_at >= oldest:
                return
            del self._kept[wanted]


def before(place: Place) -> Place:
    """The place right before one: what comes after it begins with that."""
    key, timestamp, row_id = place
    return key, timestamp, row_id - 1


def behind(place: Place) -> Place:
    """The place right behind one."""
    key, timestamp, row_id = place
    return key, timestamp, row_id + 1


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
            found = await captures.in_range(conn, turned, after=edge, limit=LOOKED_BACK)
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
            return await captures.originals(conn, digests)

    async def _resume_key(self, query: CdxQuery, selection: Selection) -> str:
        if not query.paging.shows_resume_key or query.from_end or selection.following is None:
            return ""
        async with self._db.read() as conn:
            place = await captures.place_of(conn, selection.following)
        return f"{place[2]}-{place[1]}-{_mark(place)}" if place else ""

    async def _place_of(self, resume_key: str) -> Place | None:
        """Where an answer goes on; the key names the row, and tells whether it is still that."""
        if not resume_key:
            return None
        number, _, rest = resume_key.partition("-")
        place = None
        if number.isascii() and number.isdecimal() and len(number) < 19:
            async with self._db.read() as conn:
                place = await captures.place_of(conn, int(number))
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


class Mementos:
    """The captures of a URL and of those with its SURT."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of(self, url: str) -> AsyncGenerator[Capture, None]:
        """Every capture of a URL and of those with its SURT, oldest first, one a second of each.

        Raises:
            NotInArchive: there is none.
        """
        key, seen = surt(url), ("", "")
        async with aclosing(walk(self._db, KeyRange(key, key + "\0"))) as pages:
            async for capture in (each async for page in pages for _, each in page):
                here = (capture.timestamp, capture.url)
                if here != seen:
                    yield capture
                seen = here
        if seen == ("", ""):
            raise NotInArchive(url)

    async def around(self, capture: Capture) -> list[tuple[Capture, tuple[str, ...]]]:
        """A capture, with the first, the one before, the one after and the last of its URL.

        Each comes once, in time, with what it is of all: ``first``, ``prev``, ``next``, ``last``.
        """
        key, moment = surt(capture.url), int(capture.timestamp)
        whole = KeyRange(key, key + "\0")
        asked = {
            "first": whole,
            "prev": replace(whole, last=moment - 1, newest_first=True),
            "": replace(whole, first=moment, last=moment),
            "next": replace(whole, first=moment + 1),
            "last": replace(whole, newest_first=True),
        }
        names: dict[Timestamp, tuple[Capture, list[str]]] = {}
        async with self._db.read() as conn:
            for name, wanted in asked.items():
                for _, found in await captures.in_range(conn, wanted, after=None, limit=1):
                    here = found if name else capture
                    names.setdefault(here.timestamp, (here, []))[1].append(name)
        return [(each, tuple(filter(None, relations))) for each, relations in names.values()]
