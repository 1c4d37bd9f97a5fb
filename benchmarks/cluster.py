"""Crawl rate of one, two and more workers that share an index in PostgreSQL.

Usage: .ci/with-postgres python -m benchmarks.cluster [--urls N] [--workers 1,2]

A server on loopback answers after ``--least`` to ``--delay`` seconds. The queue holds twice the
URLs that all workers fetch, so that none of them runs out of jobs. The workers are stopped after
``--urls`` each. The rate is measured while all of them fetch. The benchmark fails if
a URL was saved twice.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import psutil

from archiver.http.timestamps import to_datetime
from archiver.model.capture import Timestamp
from archiver.warc.segment_versions import writer_of
from benchmarks.crawl import crawl_settings, write_urls
from benchmarks.fast_server import FastServer

SERVER = "ARCHIVER_TEST_SERVER"
"""Environment variable with the address of the server."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=1_000, help="for each worker")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--delay", type=float, default=1.5, help="longest wait for an answer")
    parser.add_argument("--least", type=float, default=0.5, help="shortest wait for an answer")
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--concurrency", type=int, default=64, help="pages of one worker")
    options = parser.parse_args()
    numbers = [int(each) for each in options.workers.split(",")]
    waiting = 2 * max(numbers) * options.urls
    print(f"{'workers':>8}{'URLs/s':>9}{'ratio':>7}{'server ms/URL':>15}")
    first = 0.0
    for number in numbers:
        rate, cpu = run(number, waiting, options)
        first = first or rate
        print(f"{number:>8}{rate:>9.1f}{rate / first:>7.2f}{1000 * cpu:>15.2f}", flush=True)


def run(number: int, waiting: int, options: argparse.Namespace) -> tuple[float, float]:
    """Return URLs per second of ``number`` workers, and PostgreSQL's CPU seconds per URL."""
    with (
        tempfile.TemporaryDirectory() as directory,
        FastServer(
            body=4096, delay=options.delay, least=options.least, hosts=options.hosts
        ) as pages,
        database(f"crawled_by_{number}") as address,
    ):
        environment = os.environ | crawl_settings(Path(directory) / "data", options.concurrency)
        environment |= {
            "ARCHIVER_CRAWL_PROCESSES": "1",
            "ARCHIVER_RENDER": "never",
            "ARCHIVER_INDEX": address,
        }
        listing = write_urls(Path(directory), pages, waiting)
        command = [sys.executable, "-m", "archiver"]
        fill = [*command, "import", str(listing), "--no-crawl"]
        subprocess.run(fill, env=environment, stdout=subprocess.DEVNULL, check=True)
        server = postmaster()
        before = server_cpu(server)
        workers = [
            subprocess.Popen([*command, "crawl"], env=environment, stdout=subprocess.DEVNULL)
            for _ in range(number)
        ]
        while pages.answered < number * options.urls and not any(each.poll() for each in workers):
            time.sleep(0.1)
        for each in workers:
            each.terminate()
        for each in workers:
            each.wait()
        cpu = (server_cpu(server) - before) / saved(address)
        return common_rate(address), cpu


def common_rate(address: str) -> float:
    """Return URLs per second while all workers fetched, from the times of their captures."""
    pages = "archiver.capture JOIN archiver.segment ON segment.id = segment_id"
    query = f"SELECT name, min(timestamp), max(timestamp) FROM {pages} GROUP BY name"
    spans: dict[str, list[int]] = {}
    for name, early, late in rows(address, query):
        spans.setdefault(writer_of(name), []).extend((early, late))
    first, last = max(map(min, spans.values())), min(map(max, spans.values()))
    query = f"SELECT count(*) FROM {pages} WHERE timestamp > {first} AND timestamp < {last}"
    ((count,),) = rows(address, query)
    if not count:
        raise SystemExit("The workers never fetched at the same time: use more --urls.")
    early, late = (to_datetime(Timestamp(str(each))).timestamp() for each in (first, last))
    return float(count / (late - early - 1))


def saved(address: str) -> int:
    """Return the number of saved entries; each must have one snapshot."""
    query = "SELECT count(*), max(snapshot_count) FROM archiver.entry WHERE snapshot_count > 0"
    ((count, most),) = rows(address, query)
    if most != 1:
        raise SystemExit("A URL was saved twice, or none was.")
    return int(count)


def rows(address: str, statement: str) -> Sequence[Any]:
    """Run one statement outside a transaction and return its rows."""

    async def run() -> Sequence[Any]:
        conn = await asyncpg.connect(address)
        try:
            return list(await conn.fetch(statement))
        finally:
            await conn.close()

    return asyncio.run(run())


@contextmanager
def database(name: str, *, stays: bool = False, is_there: bool = False) -> Iterator[str]:
    """Yield the address of a database, which is empty unless it exists already."""
    server = os.environ[SERVER]
    if not is_there:
        rows(f"{server}/postgres", f"DROP DATABASE IF EXISTS {name}")
        rows(f"{server}/postgres", f"CREATE DATABASE {name}")
    yield f"{server}/{name}"
    if not stays:
        rows(f"{server}/postgres", f"DROP DATABASE {name} WITH (FORCE)")


def server_cpu(main_process: psutil.Process) -> float:
    """Return CPU seconds of all processes of the server, with those that ended."""
    times = main_process.cpu_times()
    seconds = times.user + times.system + times.children_user + times.children_system
    for each in main_process.children():
        try:
            child_times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        seconds += child_times.user + child_times.system
    return float(seconds)


def postmaster() -> psutil.Process:
    """Return the server's main process, found by its port."""
    port = str(urlsplit(os.environ[SERVER]).port)
    for each in psutil.process_iter(["cmdline"]):
        command = each.info["cmdline"]
        if command and command[0].endswith("postgres") and port in command:
            return each
    raise SystemExit("The server does not run on this machine.")


if __name__ == "__main__":
    main()
