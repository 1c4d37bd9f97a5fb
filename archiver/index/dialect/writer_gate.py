"""A gate that one task of one process at a time passes, in files beside an index.

SQLite lets in whoever asks just then, after sleeps of up to a tenth of a second: two that write
much would spend their time asleep.
"""

import asyncio
import fcntl
import math
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from archiver.errors import IndexUnavailable
from archiver.index.dialect.one_at_a_time import OneAtATime

LOCKS = "run"
GATE_SECONDS = 0.002
HURRY_SECONDS = 3
_IN_THE_WAY = "another process writes, and we stop"


class Gate:
    """The gate of one index; its files are opened when it is first passed.

    Attributes:
        last_moment: until when anything is waited for (``time.monotonic``).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last_moment = math.inf
        self._turn = OneAtATime()
        self._gate = -1
        self._wanted = -1
        self._others_first = False

    def hurry(self) -> None:
        """Wait for some seconds in all, and no longer."""
        self.last_moment = min(self.last_moment, time.monotonic() + HURRY_SECONDS)

    def is_wanted(self) -> bool:
        """Whether somebody waits to pass, in any process."""
        return self._turn.is_wanted or self._is_wanted_elsewhere()

    def _is_wanted_elsewhere(self) -> bool:
        if try_lock(self._wanted):
            fcntl.flock(self._wanted, fcntl.LOCK_UN)
            return False
        return True

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[None]:
        """Hold what only one task of one process has at a time."""
        self._open_locks()
        async with self._turn.taken():
            await self._pass()
            try:
                yield
            finally:
                fcntl.flock(self._gate, fcntl.LOCK_UN)
                self._others_first = self._is_wanted_elsewhere()

    async def _pass(self) -> None:
        """Wait until no other process writes, and say so meanwhile."""
        if self._others_first:
            await asyncio.sleep(2 * GATE_SECONDS)
        if try_lock(self._gate):
            return
        try:
            # Nothing tells a loop that another process let go; a thread's wait can't be broken off.
            while not try_lock(self._gate):
                if time.monotonic() >= self.last_moment:
                    raise IndexUnavailable(
                        "{path} can't be written: {in_the_way}.",
                        path=self.path,
                        in_the_way=_IN_THE_WAY,
                    )
                try_lock(self._wanted, fcntl.LOCK_SH)
                await asyncio.sleep(GATE_SECONDS)
        finally:
            fcntl.flock(self._wanted, fcntl.LOCK_UN)

    def _open_locks(self) -> None:
        if self._gate < 0:
            locks, flags = self.path.parent / LOCKS, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
            self._gate = os.open(locks / "writing", flags, 0o644)
            self._wanted = os.open(locks / "wanted", flags, 0o644)

    def close(self) -> None:
        """Let go of the files."""
        if self._gate >= 0:
            os.close(self._gate)
            os.close(self._wanted)
            self._gate = self._wanted = -1


def try_lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock a file, unless somebody else has."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
