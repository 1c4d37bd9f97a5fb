"""Work that is not left half done."""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


async def to_its_end(work: "Coroutine[Any, Any, None] | asyncio.Future[None]") -> None:
    """Do this to its end, also where the task that asks for it is cancelled meanwhile."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise
