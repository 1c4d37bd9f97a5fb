"""Batches of a file of links, read while those before them are taken in."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from archiver.derive.link_file import Batch, LinkFile

PATIENCE_SECONDS = 1.0
"""So long links wait for those after them."""
LOOK_SECONDS = 0.1
AHEAD = 2
"""So many are read ahead, and taken in at once: some thousands of links each."""


class Batches:
    """What is read of a file, in order; ``read_ahead`` gives it."""

    def __init__(self, links: LinkFile, first: Batch) -> None:
        self._links = links
        self._here: deque[Batch] = deque([first] if first else [])
        self._is_over = not first
        self._room = asyncio.Semaphore(AHEAD - len(self._here))
        self._changed = asyncio.Event()
        self._reading = asyncio.create_task(self._read(), name="read-links")

    async def next(self) -> Batch | None:
        """The next links; None at the end.

        Raises:
            UnreadableFile: reading broke off behind those before.
        """
        await self._wait()
        if not self._here:
            await self._reading
            return None
        return self._taken()

    async def close(self) -> None:
        """Read no more."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        if not self._reading.cancelled():
            self._reading.exception()

    async def _wait(self) -> None:
        """Wait until something is here, or nothing more comes."""
        while not (self._here or self._reading.done()):
            self._changed.clear()
            await self._changed.wait()

    def _taken(self) -> Batch:
        """What is here: links with pages alone, others together."""
        found = [self._here.popleft()]
        while not found[0].pages and self._here and not self._here[0].pages:
            found.append(self._here.popleft())
        for _ in found:
            self._room.release()
        return Batch.joined(found) if len(found) > 1 else found[0]

    async def _read(self) -> None:
        """Read the file to its end."""
        try:
            while not self._is_over:
                await self._room.acquire()
                batch = await self._links.next_batch()
                self._is_over = not batch
                if batch:
                    self._here.append(batch)
                    self._changed.set()
        finally:
            self._changed.set()


@asynccontextmanager
async def read_ahead(links: LinkFile, first: Batch) -> AsyncIterator[Batches]:
    """Read a file, of which the first batch is here, in a task of its own.

    That batch is empty where all of the file was read before.
    """
    batches = Batches(links, first)
    try:
        yield batches
    finally:
        await batches.close()
