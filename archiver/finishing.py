"""Work that is not left half done."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, TypeVar, cast

_First = TypeVar("_First")
_Second = TypeVar("_Second")
_Each = TypeVar("_Each")


async def to_its_end(work: "Coroutine[Any, Any, None] | asyncio.Future[None]") -> None:
    """Do this to its end, also where the task that asks for it is cancelled meanwhile."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise


async def both(first: Awaitable[_First], second: Awaitable[_Second]) -> tuple[_First, _Second]:
    """What two that run beside each other give; where one fails, the other has ended, too."""
    one, other = await all_of((first, second))
    return cast("_First", one), cast("_Second", other)


async def all_of(works: Iterable[Awaitable[_Each]]) -> "list[_Each]":
    """The same of several."""
    tasks = [asyncio.ensure_future(each) for each in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks)
        raise


class _Opening:
    """A file that a thread opens, closed where nobody waits for it any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settling = Lock()
        self._file: BinaryIO | None = None
        self._is_given_up = False

    def open(self) -> BinaryIO:
        """Blocking; the file is closed already where it was given up meanwhile."""
        file = cast("BinaryIO", self._path.open("wb"))
        with self._settling:
            self._file = file
            if self._is_given_up:
                file.close()
        return file

    def give_up(self) -> None:
        with self._settling:
            self._is_given_up = True
            if self._file:
                self._file.close()


@asynccontextmanager
async def written_file(path: Path) -> AsyncIterator[BinaryIO]:
    """A file to be written anew, opened in a thread; closed whatever happens meanwhile.

    Raises:
        OSError: it can't be opened.
    """
    opening = _Opening(path)
    opened = asyncio.ensure_future(asyncio.to_thread(opening.open))
    try:
        file = await asyncio.shield(opened)
    except asyncio.CancelledError:
        opening.give_up()
        await asyncio.wait([opened])
        raise
    with file:
        yield file
