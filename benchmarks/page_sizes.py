"""Prints size and duration of the most used pages, and the duration of editing many entries.

Usage: python -m benchmarks.page_sizes [--size 100000] [--requests 60] [--edited 10000]
       [--lists 300] [--in FOLDER] [--cpu]

The archive is the synthetic one of ``benchmarks.scale`` with additional lists; with ``--in`` it is
a copy of the one in that folder, which is built first if necessary. Bytes are those on the wire,
compressed as for a browser; times are of whole responses over one connection, with ``--cpu`` the
CPU time of the service.
"""

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import aiohttp
from yarl import URL

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.model.annotation import AnnotationChange
from archiver.model.listing import ListingQuery
from benchmarks.fast_server import FastServer
from benchmarks.scale import serving_in
from benchmarks.scale_archive import PAGEFUL, START, kept

PACKED = {"Accept-Encoding": "gzip"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("size", 100_000), ("requests", 60), ("edited", 10_000), ("lists", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--in", dest="folder", type=Path)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, FastServer(body=2000) as server:
        built, data = (
            (options.folder or Path(directory)) / str(options.size),
            Path(directory) / "data",
        )
        base = kept(built, options.size, server.base, "")
        shutil.copytree(built / "data", data)
        asyncio.run(edit(data, options.edited, options.lists))
        with serving_in(data, "", cpu=options.cpu) as (root, clock):
            asyncio.run(look(root, clock, options.requests, base))


async def edit(data: Path, edited: int, lists: int) -> None:
    """Measure edits of the entries of some hosts; put them into lists."""
    async with open_app(Settings(data=data)) as runtime:
        until = START + timedelta(minutes=edited)
        query = ListingQuery(q=f"added:{START:%Y-%m-%d}..{until:%Y-%m-%d}")
        for name, change in (
            ("read", AnnotationChange(is_read=True)),
            ("one more tag", AnnotationChange(with_tags=("more",))),
            ("into a list", AnnotationChange(with_folders=("All/of them",))),
        ):
            started, before = time.perf_counter(), time.process_time()
            done = await runtime.editing.change_matching(query, change)
            took, cpu = time.perf_counter() - started, time.process_time() - before
            print(f"edit, {name:14} {done.changed:>7,} {took:>7.2f} s, {cpu:.2f} s of CPU")
        for n in range(lists):
            await runtime.lists.make(f"List {n % 20}/{n}")
        started = time.perf_counter()
        await runtime.lists.all()
        print(f"{lists} lists with their counts {1000 * (time.perf_counter() - started):>7.1f} ms")
        await runtime.crawling.write_pending_records()


async def look(root: str, clock: Callable[[], float], requests: int, base: str) -> None:
    """Request each page in turn."""
    kinds = {
        "home": lambda _: "/",
        "browse": lambda _: "/snapshots",
        "starred": lambda _: "/snapshots?q=is%3Astarred",
        "browse a list": lambda _: "/snapshots?q=list%3A%22All%2Fof%20them%22",
        "search": lambda n: f"/snapshots?q=word{n}%20word{n + 1}",
        "search, common word": lambda _: "/snapshots?q=common",
        "entry": lambda n: f"/{hash_url(f'{base}/real/{n % PAGEFUL}')}/",
    }
    print(f"{'':22}{'bytes':>8}{'median':>9}{'p95 ms':>9}")
    async with aiohttp.ClientSession(auto_decompress=False, headers=PACKED) as session:
        for name, path in kinds.items():
            durations = [await get(session, clock, root + path(n)) for n in range(-3, requests)][3:]
            times = sorted(seconds for seconds, _ in durations)
            size = max(count for _, count in durations)
            middle, tail = times[len(times) // 2], times[int(len(times) * 0.95)]
            print(f"{name:22}{size:>8,}{1000 * middle:>9.1f}{1000 * tail:>9.1f}")


async def get(
    session: aiohttp.ClientSession, clock: Callable[[], float], url: str
) -> tuple[float, int]:
    """Return seconds and bytes of one response."""
    started = clock()
    async with session.get(URL(url, encoded=True)) as response:
        body = await response.read()
        assert response.status == 200, (url, response.status)
    return clock() - started, len(body)


if __name__ == "__main__":
    main()
