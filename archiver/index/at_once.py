"""What is asked of one connection at once: where answers come from afar, one wait brings them all.

Coroutines that are run ``at_once`` each ask for something before any of them goes on; what they ask
for within the same few steps of the loop is sent together, in the order in which it was asked for.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar, overload

from sqlalchemy import Connection, CursorResult
from sqlalchemy.engine.cursor import FullyBufferedCursorFetchStrategy

from archiver.finishing import all_of
from archiver.index.dialect.port import Dialect

_A = TypeVar("_A")
_B = TypeVar("_B")
_C = TypeVar("_C")
_D = TypeVar("_D")
Result = CursorResult[*tuple[Any, ...]]
Work = Callable[[Connection], Result]
_Work = Callable[[Connection], Any]
_Run = Callable[[Callable[[Connection], list[Result]]], "asyncio.Future[list[Result]]"]
STEPS = 6
"""Of the loop: a coroutine within another one that runs ``at_once`` begins a step later."""


@overload
async def at_once(a: Coroutine[Any, Any, _A], b: Coroutine[Any, Any, _B], /) -> tuple[_A, _B]: ...


@overload
async def at_once(
    a: Coroutine[Any, Any, _A], b: Coroutine[Any, Any, _B], c: Coroutine[Any, Any, _C], /
) -> tuple[_A, _B, _C]: ...


@overload
async def at_once(
    a: Coroutine[Any, Any, _A],
    b: Coroutine[Any, Any, _B],
    c: Coroutine[Any, Any, _C],
    d: Coroutine[Any, Any, _D],
    /,
) -> tuple[_A, _B, _C, _D]: ...


async def at_once(*each: Coroutine[Any, Any, Any]) -> tuple[Any, ...]:
    """What each of these gives, which use one connection and do not need one another.

    Raises what the first of them raises, once all are at their end: nothing that one of them still
    asks for comes behind the end of the transaction.
    """
    return (*await all_of(each),)


class Asked:
    """What was asked of a connection in these steps of the loop, and told it meanwhile.

    Args:
        dialect: how its engine speaks.
        run: begins work on the connection, behind what was begun before.
    """

    def __init__(self, dialect: Dialect, run: _Run) -> None:
        self._dialect = dialect
        self._run = run
        self._works: list[_Work] = []
        self._waiting: dict[int, asyncio.Future[Result]] = {}
        self._round = 0

    def ask(self, work: Work) -> "asyncio.Future[Result]":
        """The rows of a statement, which is sent with all that is asked for in these steps."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        if not self._works:
            self._round += 1
            loop.call_soon(self._send_soon, self._round, STEPS)
        self._waiting[len(self._works)] = done
        self._works.append(work)
        return done

    def tell(self, work: _Work) -> bool:
        """Send this, whose answer nobody needs, with what is asked for; False where nothing is."""
        if self._works:
            self._works.append(work)
        return bool(self._works)

    def _send_soon(self, of_round: int, steps: int) -> None:
        if of_round != self._round:
            return
        if steps > 1:
            asyncio.get_running_loop().call_soon(self._send_soon, of_round, steps - 1)
        else:
            self.send()

    def send(self) -> None:
        """Send what was asked for, before anything else is."""
        works, waiting = self._works, self._waiting
        self._works, self._waiting = [], {}
        if works:
            answers = self._run(partial(_answers, self._dialect, works, [*waiting]))
            answers.add_done_callback(partial(_hand_out, [*waiting.values()]))

    def give_up(self) -> None:
        """Send nothing of what nobody waits for any more."""
        self._works, self._waiting = [], {}


def whole(result: Result) -> Result:
    """A result whose rows were fetched, so that no other thread comes near the cursor."""
    cursor = result.cursor
    if result.returns_rows and cursor is not None:
        result.cursor_strategy = FullyBufferedCursorFetchStrategy(cursor)
        cursor.close()
    return result


def _answers(
    dialect: Dialect, works: Sequence[_Work], asked: Sequence[int], conn: Connection
) -> list[Result]:
    """What those give that were asked for; only the last is waited for, behind all others.

    What was told after it was by somebody else, who needs nothing of it.
    """
    last = asked[-1]
    with dialect.asking(conn):
        found = {number: work(conn) for number, work in enumerate(works) if number != last}
    found[last] = works[last](conn)
    return [whole(found[number]) for number in asked]


def _hand_out(
    waiting: Sequence["asyncio.Future[Result]"], answers: "asyncio.Future[list[Result]]"
) -> None:
    error = None if answers.cancelled() else answers.exception()
    for number, done in enumerate(waiting):
        if done.done():
            continue
        if answers.cancelled():
            done.cancel()
        elif error is not None:
            done.set_exception(error)
        else:
            done.set_result(answers.result()[number])
