"""Counts our files and functions that run while saving a URL, showing a page and searching.

Usage: python -m benchmarks.call_count [--show]

A service and a crawl run in this process. Everything runs once before, so that imports and caches
do not count. Processes that parse pages are not counted.
"""

import argparse
import asyncio
import sys
import tempfile
import threading
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from types import FrameType
from typing import Self

import aiohttp
from aiohttp.test_utils import TestServer
from sqlalchemy import text

import archiver
from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.model.job import Job, State
from archiver.services.background_tasks import keep_running
from archiver.web.app import build_app
from benchmarks.fast_server import FastServer

OURS = str(Path(archiver.__file__).parent)

Entered = set[tuple[str, str]]
"""(file, function name) of each function that ran."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print the files, too")
    options = parser.parse_args()
    with FastServer(body=2000) as pages, tempfile.TemporaryDirectory() as directory:
        networks = (ip_network("127.0.0.0/8"),)
        settings = Settings(data=Path(directory), allow_networks=networks, host_delay=0)
        functions = asyncio.run(count(settings, pages))
    print(f"{'':18}{'files':>7}{'functions':>11}")
    for name, entered in functions.items():
        files = sorted({file for file, _ in entered})
        print(f"{name:18}{len(files):>7}{len(entered):>11}")
        if options.show:
            print(*(f"    {each.removeprefix(OURS)}" for each in files), sep="\n")


async def count(settings: Settings, pages: FastServer) -> dict[str, Entered]:
    """Return the functions that ran, by task: saving a URL, showing a page, searching."""
    functions: dict[str, Entered] = {}
    urls = [pages.url(n) for n in range(2)]
    with Tracer() as tracer:
        async with open_app(settings) as runtime, TestServer(build_app(runtime)) as server:
            saved: asyncio.Queue[Job] = asyncio.Queue()
            work = runtime.crawling.work
            crawl = partial(work, until_empty=False, on_change=saved.put_nowait)
            async with keep_running(crawl, "crawl"):
                for url in urls:
                    functions["saving one URL"] = tracer.entered = set()
                    await runtime.entries.save([url], source="bench")
                    runtime.wake_crawl()
                    while (await saved.get()).state is not State.SAVED:
                        pass
            tracer.entered = set()
            await work()
            async with aiohttp.ClientSession(str(server.make_url("/"))) as session:
                for url in urls:
                    functions["one entry page"] = tracer.entered = set()
                    async with session.get(f"/{hash_url(url)}/") as response:
                        response.raise_for_status()
                        await response.read()
                    functions["one read query"] = tracer.entered = set()
                    async with runtime.db.read() as conn:
                        await conn.execute(text("SELECT 1"))
                    tracer.entered = set()
    return functions


class Tracer:
    """Profiler that records our functions on all threads.

    Attributes:
        entered: functions that were entered.
    """

    def __init__(self) -> None:
        self.entered: Entered = set()

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OURS) and code.co_name != "<module>":
            self.entered.add((code.co_filename, code.co_qualname))


if __name__ == "__main__":
    main()
