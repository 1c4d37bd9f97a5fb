"""Work that must go on for as long as the service does, whatever goes wrong in it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from archiver.logs import get_log

REST_SECONDS = 15.0

log = get_log(__name__)


@asynccontextmanager
async def kept_going(work: Callable[[], Awaitable[object]], name: str) -> AsyncIterator[None]:
    """Have work done in a task of its own while the block runs; begun again when it ends.

    Nothing that it raises reaches the block, nor who leaves it: it is logged.
    """
    task = asyncio.create_task(_keep_going(work, name), name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _keep_going(work: Callable[[], Awaitable[object]], name: str) -> None:
    while True:
        try:
            await work()
            log.error("ended; it begins again", task=name, seconds=REST_SECONDS)
        except Exception:
            # Clean-up that fails while we are stopped must not start the work again.
            task = asyncio.current_task()
            if task and task.cancelling():
                log.exception("did not end cleanly", task=name)
                return
            log.exception("broke off; it begins again", task=name, seconds=REST_SECONDS)
        await asyncio.sleep(REST_SECONDS)
