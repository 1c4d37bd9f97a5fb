"""Dispatcher: leases jobs and refills the frontier."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from archiver.crawl.context import CrawlContext, failure_of
from archiver.crawl.crash_recovery import recover
from archiver.crawl.frontier import Frontier
from archiver.db import crawl_status, pending_records, queue, tombstones
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.model.job import Lease

IDLE_SECONDS = 0.9
"""How long until the queue is read again: another process may have added to it."""
LEASE_SECONDS = 0.1
RECOVERY_SECONDS = 30.0
SHARED_RECOVERY_SECONDS = 5.0
"""On a server, where a worker is given up if it had no lock in several looks."""
LEAVE_SECONDS = 1.0
"""How often hosts without leases are left to other workers."""
NOTE_SECONDS = 2.0
"""How long what was said of entries waits for its record while there is something to crawl."""
TROUBLE_SECONDS = 15.0
"""How long the crawl rests after the disk or the index refused something."""
NOTES = 500
DELETIONS = 8

log = get_log(__name__)


class Dispatcher:
    """The one who leases for a crawl. ``run`` is its whole life.

    Who works for ever obeys a pause; who is to empty the queue was told to.

    Args:
        context: what a crawl works with.
        frontier: that it keeps full.
        left: leases that an earlier crawl of this process broke off with and could not give back.

    Attributes:
        left: those of them that are not given back yet.
    """

    def __init__(
        self, context: CrawlContext, frontier: Frontier, left: Sequence[Lease] = ()
    ) -> None:
        self._context = context
        self._frontier = frontier
        self.left = left
        self._to_give_back: list[Lease] = []
        self._to_put_last: set[str] = set()
        self._refused = self._is_dry = False
        self._is_in_trouble = False
        self._wake = asyncio.Event()
        self._recovered = self._noted = self._left_hosts = 0.0
        self._trouble_until = 0.0

    def wake(self) -> None:
        """Say that there is something new in the queue."""
        self._wake.set()

    def heed_room(self) -> None:
        """Say that there is room for more, which is no news while nothing is queued."""
        if not (self._is_dry and self._frontier.held):
            self._wake.set()

    def give_up(self, leases: Iterable[Lease], *, refused: bool = False) -> None:
        """Leave leases to others; ``refused``: disk or index did not take what they brought."""
        before = len(self._to_give_back)
        self._to_give_back += leases
        self._refused |= refused
        if len(self._to_give_back) > before:
            self._wake.set()
        elif self._frontier.is_low:
            self.heed_room()

    def put_last(self, host: str) -> None:
        """Try other hosts first: this one died."""
        self._to_put_last.add(host)

    async def run(self, *, until_empty: bool) -> None:
        """Lease what fits, again and again, until nothing is left or for ever."""
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            self._wake.clear()
            try:
                wait = await self._fill(until_empty=until_empty)
                self._note_end_of_trouble(begun)
                if wait is None and until_empty and not await self._is_something_left():
                    return
            except StoreError as error:
                self._note_trouble(error)
                wait = TROUBLE_SECONDS
            await self._rest(IDLE_SECONDS if wait is None else wait)
            # What ends within a moment is made up for by one lease, not by one each.
            await asyncio.sleep(begun + LEASE_SECONDS - loop.time())

    def _note_trouble(self, error: StoreError) -> None:
        """Rest; it is told once, however often the crawl is called meanwhile and tries again."""
        if not self._is_in_trouble:
            log.error("the index refused; resting", exc_info=error, seconds=TROUBLE_SECONDS)
        self._is_in_trouble = True
        self._trouble_until = asyncio.get_running_loop().time() + TROUBLE_SECONDS
        self._to_give_back += self._frontier.put_aside()

    def _note_end_of_trouble(self, begun: float) -> None:
        """Tell, once, that the crawl goes on: after its rest it has looked at the queue again."""
        if self._is_in_trouble and begun >= self._trouble_until:
            self._is_in_trouble = False
            log.info("the index is to be had again; the crawl goes on")

    async def _fill(self, *, until_empty: bool) -> float | None:
        """Lease what fits; return seconds until the next look, None when all is done."""
        loop = asyncio.get_running_loop()
        self._is_dry = False
        if loop.time() >= self._recovered:
            every = SHARED_RECOVERY_SECONDS if self._context.db.locks else RECOVERY_SECONDS
            self._recovered = loop.time() + every
            await recover(self._context.db, self._context.store)
        if await self._settle_refused():
            self._trouble_until = loop.time() + TROUBLE_SECONDS
        if loop.time() < self._trouble_until:
            return self._trouble_until - loop.time()
        await self._give_back_left()
        await self._put_last()
        if not until_empty and await self._is_paused():
            return IDLE_SECONDS
        if loop.time() >= self._noted + NOTE_SECONDS:
            await self._note_changes()
        if loop.time() >= self._left_hosts + LEAVE_SECONDS:
            self._left_hosts = loop.time()
            await self._frontier.leave_hosts()
        is_full, due = await self._take()
        if is_full:
            return IDLE_SECONDS
        self._is_dry = due is None
        if due is None and not self._frontier.held:
            return IDLE_SECONDS if await self._note_changes() else None
        return min(due, IDLE_SECONDS) if due else IDLE_SECONDS

    async def _take(self) -> tuple[bool, float | None]:
        """Lease what is due and fits.

        Returns:
            Whether there is enough to do now; if not, in how many seconds there may be something
            to lease, None where nothing is queued.
        """
        has_room = await self._has_room()
        if has_room and not self._frontier.is_low:
            return True, None
        if has_room and await self._frontier.lease():
            return True, None
        await self._frontier.settle_only()
        return False, await self._frontier.due_in()

    async def _settle_refused(self) -> bool:
        """Give back what can't go on here; whether that is since the disk or the index refused."""
        back, self._to_give_back = self._to_give_back, []
        refused, self._refused = self._refused, False
        if back:
            try:
                await self._context.recorder.settle_refused()
                await self._frontier.give_back(back, interrupted=refused)
            except StoreError:
                self._to_give_back += back
                self._refused |= refused
                raise
        return refused

    async def _give_back_left(self) -> None:
        """Give back what an earlier crawl of this process had leased, once its records count."""
        if self.left:
            await self._context.recorder.settle_refused()
            await self._frontier.give_back(self.left)
            self.left = ()

    async def _put_last(self) -> None:
        """Tell those that wait for hosts that died lately, and try others first.

        What timed out there before is written down by then: it would come back where it was.
        """
        hosts, self._to_put_last = self._to_put_last, set()
        if hosts:
            try:
                await self._context.recorder.settled()
            except StoreError:
                self._to_put_last |= hosts
                raise
        for host in hosts:
            async with self._context.db.write() as conn:
                await queue.put_last(conn, host, failure_of(host), now=datetime.now(UTC))

    async def _is_paused(self) -> bool:
        """Whether nothing is to be fetched for now; what was not begun is then given back."""
        async with self._context.db.read() as conn:
            paused = await crawl_status.is_paused(conn)
        if paused:
            await self._put_aside()
        return paused

    async def _has_room(self) -> bool:
        """Whether what is fetched can be taken; else nothing is before the store took something."""
        is_full = self._context.store.shelf.is_full
        if is_full:
            await self._put_aside()
        return not is_full

    async def _put_aside(self) -> None:
        """Give back what was not begun."""
        if aside := self._frontier.put_aside():
            await self._frontier.give_back(aside, interrupted=False)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _is_something_left(self) -> bool:
        """Return whether there is something to do after all: a process may have died lately."""
        db = self._context.db
        await recover(db, self._context.store)
        if await self._frontier.due_in() is not None:
            return True
        async with db.read() as conn:
            holders = await queue.job_owners(conn)
        return db.given_up.is_any_suspected(holders)

    async def _note_changes(self) -> bool:
        """Write down what was said of entries that no visit will close soon."""
        self._noted = asyncio.get_running_loop().time()
        async with self._context.db.read() as conn:
            changed = await pending_records.oldest(conn, NOTES)
            owed = await tombstones.owed(conn, limit=DELETIONS)
        await self._context.recorder.note(changed)
        await self._context.recorder.write_down(owed)
        return bool(changed or owed)
