"""Mementos of a URL, by time: what TimeMaps list and a TimeGate's links name."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from archiver.errors import NotInArchive
from archiver.index import capture_ranges
from archiver.index.capture_ranges import KeyRange
from archiver.index.database import Database
from archiver.model.capture import Capture, Timestamp
from archiver.services.index_walk import walk
from archiver.urls.surt import surt


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
                for _, found in await capture_ranges.in_range(conn, wanted, after=None, limit=1):
                    here = found if name else capture
                    names.setdefault(here.timestamp, (here, []))[1].append(name)
        return [(each, tuple(filter(None, relations))) for each, relations in names.values()]
