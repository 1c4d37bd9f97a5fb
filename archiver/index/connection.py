"""Connections of the index, each worked by a thread of its own: the event loop waits for none.

A statement is handed over once, and its rows come back whole. SQLAlchemy's asyncio layer hands
over four times a statement, and loads its ORM.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar, TypeVarTuple, overload

from sqlalchemy import Connection, CursorResult, Engine, Executable, text
from sqlalchemy.sql.selectable import TypedReturnsRows

from archiver.finishing import to_its_end
from archiver.index.at_once import Asked, Result, Work, whole
from archiver.index.clock import Clock
from archiver.index.dialect.port import Dialect

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
_Row = Mapping[str, Any]
WORD_SECONDS = 0.5
_ANYTHING = text("SELECT 1")
MOST_AHEAD = 96
"""Statements that stand before the one which is run: what they were given is kept until then."""


class AsyncConnection:
    """A connection in a transaction; ``Connections.transaction`` gives one.

    Attributes:
        dialect: how its engine says what is not the same SQL in each.
        now: the moment, by the one clock of all who share the index (aware, UTC).
        is_broken: the last transaction could not be ended: the next would fail.
    """

    def __init__(self, engine: Engine, dialect: Dialect, clock: Clock) -> None:
        self.dialect = dialect
        self.now = clock.now
        self.is_broken = False
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="index")
        self._opened: Connection | None = None
        self._was_idle = False
        self._has_run = False
        self._is_ahead = False
        self._is_much = False
        self._is_glancing = False
        self._under_way: deque[asyncio.Future[Any]] = deque()
        self._failure: Exception | None = None
        self._asked = Asked(dialect, self._run)

    @overload
    async def execute(
        self,
        statement: TypedReturnsRows[*_Ts],
        parameters: _Row | Sequence[_Row] | None = None,
    ) -> CursorResult[*_Ts]: ...

    @overload
    async def execute(
        self, statement: Executable, parameters: _Row | Sequence[_Row] | None = None
    ) -> CursorResult[*tuple[Any, ...]]: ...

    async def execute(
        self, statement: Executable, parameters: _Row | Sequence[_Row] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement, once or for each set of parameters; its rows are here already."""
        return await self._ask(lambda conn: conn.execute(statement, parameters))

    def exec_driver_sql(
        self, statement: str, parameters: tuple[Any, ...] | None = None
    ) -> "asyncio.Future[CursorResult[*tuple[Any, ...]]]":
        """Run a statement in the engine's own words: begun at once, behind those begun before."""
        return self._ask(lambda conn: conn.exec_driver_sql(statement, parameters))

    async def waiting_for(self, work: Awaitable[_T]) -> _T:
        """Wait, within a transaction, for what is done elsewhere and may take long.

        The server hears meanwhile that somebody is there: the turn of who is silent ends.
        """
        doing = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait([doing], timeout=WORD_SECONDS))[0]:
                await self.execute(_ANYTHING)
            return doing.result()
        finally:
            doing.cancel()

    def run_ahead(self) -> None:
        """Let nobody wait for statements whose answer nobody needs, until the transaction ends.

        What makes one of them fail is raised by a later one, or in the place of the commit.
        """
        self._is_ahead = True

    def ask(self, statement: Executable) -> "asyncio.Future[Result]":
        """Begin a statement whose answer is wanted later, behind those begun before.

        As with what is told, nothing is run behind it if it fails.
        """
        asked = self._run(partial(self._answering, statement))
        self._under_way.append(asked)
        return asked

    async def tell(
        self, statement: Executable, parameters: _Row | Sequence[_Row] | None = None
    ) -> None:
        """Run a statement whose answer nobody needs, as ``execute`` does."""
        await self._begin_next(lambda conn: conn.execute(statement, parameters))
        await self.settled()

    async def tell_driver_sql(self, statement: str, parameters: tuple[Any, ...]) -> None:
        """Begin a statement in the engine's own words; ``settled`` waits for it."""
        await self._begin_next(lambda conn: conn.exec_driver_sql(statement, parameters))

    async def settled(self) -> None:
        """Wait for what was begun, unless this runs ahead."""
        if not self._is_ahead:
            await self._leave_under_way(0)

    async def _begin_next(self, work: Work) -> None:
        if self._is_ahead and self._asked.tell(partial(self._failing, work)):
            return
        self._under_way.append(self._run(partial(self._failing, work)))
        await self._leave_under_way(MOST_AHEAD if self._is_ahead else 1)

    async def _leave_under_way(self, most: int) -> None:
        while len(self._under_way) > most:
            await self._under_way.popleft()

    def _answering(self, statement: Executable, conn: Connection) -> Result:
        """Do this, where somebody waits for the answer; it fails as ``_failing`` does."""
        try:
            return whole(conn.execute(statement))
        except Exception as error:
            self._failure = error
            raise

    def _failing(self, work: Work, conn: Connection) -> None:
        """Do this and wait for no answer; where it fails, nothing is run behind it.

        After some failures SQLite has ended the transaction, and what is run then stays.
        """
        try:
            with self.dialect.unanswered(conn):
                work(conn).close()
        except Exception as error:
            self._failure = error
            raise

    async def suit(self, *, much: bool) -> None:
        """Set it up for a transaction that writes much, or for those that do not."""
        if much is not self._is_much:
            wanted = self.dialect.much if much else self.dialect.usual
            await self._run(lambda conn: _set_up(conn, wanted), anyway=True)
            self._is_much = much

    async def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""
        return await self._run(lambda conn: conn.dialect.has_table(conn, name))

    async def begin(self) -> None:
        """Begin a transaction; where nobody does, its first statement does so."""
        await self._run(_begin)

    async def end(self, *, commit: bool) -> None:
        """End the transaction, also where the task that asks for it is cancelled meanwhile."""
        try:
            await to_its_end(self._run(_commit) if commit else self._rolled_back())
        finally:
            self._is_ahead = self._is_glancing = False
            self._hear_what_is_under_way()

    def glance(self) -> None:
        """Let each statement see a moment of its own, until it is given back."""
        self._is_glancing = True

    def end_behind(self) -> None:
        """End a transaction that changed nothing, behind what was begun; nobody waits for it."""
        if self._has_run:
            self._rolled_back().add_done_callback(self._ended)
            self._has_run = False
        self._is_glancing = False

    def _ended(self, done: "asyncio.Future[None]") -> None:
        self.is_broken = done.cancelled() or done.exception() is not None

    def take(self) -> None:
        """Use it after it was idle: its server may have ended it meanwhile."""
        self._was_idle = True

    def close(self) -> None:
        """Close it once what it is at is done; a transaction that is open comes to nothing."""
        self._asked.give_up()
        self._hear_what_is_under_way()
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def wait_closed(self) -> None:
        """Wait until it is closed; blocking."""
        self._thread.shutdown(wait=True)

    def _hear_what_is_under_way(self) -> None:
        """Let nobody be told that nobody heard of a failure: all of them are one."""
        for each in self._under_way:
            each.add_done_callback(_heard)
        self._under_way.clear()

    def _ask(self, work: Work) -> "asyncio.Future[Result]":
        if self.dialect.is_far:
            return self._asked.ask(work)
        return self._run(lambda conn: whole(work(conn)))

    def _run(
        self, work: Callable[[Connection], _T], *, anyway: bool = False
    ) -> "asyncio.Future[_T]":
        self._asked.send()
        self._has_run = True
        loop = asyncio.get_running_loop()
        holds_still = not self._is_glancing
        return loop.run_in_executor(self._thread, self._do, work, anyway, holds_still)

    def _do(self, work: Callable[[Connection], _T], anyway: bool, holds_still: bool) -> _T:
        if self._failure and not anyway:
            raise self._failure
        conn = self._connection()
        self.dialect.hold_still(conn, is_wanted=holds_still)
        return work(conn)

    def _rolled_back(self) -> "asyncio.Future[None]":
        self._asked.send()
        self._has_run = True
        return asyncio.get_running_loop().run_in_executor(self._thread, self._roll_back)

    def _roll_back(self) -> None:
        """Roll back first of all: before that, a connection whose line broke says nothing."""
        self._failure = None
        self._connection().rollback()

    def _connection(self) -> Connection:
        if self._opened and self._was_idle and self.dialect.is_gone(self._opened):
            self._opened.invalidate()
            self._opened.close()
            self._opened = None
        self._was_idle = False
        if self._opened is None:
            self._opened = self._engine.connect()
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()


def _heard(done: asyncio.Future[Any]) -> None:
    if not done.cancelled():
        done.exception()


def _set_up(conn: Connection, statements: Sequence[str]) -> None:
    """Run statements of ``dialect`` outside of a transaction, which SQLAlchemy would begin."""
    cursor = conn.connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    cursor.close()


def _begin(conn: Connection) -> None:
    conn.begin()


def _commit(conn: Connection) -> None:
    conn.commit()
