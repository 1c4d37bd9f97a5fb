"""Joins small segments of a store into larger ones, which are read as quickly and listed sooner.

Of remote commits each batch is an object (docs/decisions/0137-remote-commit.md). What is joined
lies in the store before the index is pointed at it, in one transaction; the parts go last, once
nobody reads them any more.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate

from archiver.archive import LOCKS
from archiver.config import Settings
from archiver.errors import StoreError
from archiver.index import segments
from archiver.index.database import Database
from archiver.index.joining import join
from archiver.ledger.settled import why_unsettled
from archiver.logs import get_log
from archiver.store.editions import joined_name
from archiver.store.joining import MOST_JOINED, runs, write_joined
from archiver.store.locks import alone
from archiver.store.segments import SegmentStore
from archiver.store.shelf import UploadingShelf
from archiver.store.survey import SegmentFile

LOOK_SECONDS = 5.0
LONGEST_REST_SECONDS = 300.0
READ_SECONDS = 120.0
"""For so long whoever has read of a part where it lies may still read it."""

log = get_log(__name__)


class Joining:
    """Joins. ``keep_joining`` is the runtime's, as a task."""

    def __init__(
        self, db: Database, store: SegmentStore, shelf: UploadingShelf, settings: Settings
    ) -> None:
        self._db = db
        self._store = store
        self._shelf = shelf
        self._most_bytes = settings.seal_bytes
        self._lock = settings.data / LOCKS / "compact"
        self._leaving: deque[tuple[float, Sequence[SegmentFile]]] = deque()

    async def keep_joining(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """Join the batches of this process whenever they make a whole segment; never ends.

        Where the store fails, the next look is twice as far away each time: what it takes to find
        that out is a whole segment, read and sent. ``sleep`` is for tests.
        """
        rest = LOOK_SECONDS
        while True:
            await sleep(rest)
            try:
                await self._join_own()
                await self.remove_parts()
            except StoreError as error:
                log.warning("segments are not joined", reason=str(error))
                rest = min(2 * rest, LONGEST_REST_SECONDS)
            else:
                rest = LOOK_SECONDS

    async def join_all(self, found: Sequence[SegmentFile]) -> int:
        """Join whatever is settled of some segments; how many went into others.

        The caller alone compacts.

        Raises:
            StoreError: the store does not take it.
        """
        async with self._db.read() as conn:
            indexed = await segments.indexed(conn)
        settled = [each for each in found if not why_unsettled(each, found, indexed, self._store)]
        joined = 0
        for run in [*runs(settled, self._most_bytes)]:
            joined += len(run) if await self._join(run) else 0
        return joined

    async def _join_own(self) -> None:
        batches = [*self._store.batches]
        if sum(each.size for each in batches) < self._most_bytes and len(batches) < MOST_JOINED:
            return
        with alone(self._lock) as is_alone:
            if not is_alone:
                return
            for run in [*runs(batches, self._most_bytes)]:
                await self._join(run)
                self._leave_out(run)
        self._leave_out(batches)

    def _leave_out(self, seen: Sequence[SegmentFile]) -> None:
        """Look at these batches no more; what the dead left is among them, in no order of ours."""
        waiting, names = self._store.batches, {each.name for each in seen}
        for _ in range(len(waiting)):
            if (each := waiting.popleft()).name not in names:
                waiting.append(each)

    async def _join(self, parts: Sequence[SegmentFile]) -> bool:
        """Let some segments be one; whether they are, and not changed meanwhile."""
        name = joined_name(parts[0].name, parts[-1].name)
        size = sum(each.size for each in parts)
        begins = accumulate((each.size for each in parts), initial=0)
        starts = {each.name: start for each, start in zip(parts, begins, strict=False)}
        path = self._shelf.directory / f".{name}.new"
        async with self._db.read() as conn:
            if await segments.indexed_of(conn, [name, *starts]) != _sizes(parts):
                return False  # whoever compacts has joined them, or written one anew
        try:
            await asyncio.to_thread(write_joined, self._shelf, parts, path)
            await asyncio.to_thread(self._shelf.put_file, path, name)
            async with self._db.write() as conn:
                indexed = await segments.indexed_of(conn, [name, *starts])
                if indexed != _sizes(parts):
                    if name not in indexed:
                        await conn.waiting_for(asyncio.to_thread(self._shelf.remove, name))
                    return False
                # Asked anew: another machine may have found it without its index, and removed it.
                found = asyncio.to_thread(lambda: self._shelf.open_whole(name).size)
                if await conn.waiting_for(found) != size:
                    raise StoreError(f"{name} is not as it was put into the store.")
                await join(conn, starts, name, size=size)
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        log.info("joined", segment=name, parts=len(parts), bytes=size)
        self._leaving.append((asyncio.get_running_loop().time(), parts))
        return True

    async def remove_parts(self, read_seconds: float = READ_SECONDS) -> None:
        """Remove what was joined so long ago.

        Raises:
            StoreError: the store does not answer.
        """
        before = asyncio.get_running_loop().time() - read_seconds
        while self._leaving and self._leaving[0][0] <= before:
            for part in self._leaving[0][1]:
                await asyncio.to_thread(self._shelf.remove, part.name)
            self._leaving.popleft()


def _sizes(parts: Sequence[SegmentFile]) -> dict[str, int]:
    return {each.name: each.size for each in parts}
