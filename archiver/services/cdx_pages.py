"""Pages of CDX answers: where each begins, fixed for as long as somebody turns them.

A page has a number and nothing else, so who asks for the next one must be answered by the pages
that the last one was of, whatever was captured meanwhile: what is new joins the page it falls into.
"""

import asyncio
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from archiver.cdx.query import BLOCK, CdxQuery
from archiver.errors import InputError
from archiver.index import capture_ranges
from archiver.index.capture_ranges import KeyRange, Place
from archiver.index.database import Database

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
        self, db: Database, *, block: int = BLOCK, now: Callable[[], float] = time.monotonic
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
                place = await capture_ranges.block_after(
                    conn, wanted, after=place, size=self._block
                )
            if place is None:
                return starts
            starts.append(place[2])

    async def _place(self, row_id: int) -> Place:
        async with self._db.read() as conn:
            place = await capture_ranges.place_of(conn, row_id)
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
