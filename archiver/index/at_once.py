"""What is asked of one connection at once: where answers come from afar, one wait brings them all.

Coroutines that are run ``at_once`` each ask for something before any of them goes on; what they ask
for in the same step of the loop is sent together, in the order in which it was asked for.
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
_Run = Callable[[Callable[[Connection], list[Result]]], "asyncio.Future[list[Result]]"]


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
    """What was asked of a connection in this step of the loop.

    Args:
        dialect: how its engine speaks.
        run: begins work on the connection, behind what was begun before.
    """

    def __init__(self, dialect: Dialect, run: _Run) -> None:
        self._dialect = dialect
        self._run = run
        self._asked: list[tuple[Work, asyncio.Future[Result]]] = []

    def ask(self, work: Work) -> "asyncio.Future[Result]":
        """The rows of a statement, which is sent with all that is asked for in this step."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        if not self._asked:
            loop.call_soon(self.send)
        self._asked.append((work, done))
        return done

    def send(self) -> None:
        """Send what was asked for, before anything else is."""
        some, self._asked = self._asked, []
        if some:
            works, waiting = zip(*some, strict=True)
            answers = self._run(partial(_answers, self._dialect, works))
            answers.add_done_callback(partial(_hand_out, waiting))


def whole(result: Result) -> Result:
    """A result whose rows were fetched, so that no other thread comes near the cursor."""
    cursor = result.cursor
    if result.returns_rows and cursor is not None:
        result.cursor_strategy = FullyBufferedCursorFetchStrategy(cursor)
        cursor.close()
    return result


def _answers(dialect: Dialect, works: Sequence[Work], conn: Connection) -> list[Result]:
    """What all of these give; only the last is waited for, whose answer is behind the others'."""
    *others, last = works
    with dialect.asking(conn):
        found = [work(conn) for work in others]
    found.append(last(conn))
    return [whole(each) for each in found]


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
