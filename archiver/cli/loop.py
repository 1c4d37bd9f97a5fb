"""Runs a command's coroutine, and ends it in order when a signal asks for that."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine

import click
import uvloop

GO_ON = "Stopped. What was not captured stays in the queue: `archiver crawl` goes on with it."
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SIGNALLED = 128


def run_until_signal(work: Coroutine[None, None, int], *, said: str = "Stopped.") -> int:
    """Run to the end; the first SIGINT or SIGTERM stops it cleanly, the second at once.

    Args:
        work: gives the exit status.
        said: what to tell the person when it was stopped.

    Returns:
        The exit status; 128 and the signal's number if it was stopped.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        status = runner.run(_stoppable(work, said))
        if status > _SIGNALLED:
            # All is closed, but a thread that reads from a pipe can't be broken off, and the
            # runner would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        return status


async def _stoppable(work: Coroutine[None, None, int], said: str) -> int:
    received: list[signal.Signals] = []
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)

    def stop(number: signal.Signals) -> None:
        received.append(number)
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        click.echo(said, err=True)
        return _SIGNALLED + received[0]
