"""Runs a command that speaks to the network, on the loop that does so fastest."""

from collections.abc import Coroutine

import uvloop

from archiver.cli.loop import run_until_signal

GO_ON = "Stopped. What was not captured stays in the queue: `archiver crawl` goes on with it."


def run_crawl(work: Coroutine[None, None, int], *, stopped: str = GO_ON) -> int:
    """Run to the end, as ``run_until_signal`` does."""
    return run_until_signal(work, stopped=stopped, loop_factory=uvloop.new_event_loop)
