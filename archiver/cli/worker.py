"""Additional crawl process.

Run as ``python -m archiver.cli.worker until-empty|for-ever`` with the settings as one JSON line on
standard input. The process ends when standard input is closed; with ``until-empty`` also when the
queue is empty.
"""

import asyncio
import json
import signal
import sys

import uvloop

from archiver import logs
from archiver.app import open_app
from archiver.config import Settings

UNTIL_EMPTY = "until-empty"


def main() -> int:
    """Crawl and return the exit status."""
    # Ctrl-C reaches the whole process group; the parent process decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = Settings(**json.loads(sys.stdin.readline()))
    logs.configure(settings.log_level, as_json=settings.log_json)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_crawl(settings, until_empty=sys.argv[1] == UNTIL_EMPTY))


async def _crawl(settings: Settings, *, until_empty: bool) -> int:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), stopped.set)
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    async with open_app(settings, low_priority=not until_empty) as crawler:
        work = asyncio.ensure_future(crawler.crawling.work(until_empty=until_empty))
        stop = asyncio.ensure_future(stopped.wait())
        await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
        for each in (work, stop):
            each.cancel()
        await asyncio.wait([work, stop])
        return 0 if work.cancelled() or not work.exception() else 1


if __name__ == "__main__":
    sys.exit(main())
