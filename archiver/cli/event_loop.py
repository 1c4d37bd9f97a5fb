"""Event loop of a command, with a clean shutdown on signals."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Coroutine

import click
import uvloop

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SIGNALLED = 128


def run_until_signal(work: Coroutine[None, None, int | None], *, stopped: str = "Stopped.") -> int:
    """Run a coroutine. The first SIGINT or SIGTERM stops it cleanly, the second ends the process.

    Args:
        work: returns the exit status, or None for success.
        stopped: message to print when it was stopped.

    Returns:
        The exit status; 128 plus the signal's number if a signal stopped the coroutine.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        status = runner.run(_stoppable(work, stopped))
        if status > _SIGNALLED:
            # Everything is closed, but a thread that reads from a pipe can't be interrupted, and
            # the runner would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        return status


async def _stoppable(work: Coroutine[None, None, int | None], stopped: str) -> int:
    received: list[signal.Signals] = []
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)

    def stop(number: signal.Signals) -> None:
        received.append(number)
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        task.cancel()

    if threading.current_thread() is threading.main_thread():  # only it gets signals
        for number in _SIGNALS:
            loop.add_signal_handler(number, stop, number)
    try:
        return await task or 0
    except asyncio.CancelledError:
        if not received:
            raise
        click.echo(stopped, err=True)
        return _SIGNALLED + received[0]
