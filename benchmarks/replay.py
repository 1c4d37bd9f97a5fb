"""Replay speed of this program and of pywb on the same pages, measured in turn.

Usage: python -m benchmarks.replay [FOLDER] [--pywb DIR] [--requests N] [--clients N] [--runs N]

FOLDER contains a folder per page with ``source.html``; without it, pages are generated. Both serve
the same WARC file: this program its archive, pywb an export of it, each with one process. Each
client requests one rewritten page after another, completely, over one connection. Then the time to
the first byte of a page of 10 MB is compared with that of 100 kB.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import aiohttp
from yarl import URL

from benchmarks.capture import run
from benchmarks.environments import environment_with
from benchmarks.pages import PageServer, generated_pages, read_pages
from benchmarks.pywb_replay import free_port, give_to_pywb, read_captures, serving

SMALL, LARGE = 100_000, 10_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--pywb", type=Path, help="bin folder of an environment with pywb")
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    pages = read_pages(options.folder) if options.folder else generated_pages(40)
    pages |= {"small": padded(SMALL), "large": padded(LARGE)}
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        programs = options.pywb or environment_with(root / "pywb", "pywb")
        data = root / "data"
        base = capture(data, pages)
        give_to_pywb(root, data, programs)
        compare(root, data, programs, base, options)


def padded(size: int) -> bytes:
    """Return a page of this size with a link in every line."""
    line = b"<p>Words, and <a href='/page'>a link</a> to lead into the archive.</p>\n"
    return b"<!DOCTYPE html><title>Long</title>" + line * (size // len(line))


def capture(data: Path, pages: dict[str, bytes]) -> str:
    """Capture the pages without their resources; return their base URL."""
    with PageServer(pages) as server:
        environment = os.environ | {
            "ARCHIVER_DATA": str(data),
            "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
            "ARCHIVER_HOST_DELAY": "0",
            "ARCHIVER_MAX_REQUISITES": "0",
        }
        run(["add", *(f"{server.base}/{name}/" for name in pages)], environment)
        return server.base


def compare(root: Path, data: Path, programs: Path, base: str, options: argparse.Namespace) -> None:
    """Serve from both, request from each in turn, and print the tables."""
    ours, theirs = free_port(), free_port()
    serve = [sys.executable, "-m", "archiver", "serve", "--data", str(data), "--port", str(ours)]
    other = [programs / "wayback", "-p", str(theirs), "-b", "127.0.0.1", "-t", "1"]
    captures = [(when, url) for when, url, _ in read_captures(data)]
    sizes = {name: f"{base}/{name}/" for name in ("small", "large")}
    normal = [each for each in captures if each[1] not in sizes.values()]
    roots = {
        "archiver": f"http://127.0.0.1:{ours}/web/{{}}/{{}}",
        "pywb": f"http://127.0.0.1:{theirs}/ours/{{}}mp_/{{}}",
    }
    with serving(serve, ours), serving(other, theirs, cwd=root):
        rates: dict[str, list[float]] = {name: [] for name in roots}
        tails: dict[str, list[float]] = {name: [] for name in roots}
        for _ in range(options.runs):
            for name, form in roots.items():
                urls = [form.format(*each) for each in normal]
                many = (urls * (options.requests // len(urls) + 1))[: options.requests]
                seconds, times = asyncio.run(ask(many, options.clients))
                rates[name].append(len(many) / seconds)
                tails[name].append(sorted(times)[int(len(times) * 0.95)])
        addresses = {url: roots["archiver"].format(when, url) for when, url in captures}
        firsts = {name: asyncio.run(first_byte(addresses[url])) for name, url in sizes.items()}
    show(rates, tails, firsts)


async def ask(urls: Sequence[str], clients: int) -> tuple[float, list[float]]:
    """Request every URL once; return the total seconds and those of each."""
    waiting, times = iter(urls), []

    async def client(session: aiohttp.ClientSession) -> None:
        for url in waiting:
            started = time.perf_counter()
            async with session.get(URL(url, encoded=True)) as response:
                await response.read()
                assert response.status == 200, (url, response.status)
            times.append(time.perf_counter() - started)

    async with aiohttp.ClientSession() as session:
        await client_once(session, urls[0])
        started = time.perf_counter()
        await asyncio.gather(*(client(session) for _ in range(clients)))
        return time.perf_counter() - started, times


async def client_once(session: aiohttp.ClientSession, url: str) -> None:
    """Send one request as a warm-up."""
    async with session.get(URL(url, encoded=True)) as response:
        await response.read()


async def first_byte(url: str, times: int = 15) -> float:
    """Return the median of seconds until the first byte of a page's body."""
    durations = []
    async with aiohttp.ClientSession() as session:
        for _ in range(times):
            started = time.perf_counter()
            async with session.get(URL(url, encoded=True)) as response:
                await response.content.readany()
                durations.append(time.perf_counter() - started)
                await response.read()
    return statistics.median(durations)


def show(
    rates: dict[str, list[float]], tails: dict[str, list[float]], firsts: dict[str, float]
) -> None:
    """Print medians and ratios."""
    print(f"{'':12}{'pages/s':>9}{'p95 ms':>9}")
    rate = {name: statistics.median(values) for name, values in rates.items()}
    tail = {name: statistics.median(values) for name, values in tails.items()}
    for name, values in rate.items():
        print(f"{name:12}{values:>9.1f}{1000 * tail[name]:>9.1f}")
    print(f"rate: archiver / pywb = {rate['archiver'] / rate['pywb']:.2f}")
    print(f"p95:  archiver / pywb = {tail['archiver'] / tail['pywb']:.2f}")
    small, large = 1000 * firsts["small"], 1000 * firsts["large"]
    print(f"first byte: 100 kB {small:.1f} ms, 10 MB {large:.1f} ms, ratio {large / small:.2f}")


if __name__ == "__main__":
    main()
