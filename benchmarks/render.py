"""Quality and cost of rendering pages that are empty without scripts.

Usage: python -m benchmarks.render FOLDER PATH... [--copies N] [--rounds N] [--at-once N]

FOLDER contains built sites; it is served on loopback, and each PATH in it captured with a browser.
Then each page is loaded in the same browser with Playwright, and its visible words are compared
with the article and with the replay without scripts. ``--rounds`` repeats the captures, for pages
per minute, CPU time per page, and the memory of all browser processes (including memory shared
between them); ``--copies`` adds copies of each path. The time for comparing a page with itself
without scripts is printed; ``--without-comparison`` omits it. In the end, remaining processes and
files of the browser are counted. For comparison, ``chromium --headless --dump-dom`` loads the same
pages, a process per page, and so does ``--compare COMMAND``, another archiver, with the
placeholders ``{url}`` and ``{directory}``.
"""

import argparse
import asyncio
import functools
import http.server
import os
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Self
from unittest import mock

import psutil
from playwright.async_api import Browser, async_playwright

from archiver.app import App, open_app
from archiver.browser.page import Page, RenderedPage, reading
from archiver.browser.supervisor import memory_of
from archiver.config import Settings
from archiver.crawl import browser_rendering
from archiver.crawl.browser_requests import Traffic
from archiver.crawl.rendering_policy import Fidelity
from archiver.errors import ArchiverError
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer

_WORD = re.compile(r"\w+")
_SETTLE_MS = 3000
MAX_COMPARED = 50


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback; yield its origin."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Memory:
    """Peak memory of this process's descendants named chromium."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            total = 0
            for each in psutil.Process().children(recursive=True):
                try:
                    if "chrom" in each.name():
                        total += memory_of(each.pid)
                except psutil.Error:
                    continue
            self.samples.append(total)


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def kept(live: Counter[str], archived: str) -> float:
    total = live.total()
    return (live & words(archived)).total() / total if total else 1.0


@asynccontextmanager
async def looking() -> AsyncIterator[Browser]:
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        await browser.close()


async def live_text(browser: Browser, url: str) -> str:
    page = await browser.new_page(viewport={"width": 1280, "height": 800})
    await page.goto(url)
    await page.wait_for_timeout(_SETTLE_MS)
    text = await page.evaluate(reading())
    await page.close()
    return text


async def replayed_text(runtime: App, browser: Browser, url: str) -> str:
    capture = await runtime.replay.resolve(ReplayAddress("", Modifier.NONE, url))
    answer = await runtime.replay.open(capture, ReplayRequest(Viewer("http://127.0.0.1")))
    async with aclosing(answer.body) as body:
        html = b"".join([piece async for piece in body]).decode()
    context = await browser.new_context(
        java_script_enabled=False, viewport={"width": 1280, "height": 800}
    )
    page = await context.new_page()
    await page.route("**/*", lambda route: route.abort())
    await page.set_content(html)
    text = await page.evaluate(reading())
    await context.close()
    return text


async def compare(runtime: App, urls: Sequence[str]) -> None:
    print(f"{'words':>6} {'article':>8} {'replay':>7}  {'kept as':8} renditions  page")
    good = 0
    async with looking() as browser:
        for url in urls:
            live = words(await live_text(browser, url))
            try:
                shown = await runtime.entries.snapshot(url)
            except ArchiverError as error:
                print(f"{live.total():6} {'-':>8} {'-':>7}  {error}")
                continue
            address = shown.snapshot.final_url
            article = kept(live, f"{shown.entry.title} {shown.text}")
            replay = kept(live, await replayed_text(runtime, browser, address))
            good += article >= 0.9 and replay >= 0.9
            state = shown.snapshot.rendering.value or "plain"
            print(
                f"{live.total():6} {article:8.1%} {replay:7.1%}  {state:8} "
                f"{len(shown.renditions):10}  {url}"
            )
    print(f"{good} of {len(urls)} have nine tenths of the live words in article and replay")


def cpu() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


@contextmanager
def comparing(*, is_wanted: bool) -> Iterator[list[float]]:
    """Yield the seconds of each comparison without scripts in the block, or leave them out."""
    compare_ = browser_rendering._compare  # noqa: SLF001 - a part is measured
    seconds: list[float] = []

    async def timed(shown: Page, traffic: Traffic, standing: RenderedPage) -> Fidelity:
        if not is_wanted:
            return Fidelity()
        started = time.monotonic()
        try:
            return await compare_(shown, traffic, standing)
        finally:
            seconds.append(time.monotonic() - started)

    with mock.patch.object(browser_rendering, "_compare", timed):
        yield seconds


async def capture(settings: Settings, urls: Sequence[str], rounds: int) -> None:
    async with open_app(settings) as runtime:
        for number in range(rounds):
            started = time.monotonic()
            with Memory() as memory:
                await runtime.entries.save(urls, source="benchmark", render=True)
                await runtime.crawling.work()
            took = time.monotonic() - started
            most = max(memory.samples, default=0) >> 20
            print(
                f"round {number + 1}: {len(urls)} pages, {60 * len(urls) / took:.1f} a minute, "
                f"at most {most} MiB in the browser",
                flush=True,
            )
        await compare(runtime, urls[:MAX_COMPARED])
    children = [each.name() for each in psutil.Process().children(recursive=True)]
    files = [*settings.data.joinpath("tmp").iterdir()]
    print(f"left over: {len(children)} processes {children}, {len(files)} files")


def by_processes(name: str, command: Sequence[str], urls: Sequence[str]) -> None:
    """Load each page with a command, with the placeholders ``{url}`` and ``{directory}``."""
    started, before, failed = time.monotonic(), cpu(), 0
    for url in urls:
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(
                [each.format(url=url, directory=directory) for each in command],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
                timeout=120,
            )
        failed += done.returncode != 0
    took = time.monotonic() - started
    print(
        f"{name}: {60 * len(urls) / took:.1f} pages a minute, {failed} failed, "
        f"{(cpu() - before) / len(urls):.1f} s of processor time a page"
    )


def dump_dom(urls: Sequence[str]) -> None:
    path = shutil.which("chromium") or "chromium"
    command = [path, "--headless", "--no-sandbox", "--user-data-dir={directory}"]
    by_processes(
        "chromium --dump-dom",
        [*command, "--virtual-time-budget=5000", "--dump-dom", "{url}"],
        urls,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--without-dump-dom", action="store_true")
    parser.add_argument("--compare", default="", metavar="COMMAND")
    parser.add_argument("--without-comparison", action="store_true")
    options = parser.parse_args()
    with serving(options.folder) as origin, tempfile.TemporaryDirectory() as data:
        urls = [f"{origin}/{path}" for path in options.paths]
        if options.copies > 1:
            urls = [f"{url}?copy={number}" for number in range(options.copies) for url in urls]
        settings = Settings(
            data=Path(data),
            allow_networks="127.0.0.0/8",
            host_delay=0,
            host_concurrency=2 * options.at_once,
            browser_pages=options.at_once,
        )
        before = cpu()
        with comparing(is_wanted=not options.without_comparison) as seconds:
            asyncio.run(capture(settings, urls, options.rounds))
        if seconds:
            print(f"{statistics.median(seconds):.2f} s a page compared without scripts (median)")
        pages = len(urls) * options.rounds
        print(f"{(cpu() - before) / pages:.1f} s of processor time a page, all processes")
        if not options.without_dump_dom:
            dump_dom(urls)
        if options.compare:
            command = shlex.split(options.compare)
            by_processes(Path(command[0]).name, command, urls)


if __name__ == "__main__":
    os.environ.setdefault("ARCHIVER_LOG_LEVEL", "error")
    main()
