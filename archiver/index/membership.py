"""A process among others at a shared index: its row, its signs of life, and what it may do.

Who was silent for too long is taken for dead: its row goes, and with it the right to write. So a
process must stop asking the web before others may think so, and by a clock that goes on while it
is stopped.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from archiver.errors import FencedOff
from archiver.finishing import to_its_end
from archiver.index import writers
from archiver.index.clock import Clock, boot_seconds
from archiver.index.schema import HEAD
from archiver.logs import get_log

BEATS = 6
"""So many signs of life are given within a lease."""
SURE = 2 / 3
"""The part of a lease after which, without one, nothing more is fetched."""
_FENCED_OFF = (
    "Another machine took this process for dead: the index did not hear of it for {seconds} "
    "seconds. What it had under way is done by others; start it again."
)
_CHANGED = (
    "A newer version of archiver has changed the index (schema {found}, this one knows {known}): "
    "this process writes no more. Update the program here too, and start it again."
)

_REPLACED = (
    "A replica took the place of the index's server, and may lack what was written last: this "
    "process writes no more. What it has fetched is taken up when it is started again."
)

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Member:
    """Who takes part.

    Attributes:
        name: of its run lock, unique to this life.
        machine: that it runs on.
        lease: seconds without a sign of life after which it is dead to others.
    """

    name: str
    machine: str
    lease: float


class Membership:
    """What one process has of a shared index besides rows. Opened by its first writing.

    Attributes:
        member: who this is.
        error: why this process may do nothing more; None while it may.
        on_lost: called once this process may do nothing more.
    """

    on_lost: Callable[[], object]

    def __init__(self, member: Member, engine: AsyncEngine) -> None:
        self.member = member
        self._engine = engine
        self._clock = Clock()
        self._entering = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()
        self._beat_at = self._steady_since = float("-inf")
        self._history = ""
        self.error: FencedOff | None = None
        self.on_lost = _nothing

    @property
    def is_steady(self) -> bool:
        """Whether the index heard of this process for a whole lease, without a gap."""
        return self._is_sure and boot_seconds() - self._steady_since >= self.member.lease

    async def enter(self) -> None:
        """Have a row of its own, before the first writing, or none where that fails."""
        async with self._entering:
            if self._beating is None:
                await to_its_end(self._have_row())

    async def _have_row(self) -> None:
        begun = boot_seconds()
        async with self._engine.begin() as conn:
            moment, self._history = await writers.enter(
                conn,
                self.member.name,
                machine=self.member.machine,
                lease_ms=round(self.member.lease * 1000),
            )
        self._clock.set(moment)
        self._was_heard(begun)
        self._beating = asyncio.create_task(self._keep_beating(), name="signs-of-life")

    async def check(self, conn: AsyncConnection) -> None:
        """See, in a writing transaction, that this process may write.

        Raises:
            FencedOff: it may not.
        """
        moment = await writers.found(conn, self.member.name, self._history)
        if moment is None:
            raise await self._lose(conn)
        self._clock.set(moment)

    async def permit(self) -> None:
        """Wait until this process may ask the web for something.

        Raises:
            FencedOff: it never may again.
        """
        await self.enter()
        while not self._is_sure:
            if self.error:
                raise self.error.with_traceback(None)  # it is raised for all who wait
            self._heard.clear()
            await self._heard.wait()

    async def leave(self) -> None:
        """Give the row back: this process ends."""
        async with self._entering:
            if self._beating:
                self._beating.cancel()
                await asyncio.wait([self._beating])
                if not self.error:
                    with suppress(DBAPIError):  # it is taken away once its lease is over
                        async with self._engine.begin() as conn:
                            await writers.leave(conn, self.member.name)
        await self._engine.dispose()

    @property
    def _is_sure(self) -> bool:
        return not self.error and boot_seconds() - self._beat_at < SURE * self.member.lease

    async def _keep_beating(self) -> None:
        is_silent = False
        while not self.error:
            await asyncio.sleep(self.member.lease / BEATS)
            try:
                await self._beat()
                is_silent = False
            except DBAPIError:
                if not is_silent:
                    log.warning("the index does not hear of this process")
                is_silent = True

    async def _beat(self) -> None:
        begun = boot_seconds()
        async with self._engine.begin() as conn:
            moment = await writers.beat(conn, self.member.name, self._history)
            if moment is None:
                await self._lose(conn)
        if moment is not None:
            self._clock.set(moment)
            self._was_heard(begun)

    def _was_heard(self, begun: float) -> None:
        if begun - self._beat_at >= SURE * self.member.lease:
            self._steady_since = begun
        self._beat_at = begun
        self._heard.set()

    async def _lose(self, conn: AsyncConnection) -> FencedOff:
        found = await writers.revision(conn)
        if await writers.history(conn) != self._history:
            error = FencedOff(_REPLACED)
        elif found == HEAD:
            error = FencedOff(_FENCED_OFF, seconds=round(self.member.lease))
        else:
            error = FencedOff(_CHANGED, found=found, known=HEAD)
        is_new, self.error = not self.error, self.error or error
        self._heard.set()
        if is_new:
            self.on_lost()
        return self.error.with_traceback(None)


def _nothing() -> None:
    """What happens where nobody asked to be told."""
