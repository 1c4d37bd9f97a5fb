"""Background tasks and worker processes."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from archiver.config import Settings, dump_settings
from archiver.helpers import child_command, child_environment
from archiver.logs import get_log

REST_SECONDS = 15.0

log = get_log(__name__)


@asynccontextmanager
async def keep_running(work: Callable[[], Awaitable[object]], name: str) -> AsyncIterator[None]:
    """Run ``work`` in a task while the block runs; restart it when it exits.

    Exceptions of ``work`` are logged and do not reach the block.
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
            log.error("task exited, restarting", task=name, seconds=REST_SECONDS)
        except Exception:
            # If cleanup fails while the task is being cancelled, the task must not restart.
            task = asyncio.current_task()
            if task and task.cancelling():
                log.exception("task failed while stopping", task=name)
                return
            log.exception("task failed, restarting", task=name, seconds=REST_SECONDS)
        await asyncio.sleep(REST_SECONDS)


STOP_SECONDS = 60.0


@asynccontextmanager
async def crawl_processes(settings: Settings, *, until_empty: bool) -> AsyncIterator[None]:
    """Run the other crawl processes during the block.

    With ``until_empty``, the block waits at its end until these processes have emptied the queue.
    Otherwise a process that dies is replaced.
    """
    numbers = range(settings.crawl_processes - 1)
    async with AsyncExitStack() as stack:
        if not until_empty:
            for _ in numbers:
                await stack.enter_async_context(
                    keep_running(lambda: _run_crawl_process(settings), "crawl process")
                )
            yield
            return
        started = [
            await stack.enter_async_context(_crawl_process(settings, until_empty=True))
            for _ in numbers
        ]
        yield
        for process in started:
            await process.wait()


async def _run_crawl_process(settings: Settings) -> None:
    async with _crawl_process(settings, until_empty=False) as process:
        status = await process.wait()
    log.error("a crawl process exited", status=status)


@asynccontextmanager
async def _crawl_process(
    settings: Settings, *, until_empty: bool
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.cli.worker", "until-empty" if until_empty else "for-ever"),
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
    """Return the environment variables with credentials of the object store and the database."""
    prefixes = ("AWS_",) * bool(settings.store) + ("PG",) * bool(settings.index)
    return {name: value for name, value in os.environ.items() if name.startswith(prefixes)}


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask a crawl process to stop, and kill it after a timeout."""
    if process.stdin:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        log.warning("killing a crawl process that did not stop", pid=process.pid)
        process.kill()
        await process.wait()
