"""Some connections of one index that are alike, lent for a transaction each."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property, partial
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from archiver.index.at_once import at_once
from archiver.index.clock import Clock
from archiver.index.connection import AsyncConnection
from archiver.index.dialect.port import Dialect
from archiver.index.gathered import Question

_T = TypeVar("_T")


class Connections:
    """Some connections that are alike; the one used last, which has pages at hand, comes first.

    Args:
        made: gives what opens them, once the first is wanted.
        dialect: how it speaks.
        most: at the same time.
        clock: that they go by.
        begins_again: whether to ask once more for a transaction that failed to begin, given when it
            was first asked for (``time.monotonic``).
        first: what each transaction begins with.
    """

    def __init__(
        self,
        made: Callable[[], Engine],
        dialect: Dialect,
        most: int,
        *,
        clock: Clock,
        begins_again: Callable[[DBAPIError, float], bool] = lambda *_: False,
        first: Callable[[AsyncConnection], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self._made = made
        self._clock = clock
        self._dialect = dialect
        self._begins_again = begins_again
        self._first = first
        self._places = asyncio.Semaphore(most)
        self._idle: list[AsyncConnection] = []

    @cached_property
    def engine(self) -> Engine:
        """Opens them."""
        return self._made()

    def transaction(self, *, much: bool = False) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection in a transaction, which is committed unless the block raises.

        Where it is to write ``much``, its memory stays with the connection until one does not.
        """
        return self._lent(partial(self._begin, much=much), _committed)

    @asynccontextmanager
    async def asking(self, question: Question[_T]) -> AsyncIterator[tuple[AsyncConnection, _T]]:
        """``transaction``, and what a question finds in it that is asked along with its beginning.

        It may be asked more than once; what it has changed before the last time came to nothing.
        """
        found: list[_T] = []

        async def first(conn: AsyncConnection) -> None:
            if self._first:
                _, answer = await at_once(self._first(conn), question(conn))
            else:
                answer = await question(conn)
            found.append(answer)

        async with self._lent(partial(self._begin, much=False, first=first), _committed) as conn:
            yield conn, found[-1]

    @property
    def is_one_free(self) -> bool:
        """Whether one can be had now."""
        return not self._places.locked()

    def moment(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection that sees one moment from its first statement on, and changes nothing."""
        return self._lent(_begun_by_itself, _ended_behind)

    def glance(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection whose statements may each be a transaction of its own."""
        return self._lent(_glances, _ended_behind)

    @asynccontextmanager
    async def _lent(
        self,
        begin: Callable[[AsyncConnection], Awaitable[None]],
        end: Callable[[AsyncConnection], Awaitable[None]],
    ) -> AsyncIterator[AsyncConnection]:
        """A connection, for one transaction; it is rolled back where the block raises."""
        async with self._places:
            conn = self._taken()
            is_sound = False
            try:
                await begin(conn)
                try:
                    yield conn
                except BaseException:
                    # What it is at may take long: nobody shall wait behind it.
                    await conn.end(commit=False)
                    is_sound = True
                    raise
                await end(conn)
                is_sound = True
            finally:
                self._give_back(conn, is_sound=is_sound)

    def _taken(self) -> AsyncConnection:
        while self._idle:
            if not (conn := self._idle.pop()).is_broken:
                conn.take()
                return conn
            conn.close()
        return AsyncConnection(self.engine, self._dialect, self._clock)

    def _give_back(self, conn: AsyncConnection, *, is_sound: bool) -> None:
        if is_sound:
            self._idle.append(conn)
        else:
            conn.close()

    async def _begin(
        self,
        conn: AsyncConnection,
        *,
        much: bool,
        first: Callable[[AsyncConnection], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        """Begin a transaction, however often that takes."""
        await conn.suit(much=much)
        first = first or self._first
        asked = time.monotonic()
        while True:
            has_begun = False
            try:
                await conn.begin()
                has_begun = True
                if self._dialect.is_far:
                    conn.run_ahead()
                if first:
                    await first(conn)
            except DBAPIError as error:
                if not self._begins_again(error, asked):
                    raise
            else:
                return
            if has_begun:
                await conn.end(commit=False)

    async def close(self) -> None:
        """Close those that are idle."""
        while self._idle:
            conn = self._idle.pop()
            conn.close()
            await asyncio.to_thread(conn.wait_closed)
        if "engine" in vars(self):
            self.engine.dispose()


async def _begun_by_itself(_: AsyncConnection) -> None:
    """The first statement begins what only reads."""


async def _glances(conn: AsyncConnection) -> None:
    conn.glance()


async def _ended_behind(conn: AsyncConnection) -> None:
    conn.end_behind()


async def _committed(conn: AsyncConnection) -> None:
    await conn.end(commit=True)
