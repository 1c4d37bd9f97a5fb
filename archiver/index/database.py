"""The index, opened: one connection that writes, a few that read."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

from archiver.errors import IndexUnavailable
from archiver.index.clock import Clock
from archiver.index.connection import AsyncConnection
from archiver.index.connections import Connections
from archiver.index.dialect import choice
from archiver.index.dialect.port import Dialect, Engines
from archiver.index.gathered import Gathered, Question
from archiver.index.membership import Member, Membership

__all__ = ["AsyncConnection", "Database", "Engines", "Member", "engines_of", "is_one_place"]

_T = TypeVar("_T")
READERS = 4
SILENT_LEASES = 1.5
LONGEST_SILENCE_SECONDS = 45.0
"""Who says nothing for so long while it has the turn to write loses it; others wait for longer."""


class Database:
    """The open index. Made by ``Database.open``; closed by its owner.

    Attributes:
        membership: in an index that is shared; None where files tell who is there.
    """

    def __init__(self, engines: Engines, member: Member | None = None) -> None:
        """Where an index is shared, ``member`` says who of all those this is."""
        self._engines = engines
        self._clock = Clock()
        self.membership = _membership(engines, member, self._clock)
        self._writer = Connections(
            partial(engines.writing, _silence(member), asks_first=self.membership is not None),
            engines.dialect,
            1,
            begins_again=engines.begins_again,
            first=self.membership.check if self.membership else None,
            clock=self._clock,
        )
        self._readers = Connections(engines.reading, engines.dialect, READERS, clock=self._clock)
        self._gathered = Gathered(self.glance, is_far=engines.dialect.is_far)

    @classmethod
    async def open(cls, place: Path | str) -> "Database":
        """Open the index at a path or an address, made or migrated first where that is needed.

        Raises:
            ConfigurationError: it was written by a newer version, is no database, or is out of
                reach.
        """
        return await cls.opened(choice.engines_of(place))

    @classmethod
    async def opened(cls, engines: Engines) -> "Database":
        """``open``, of what ``engines_of`` gives for a place."""
        await asyncio.to_thread(engines.prepare)
        return cls(engines)

    @property
    def dialect(self) -> Dialect:
        """How its engine speaks."""
        return self._engines.dialect

    def identity(self) -> tuple[int | str, ...]:
        """What is another one once the index was built again."""
        return self._engines.identity()

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection that sees one moment of the index and changes nothing."""
        return self._reading(self._readers.moment)

    def glance(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """``read``, where each statement may see a moment of its own: on a server it is cheaper."""
        return self._reading(self._readers.glance)

    async def look(self, question: Question[_T], *, within: float = 0.0) -> _T:
        """What a question finds by a glance, in so many seconds at most.

        At a server it is asked along with what others of this process ask by then, as who looks
        again and again does.
        """
        return await self._gathered.ask(question, within=within)

    @asynccontextmanager
    async def _reading(
        self, lend: Callable[[], AbstractAsyncContextManager[AsyncConnection]]
    ) -> AsyncIterator[AsyncConnection]:
        try:
            async with lend() as conn:
                yield conn
        except DBAPIError as error:
            raise IndexUnavailable(
                "{path} can't be read: {orig}.",
                path=self._engines.place,
                orig=self._engines.message_of(error),
            ) from error

    @asynccontextmanager
    async def read_beside(self, conn: AsyncConnection) -> AsyncIterator[AsyncConnection]:
        """A further connection for what is read beside something else, if one is free; else this.

        Nobody who holds one waits for another: all might. It may see a later moment.
        """
        if not self._readers.is_one_free:
            yield conn
            return
        async with self.read() as other:
            yield other

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """The writing connection, in a transaction that commits unless the block raises.

        Raises:
            FencedOff: others took this process for dead.
            IndexUnavailable: nothing can be written now.
        """
        return self._transaction(self._writer.transaction)

    def write_asking(
        self, question: Question[_T]
    ) -> AbstractAsyncContextManager[tuple[AsyncConnection, _T]]:
        """``write``, and what a question finds in it, with no wait of its own at a server.

        It may be asked more than once, and what it changed before the last time came to nothing.
        """
        return self._transaction(partial(self._writer.asking, question))

    @asynccontextmanager
    async def write_much(self) -> AsyncIterator[AsyncConnection]:
        """``write``, with memory for the many pages that new rows touch all over some indexes.

        It runs ahead: the next rows are put together while the engine is at those before. Where
        the power fails, the last of such transactions may be lost, until a ``write`` has ended.
        """
        async with self._transaction(partial(self._writer.transaction, much=True)) as conn:
            conn.run_ahead()
            yield conn

    @asynccontextmanager
    async def _transaction(
        self, begun: Callable[[], AbstractAsyncContextManager[_T]]
    ) -> AsyncIterator[_T]:
        try:
            if self.membership:
                await self.membership.enter()
            async with self._engines.alone(), begun() as lent:
                yield lent
        except DBAPIError as error:
            if not self._engines.is_down(error):
                raise
            raise self._unwritten(error) from error

    def _unwritten(self, error: DBAPIError) -> IndexUnavailable:
        return IndexUnavailable(
            "{path} can't be written: {orig}.",
            path=self._engines.place,
            orig=self._engines.message_of(error),
        )

    @property
    def machine(self) -> str | None:
        """The name of this machine among those that share the index; None where none can."""
        return self.membership.member.machine if self.membership else None

    def now(self) -> datetime:
        """The moment, by the one clock of all who share this index (aware, UTC)."""
        return self._clock.now()

    async def permit(self) -> None:
        """Wait until this process may ask the web for something.

        Raises:
            FencedOff: it never may again.
            IndexUnavailable: the index can't be had, so nobody knows.
        """
        if self.membership:
            try:
                await self.membership.permit()
            except DBAPIError as error:
                raise self._unwritten(error) from error

    def hurry(self) -> None:
        """Let writers wait for other programs for some seconds in all, and no longer: we stop.

        What they would have written is refused then, as where the disk is full.
        """
        self._engines.hurry()

    def is_wanted(self) -> bool:
        """Whether somebody waits to write, in any process: a long transaction makes room then."""
        return self._engines.is_wanted()

    async def close(self) -> None:
        """Close every connection."""
        await self._readers.close()
        await self._writer.close()
        if self.membership:
            await self.membership.leave()
        self._engines.close()


def _membership(engines: Engines, member: Member | None, clock: Clock) -> Membership | None:
    if member is None or not engines.dialect.is_shared:
        return None
    return Membership(
        member,
        Connections(partial(engines.signing, _silence(member)), engines.dialect, 1, clock=clock),
        clock,
    )


def _silence(member: Member | None) -> float:
    return min(SILENT_LEASES * member.lease, LONGEST_SILENCE_SECONDS) if member else 0.0


def engines_of(place: Path | str) -> Engines:
    """An index at a path or an address, before it is opened.

    Raises:
        ConfigurationError: the address can't be understood, or its driver is not installed.
    """
    return choice.engines_of(place)


def is_one_place(one: str, other: str) -> bool:
    """Whether two addresses lead to one index, however they are reached."""
    return choice.is_one_place(one, other)
