"""How hosts are spared by machines that share an index.

Whoever holds a host has its pages to itself. What other pages need of it, and redirects that lead
there, go by a share: what the host may be asked for, divided among the processes that are alive;
where that is less than one each, by a turn that all have in common. What a host asked for (429,
503) lies in rows that every process reads each second.
"""

import asyncio
import math
from collections.abc import Callable, Collection, Mapping

from archiver.config import Settings
from archiver.errors import FencedOff, IndexUnavailable
from archiver.finishing import both
from archiver.index import holds
from archiver.index.clock import boot_seconds
from archiver.index.database import AsyncConnection, Database
from archiver.logs import get_log

LOOK_SECONDS = 1.0
TURN_SECONDS = 0.2
"""How often it is tried to have a turn."""

log = get_log(__name__)


class SharedHosts:
    """What one process may ask of which host. ``keep_up`` is its one task.

    Args:
        db: a shared index.
        owner: the run lock's name of this process.
        settings: how much a host may be asked for by all together.
    """

    def __init__(self, db: Database, owner: str, settings: Settings) -> None:
        self._db = db
        self._owner = owner
        self._most = settings.host_concurrency
        self._delay = settings.host_delay
        self._holding: set[str] = set()
        self._crawlers = 1
        self._known = asyncio.Event()
        self._news = asyncio.Event()
        self._rests: dict[str, float] = {}
        self._turns: dict[str, int] = {}

    @property
    def crawlers(self) -> int:
        """How many processes may ask hosts, as it was a second ago."""
        return self._crawlers

    async def permit(self) -> None:
        """Wait until this process may ask the web for something, and knows who else does.

        Raises:
            FencedOff: it never may again.
            IndexUnavailable: the index can't be had.
        """
        await self._db.permit()
        await self.acquainted()

    async def acquainted(self) -> None:
        """Wait until it is known who else works the queue."""
        await self._known.wait()

    def room(self, host: str) -> int:
        """How many requests this process may have under way at a host."""
        part, others = self._most // self._crawlers, self._crawlers - 1
        if host in self._holding:
            return max(self._most - max(part * others, min(others, 1)), 1)
        return max(part, 1)

    def delay(self, host: str) -> float:
        """Seconds between two requests of this process to a host."""
        return self._delay if host in self._holding else self._delay * self._crawlers

    def is_by_turn(self, host: str) -> bool:
        """Whether a request needs the turn that all have in common."""
        is_short = self._most < self._crawlers
        return is_short and (self._most == 1 or host not in self._holding)

    async def take_turn(self, host: str) -> float:
        """Wait for the turn at a host; for how many seconds that wants to be left alone yet.

        Raises:
            FencedOff: this process may not have it any more.
        """
        is_told = False
        while True:
            is_taken = False
            try:
                async with self._db.write() as conn:
                    if is_taken := await holds.take_turn(conn, self._owner, host):
                        rest = await holds.rest_of(conn, host)
            except BaseException as error:
                if is_taken:  # that may be committed, and nobody takes it from who lives
                    self.end_turn(host, spaced=False)
                if isinstance(error, FencedOff) or not isinstance(error, IndexUnavailable):
                    raise
                if not is_told:
                    log.warning("the index is not to be had; a turn waits", host=host)
                is_told = True
            else:
                if is_taken:
                    return rest / 1000
            await asyncio.sleep(TURN_SECONDS)

    def end_turn(self, host: str, *, spaced: bool) -> None:
        """Give the turn back, soon."""
        self._turns[host] = _at_least_ms(self._delay) if spaced else 0
        self._news.set()

    def note_rest(self, host: str, seconds: float) -> None:
        """Tell all others, soon, that a host wants to be left alone."""
        self._rests[host] = boot_seconds() + seconds
        self._news.set()

    async def hold(self, conn: AsyncConnection, hosts: Collection[str]) -> None:
        """Hold the hosts of leases that were had in this transaction."""
        if hosts:
            await holds.hold(conn, self._owner, hosts, delay_ms=_at_least_ms(self._delay))

    def is_any_idle(self, busy: Collection[str]) -> bool:
        """Whether a host is held of which there is no lease, where others could ask it."""
        return self._crawlers > 1 and not self._holding <= {*busy}

    async def let_go(self, conn: AsyncConnection, busy: Collection[str]) -> None:
        """Leave the hosts to others of which there is no lease, and tell what those asked for."""
        left = {host: until for host, until in self._rests.items() if host not in busy}
        await self._note_rests(conn, left)
        await holds.let_go(conn, self._owner, self._holding - {*busy})

    def settle(self, busy: Collection[str]) -> None:
        """Go by this from now on: it is committed that these are held, and no others."""
        self._holding = {*busy}

    async def keep_up(self, rest: Callable[[str, float], None]) -> None:
        """Write down what was noted, and read what others did, for ever.

        Args:
            rest: told which host wants to be left alone for how many seconds.
        """
        await self._write_news()
        await self._meet(rest)
        await both(self._keep_looking(rest), self._keep_writing())

    async def _keep_looking(self, rest: Callable[[str, float], None]) -> None:
        while True:
            await self._look(rest)

    async def _keep_writing(self) -> None:
        while True:
            self._news.clear()
            await self._write_news()
            await self._news.wait()

    async def _write_news(self) -> None:
        if not (self._rests or self._turns) and self._known.is_set():
            return
        rests, turns = dict(self._rests), dict(self._turns)
        async with self._db.write() as conn:
            await self._note_rests(conn, rests)
            for host, wait_ms in turns.items():
                await holds.end_turn(conn, self._owner, host, wait_ms=wait_ms)
        for host, until in rests.items():
            if self._rests.get(host) == until:
                del self._rests[host]
        for host in turns:
            self._turns.pop(host, None)

    async def _note_rests(self, conn: AsyncConnection, rests: Mapping[str, float]) -> None:
        if rests:
            now = boot_seconds()
            left = {host: _at_least_ms(until - now) for host, until in rests.items()}
            await holds.note_rests(conn, left)

    async def _meet(self, rest: Callable[[str, float], None]) -> None:
        """Learn who else is there, who are to know of this one, too."""
        if not self._known.is_set():
            if await self._look(rest) > 1:
                await asyncio.sleep(2 * LOOK_SECONDS)  # others are to know of this one first
                await self._look(rest)  # and this one of what hosts asked them for meanwhile
            self._known.set()

    async def _look(self, rest: Callable[[str, float], None]) -> int:
        async with self._db.read() as conn:
            crawlers, rests = await holds.crawlers(conn), await holds.rests(conn)
        for host, left_ms in rests.items():
            rest(host, left_ms / 1000)
        self._crawlers = max(crawlers, 1)
        return crawlers


def _at_least_ms(seconds: float) -> int:
    """So many seconds as whole milliseconds of the server's clock, and no less.

    Both moments between which they pass are rounded to the nearest, by half of one at the most.
    """
    return math.ceil(seconds * 1000) + 1 if seconds > 0 else 0
