"""A turn that one task of a process has at a time, and whether others wait for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class OneAtATime:
    """One turn; the tasks of one event loop take it."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    @property
    def is_wanted(self) -> bool:
        """Whether a task waits for it."""
        return bool(self._waiting)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold it, once those who asked before have had it."""
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turn.release()
