"""CPU time of a small page by thread: ms per URL, for the same URLs on one fast server.

Usage: python -m benchmarks.crawl_profile [--urls N]

The output has the threads of ``archiver crawl`` (one process, including articles), the share of the
server, and two stages alone under uvloop: a GET with aiohttp, and a complete fetch of our fetcher.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import aiohttp
import psutil
import uvloop

from archiver.config import Settings
from archiver.http.fetcher import Fetcher
from archiver.http.requests import OutgoingRequest
from benchmarks.crawl import crawl_settings
from benchmarks.fast_server import FastServer
from benchmarks.measure import measure

AT_ONCE = 100
LOOK_SECONDS = 0.2
SHOWN = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=60_000)
    options = parser.parse_args()
    with FastServer(body=256) as server, tempfile.TemporaryDirectory() as directory:
        urls = [server.url(n) for n in range(options.urls)]
        before = server.cpu_seconds()
        threads = crawl(urls, Path(directory))
        rows = {f"our crawl, thread {n}": each for n, each in enumerate(threads[:SHOWN], 1)}
        rows["our crawl, all of it"] = sum(threads)
        rows["the server meanwhile"] = server.cpu_seconds() - before
        rows["a GET of aiohttp's alone"] = alone(bare(urls))
        rows["a whole fetch of ours alone"] = alone(ours(urls, Path(directory)))
    for name, seconds in rows.items():
        print(f"{name:30}{1000 * seconds / options.urls:8.3f}")


def crawl(urls: list[str], directory: Path) -> list[float]:
    """Return CPU seconds of each thread of a crawl, largest (the event loop) first."""
    listing = directory / "urls.txt"
    listing.write_text("".join(f"{url}\n" for url in urls))
    environment = os.environ | crawl_settings(directory / "data", 400)
    environment |= {"ARCHIVER_CRAWL_PROCESSES": "1", "ARCHIVER_LOG_LEVEL": "error"}
    measure(["-m", "archiver", "import", str(listing), "--no-crawl"], environment)
    command = [sys.executable, "-m", "archiver", "crawl"]
    cpu_times: dict[int, float] = {}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            cpu_times |= {
                each.id: each.user_time + each.system_time
                for each in psutil.Process(process.pid).threads()
            }
            time.sleep(LOOK_SECONDS)
    return sorted(cpu_times.values(), reverse=True)


def alone(work: Callable[[], Awaitable[None]]) -> float:
    """Return CPU seconds of a coroutine under uvloop."""
    started = time.process_time()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(work))
    return time.process_time() - started


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def bare(urls: list[str]) -> Callable[[], Awaitable[None]]:
    """Return a pool of workers that GET the URLs with aiohttp."""

    async def run() -> None:
        connector = aiohttp.TCPConnector(limit=AT_ONCE)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def work(waiting: Iterator[str]) -> None:
                for url in waiting:
                    async with session.get(url) as response:
                        await response.read()

            waiting = iter(urls)
            await asyncio.gather(*(work(waiting) for _ in range(AT_ONCE)))

    return run


def ours(urls: list[str], directory: Path) -> Callable[[], Awaitable[None]]:
    """Return a pool of workers that fetch the URLs with our fetcher."""

    async def run() -> None:
        settings = Settings(data=directory, allow_networks="127.0.0.0/8", concurrency=AT_ONCE)
        async with Fetcher(settings) as fetcher:

            async def work(waiting: Iterator[str]) -> None:
                for url in waiting:
                    (await fetcher.fetch(OutgoingRequest(url))).body.close()

            waiting = iter(urls)
            await asyncio.gather(*(work(waiting) for _ in range(AT_ONCE)))

    return run


if __name__ == "__main__":
    main()
