"""Hosts whose pages need a browser.

A host whose newest looked-at page needed a browser is learned: its next pages are shown at once.
One time in ten its page is looked at plainly again; a host whose page is whole then is forgotten.
What was seen stands in the records and the index; here is what this process remembers of it.
"""

import asyncio
import time
import zlib

from archiver.db import hosts
from archiver.db.engine import Database
from archiver.http.urls import host
from archiver.model.job import Lease
from archiver.model.rendering import RenderHint

ONE_IN = 10
"""One time in so many a page of a learned host is looked at plainly."""
MOST_HOSTS = 50_000
REFRESH_SECONDS = 10.0
"""So often what other processes have learned is looked for."""


class LearnedHosts:
    """The hosts that were looked at and needed a browser, and those that do no longer."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[str, tuple[int, RenderHint]] = {}
        self._row = 0
        self._looked_at = float("-inf")
        self._turn = asyncio.Lock()

    async def of(self, url: str) -> RenderHint:
        """What the newest look at a page of a URL's host told; nothing where it was whole."""
        if self._is_old:
            await self._refresh()
        if not self._known:
            return RenderHint.NONE
        _, look = self._known.get(host(url), (0, RenderHint.NONE))
        return RenderHint.NONE if look is RenderHint.WHOLE else look

    def note(self, url: str, timestamp: int, look: RenderHint) -> None:
        """Learn from a look at a page."""
        if look is RenderHint.NONE:
            return
        at = host(url)
        before, _ = self._known.get(at, (0, RenderHint.NONE))
        if timestamp < before:
            return
        self._known.pop(at, None)
        self._known[at] = timestamp, look
        if len(self._known) > MOST_HOSTS:
            del self._known[next(iter(self._known))]

    @property
    def _is_old(self) -> bool:
        return time.monotonic() - self._looked_at >= REFRESH_SECONDS

    async def _refresh(self) -> None:
        async with self._turn:
            if not self._is_old:
                return
            async with self._db.read() as conn:
                found = await hosts.render_hints_after(conn, self._row, limit=MOST_HOSTS)
            self._looked_at = time.monotonic()
            for row, timestamp, look, url in found:
                self._row = row
                self.note(url, timestamp, look)


def is_asked_plainly(lease: Lease) -> bool:
    """Whether this is the one time in ten.

    A page and its newest snapshot decide, so that every process decides alike, and each page has
    its turn.
    """
    return zlib.crc32(f"{lease.entry.hash_url} {lease.latest}".encode()) % ONE_IN == 0
