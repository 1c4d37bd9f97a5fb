"""Questions about captures, answered a page of the index at a time: CDX and TimeMaps."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from archiver.cdx.query import CdxQuery
from archiver.cdx.rows import CdxWriter, Row, Selection
from archiver.errors import NotInArchive
from archiver.index import captures
from archiver.index.captures import KeyRange
from archiver.index.database import Database
from archiver.memento.timestamps import pad, to_datetime
from archiver.model.capture import Capture, Timestamp
from archiver.urls.surt import surt

PAGE = 1000
MOST_NEAR = 10_000


class Cdx:
    """The captures of the archive by SURT key and time."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def mementos(self, url: str) -> AsyncGenerator[Capture, None]:
        """Every capture of a URL and of those with its SURT, oldest first, one a second of each.

        Raises:
            NotInArchive: there is none.
        """
        key, seen = surt(url), ("", "")
        async with aclosing(self._pages(KeyRange(key, key + "\0"))) as pages:
            async for capture in (each async for page in pages for each in page):
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
        return [(each, tuple(filter(None, said))) for each, said in names.values()]

    async def answer(self, query: CdxQuery) -> AsyncGenerator[bytes, None]:
        """The answer to a question, in pieces."""
        writer = CdxWriter(query)
        async with aclosing(self._rows(query)) as found:
            async for rows in found:
                yield writer.rows(rows)
        yield writer.end()

    async def _rows(self, query: CdxQuery) -> AsyncGenerator[list[Row], None]:
        if query.closest:
            yield Selection(query).select(await self._by_distance(query))
            return
        if not query.from_end:
            async for rows in self._selected(query, newest_first=query.newest_first):
                yield rows
            return
        last: list[Row] = []
        async for rows in self._selected(query, newest_first=not query.newest_first):
            last += rows
        yield last[::-1]

    async def _selected(
        self, query: CdxQuery, *, newest_first: bool
    ) -> AsyncGenerator[list[Row], None]:
        selection = Selection(query)
        async with aclosing(self._pages(_range(query, newest_first=newest_first))) as pages:
            async for page in pages:
                if rows := await asyncio.to_thread(selection.select, page):
                    yield rows
                if not selection.left:
                    return

    async def _by_distance(self, query: CdxQuery) -> list[Capture]:
        """Captures by their distance from a moment, the nearer first; so many on either side."""
        middle = pad(query.closest)
        before = replace(_range(query, newest_first=True), last=min(int(middle), query.last))
        behind = replace(_range(query), first=max(int(middle) + 1, query.first))
        async with self._db.read() as conn:
            found = [
                capture
                for side in (before, behind)
                for _, capture in await captures.in_range(conn, side, after=None, limit=MOST_NEAR)
            ]
        moment = to_datetime(middle)
        return sorted(found, key=lambda each: abs(to_datetime(each.timestamp) - moment))

    async def _pages(self, wanted: KeyRange) -> AsyncGenerator[list[Capture], None]:
        """All captures in a range, so many at a time, each time from where the last ones ended."""
        after = None
        while True:
            async with self._db.read() as conn:
                found = await captures.in_range(conn, wanted, after=after, limit=PAGE)
            if found:
                after = found[-1][0]
                yield [capture for _, capture in found]
            if len(found) < PAGE:
                return


def _range(query: CdxQuery, *, newest_first: bool = False) -> KeyRange:
    return KeyRange(query.first_key, query.last_key, query.first, query.last, newest_first)
