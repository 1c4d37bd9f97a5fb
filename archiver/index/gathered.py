"""Questions of one process that go along with each other: one wait for a server answers them all.

Whoever looks again and again has time. What it asks is asked with whatever else is asked meanwhile,
and by itself once its time is up.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from archiver.finishing import to_its_end
from archiver.index.connection import AsyncConnection

_T = TypeVar("_T")
Question = Callable[[AsyncConnection], Coroutine[Any, Any, _T]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, and who waits for its answer."""

    question: Question[Any]
    answer: asyncio.Future[Any]


class Gathered:
    """What is asked of an index by glances.

    Args:
        glance: lends a connection for it.
        is_far: whether each answer is a wait for a network; elsewhere nobody waits for others.
    """

    def __init__(
        self,
        glance: Callable[[], AbstractAsyncContextManager[AsyncConnection]],
        *,
        is_far: bool,
    ) -> None:
        self._glance = glance
        self._is_far = is_far
        self._waiting: list[_Asked] = []

    async def ask(self, question: Question[_T], *, within: float) -> _T:
        """The answer to a question, which is asked within so many seconds.

        Raises:
            IndexUnavailable: nothing of what was asked together can be answered.

        Whatever else keeps it from being asked is raised for all that were asked together.
        """
        if not self._is_far:
            async with self._glance() as conn:
                return await question(conn)
        answer: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        asked = _Asked(question, answer)
        self._waiting.append(asked)
        try:
            if within:
                await asyncio.wait([answer], timeout=within)
            if asked in self._waiting:
                together, self._waiting = self._waiting, []
                await to_its_end(self._answer(together))
            return await answer
        finally:
            if asked in self._waiting:
                self._waiting.remove(asked)
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # somebody has heard of it, or nobody is to

    async def _answer(self, together: Sequence[_Asked]) -> None:
        try:
            async with self._glance() as conn:
                asking = [asyncio.ensure_future(each.question(conn)) for each in together]
                await asyncio.wait(asking)
                _raise_first([each.exception() for each in asking])
        except Exception as error:  # noqa: BLE001 - whatever it is, each of them waits for an answer
            for one in together:
                _settle(one.answer, error)
        else:
            for one, each in zip(together, asking, strict=True):
                _settle(one.answer, each.exception() or each.result())


def _raise_first(failed: Sequence[BaseException | None]) -> None:
    """Raise what kept one of them from being answered: none of them has an answer then."""
    if error := next((each for each in failed if isinstance(each, DBAPIError)), None):
        raise error


def _settle(answer: asyncio.Future[Any], found: object) -> None:
    """Tell somebody who still waits what was found, or raised."""
    if answer.done():
        return
    if isinstance(found, BaseException):
        answer.set_exception(found)
    else:
        answer.set_result(found)
