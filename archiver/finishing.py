"""Work that is not left half done."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast


async def to_its_end(work: "Coroutine[Any, Any, None] | asyncio.Future[None]") -> None:
    """Do this to its end, also where the task that asks for it is cancelled meanwhile."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise


@asynccontextmanager
async def written_file(path: Path) -> AsyncIterator[BinaryIO]:
    """A file to be written anew, opened in a thread; closed whatever happens meanwhile.

    Raises:
        OSError: it can't be opened.
    """
    opening = asyncio.ensure_future(asyncio.to_thread(path.open, "wb"))
    try:
        file = await asyncio.shield(opening)
    except asyncio.CancelledError:
        await asyncio.wait([opening])
        if not opening.exception():
            opening.result().close()
        raise
    with file:
        yield cast("BinaryIO", file)
