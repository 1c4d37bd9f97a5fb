"""Helpers: processes that work the queue beside this one (``archiver.helper``)."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from archiver.child_process import child_command, child_environment
from archiver.config import Settings, dump_settings
from archiver.logs import get_log
from archiver.services.supervision import kept_going

STOP_SECONDS = 60.0

log = get_log(__name__)


@asynccontextmanager
async def helpers(settings: Settings, *, until_empty: bool) -> AsyncIterator[None]:
    """Let the other ``crawl_processes`` work the queue too, while the block runs.

    They end when it does; with ``until_empty`` they are first let finish what they are at, without
    it one that dies is followed by another.
    """
    others = range(settings.crawl_processes - 1)
    async with AsyncExitStack() as stack:
        if not until_empty:
            for _ in others:
                await stack.enter_async_context(kept_going(lambda: _have_one(settings), "helper"))
            yield
            return
        started = [
            await stack.enter_async_context(_helper(settings, until_empty=True)) for _ in others
        ]
        yield
        for process in started:
            await process.wait()


async def _have_one(settings: Settings) -> None:
    async with _helper(settings, until_empty=False) as process:
        status = await process.wait()
    log.error("a helper ended", status=status)


@asynccontextmanager
async def _helper(
    settings: Settings, *, until_empty: bool
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.helper", "until-empty" if until_empty else "for-ever"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env=child_environment() | _for_servers(settings),
    )
    try:
        if process.stdin:
            process.stdin.write(f"{json.dumps(dump_settings(settings))}\n".encode())
        yield process
    finally:
        await _stop(process)


def _for_servers(settings: Settings) -> dict[str, str]:
    """The variables that reach a store and an index: for helpers, not for readers of pages."""
    wanted = ("AWS_",) * bool(settings.store) + ("PG",) * bool(settings.index)
    return {name: value for name, value in os.environ.items() if name.startswith(wanted)}


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask a helper to stop, and see that it does."""
    if process.stdin:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        log.warning("a helper did not stop; it is killed", pid=process.pid)
        process.kill()
        await process.wait()
