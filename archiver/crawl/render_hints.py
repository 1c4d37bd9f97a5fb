"""Render hints: hosts whose pages need a browser.

A host is remembered if its newest inspected page needed a browser; its next pages are rendered
immediately. One page in ten is inspected without a browser again, and the host is forgotten if that
page is complete. Hints are stored in records and in the index; this module caches them.
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
"""One page in this many is inspected without a browser."""
MOST_HOSTS = 50_000
REFRESH_SECONDS = 10.0
"""Interval at which hints of other processes are read."""


class RenderHints:
    """Cache of the hosts that need a browser or no longer do."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[str, tuple[int, RenderHint]] = {}
        self._row = 0
        self._looked_at = float("-inf")
        self._turn = asyncio.Lock()

    async def of(self, url: str) -> RenderHint:
        """Return the newest render hint for a URL's host; none if its page was complete."""
        if self._is_old:
            await self._refresh()
        if not self._known:
            return RenderHint.NONE
        _, look = self._known.get(host(url), (0, RenderHint.NONE))
        return RenderHint.NONE if look is RenderHint.WHOLE else look

    def note(self, url: str, timestamp: int, look: RenderHint) -> None:
        """Add the hint from a page."""
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
    """Return whether this page is the one in ten.

    The decision depends on the page and its newest snapshot, so all processes agree, and each page
    is chosen sometimes.
    """
    return zlib.crc32(f"{lease.entry.hash_url} {lease.latest}".encode()) % ONE_IN == 0
