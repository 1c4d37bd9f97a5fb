"""Processes that crawl at one index in PostgreSQL: how they add up, and what the server pays.

Usage: .ci/with-postgres python -m benchmarks.cluster [--urls N] [--processes 1,2,4] [--latency MS]
       [--queue N]

A server on loopback answers after ``--least`` to ``--delay`` seconds. The queue is filled first, as
full for one process as for several: all find their jobs in tables of one size. Then so many
``archiver crawl`` work it at the same time, each behind a proxy that counts how often it waits for
the database, and lets that take ``--latency`` longer, and how often it leases. They are stopped
once ``--urls`` for each were fetched. The queue is twice what most of them come to, if not said
otherwise: none sees its end, where each takes a part of what is left. With ``--queue 0`` it is what
they come to, and they work it to its end.

Printed are URLs a second, PostgreSQL's CPU (of all its processes, from /proc) and round trips a
URL, and leases of a thousand, of the time in which all were at work: from a second after the first
page of the process that began last (moments are whole seconds, and it may have begun within that
one) to the last page of the one that ended first. Let that be half a minute at least: batches take
five seconds. Behind them stand the same of everything, with each command's start and end, and how
many URLs were saved, none of them twice.
"""

import argparse
import asyncio
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import psutil
import uvloop
from sqlalchemy import create_engine, make_url
from sqlalchemy.pool import NullPool

from archiver.http.timestamps import to_datetime
from archiver.model.capture import Timestamp
from archiver.warc.segment_versions import writer_of
from benchmarks.crawl import crawl_settings, write_urls
from benchmarks.fast_server import FastServer
from benchmarks.meter import Meter

SERVER = "ARCHIVER_TEST_SERVER"
"""Names the variable of the environment that says where the server is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=4_000, help="for each process")
    parser.add_argument("--processes", default="1,2,4")
    parser.add_argument("--delay", type=float, default=3.0, help="answers wait up to so long")
    parser.add_argument("--least", type=float, default=1.0, help="answers wait so long at least")
    parser.add_argument("--hosts", type=int, default=2_000, help="one process at a time has a host")
    parser.add_argument("--concurrency", type=int, default=32, help="pages at once, a process")
    parser.add_argument("--latency", type=float, default=0.0, help="ms more to the database")
    parser.add_argument("--queue", type=int, help="URLs waiting; 0 for those that are come to")
    options = parser.parse_args()
    numbers = [int(each) for each in options.processes.split(",")]
    if options.queue is None:
        options.queue = 2 * max(numbers) * options.urls
    print(f"{'processes':>9}{HEAD}{'of all:':>10}{HEAD}{'saved':>9}")
    firsts: list[float] = []
    for number in numbers:
        *costs, saved = run(number, options)
        firsts = firsts or [each.rate for each in costs]
        at_work, in_all = (each.row(first) for each, first in zip(costs, firsts, strict=True))
        print(f"{number:>9}{at_work}{'':>10}{in_all}{saved:>9}", flush=True)


HEAD = f"{'seconds':>9}{'URLs/s':>8}{'ratio':>7}{'ms CPU/URL':>12}{'trips/URL':>11}{'leases':>8}"
TAKES = b"UPDATE job SET state='fetching'"
"""What a lease says to the server, and nothing else."""


@dataclass(frozen=True)
class Cost:
    """What some URLs cost: seconds, of the server CPU seconds and round trips, and leases."""

    urls: int
    seconds: float
    cpu: float
    trips: float
    leases: float

    @property
    def rate(self) -> float:
        """URLs a second."""
        return self.urls / self.seconds

    def row(self, first: float) -> str:
        """As ``HEAD`` has it; ``first`` is the rate of one process."""
        each = f"{1000 * self.cpu / self.urls:>12.3f}{self.trips / self.urls:>11.3f}"
        each += f"{1000 * self.leases / self.urls:>8.2f}"
        return f"{self.seconds:>9.1f}{self.rate:>8.1f}{self.rate / first:>7.2f}{each}"


def run(number: int, options: argparse.Namespace) -> tuple[Cost, Cost, int]:
    """The cost while all were at work, that of all, and how many URLs were saved."""
    urls = number * options.urls
    with (
        tempfile.TemporaryDirectory() as directory,
        FastServer(
            body=4096, delay=options.delay, least=options.least, hosts=options.hosts
        ) as pages,
        database(f"crawled_by_{number}") as address,
        Proxy(address, options.latency / 1000) as proxy,
    ):
        given = os.environ | crawl_settings(Path(directory) / "data", options.concurrency)
        given |= {"ARCHIVER_CRAWL_PROCESSES": "1", "ARCHIVER_RENDER": "never"}
        given["ARCHIVER_INDEX"] = proxy.address
        listing = write_urls(Path(directory), pages, max(urls, options.queue))
        archiver(given, "import", str(listing), "--no-crawl").wait()
        server = postmaster()
        begun = time.time()
        with Meter(lambda: (server_cpu(server), *proxy.counted)) as meter:
            crawls = [archiver(given, "crawl") for _ in range(number)]
            if options.queue > urls:
                stop_after(crawls, pages, urls)
            for each in crawls:
                each.wait()
            ended = time.time()
        early, late, some = at_work(address)
        kept = saved(address)
        return (
            Cost(some, late - early, *meter.between(early, late)),
            Cost(kept, ended - begun, *meter.between(begun, ended)),
            kept,
        )


def stop_after(crawls: "Sequence[subprocess.Popen[bytes]]", pages: FastServer, urls: int) -> None:
    """Stop all, as a person would, once so many were fetched."""
    while pages.answered < urls and all(each.poll() is None for each in crawls):
        time.sleep(0.1)
    for each in crawls:
        each.terminate()


def at_work(address: str) -> tuple[float, float, int]:
    """From when to when all processes fetched, in Unix seconds, and how many URLs meanwhile."""
    database = urlsplit(address).path[1:]
    pages = "archiver.capture JOIN archiver.segment ON segment.id = segment_id"
    asked = f"SELECT name, min(timestamp), max(timestamp) FROM {pages} GROUP BY name"
    spans: dict[str, list[int]] = {}
    for name, early, late in rows(database, asked):
        spans.setdefault(writer_of(name), []).extend((early, late))
    first, last = max(map(min, spans.values())), min(map(max, spans.values()))
    counted = f"SELECT count(*) FROM {pages} WHERE timestamp > {first} AND timestamp < {last}"
    ((some,),) = rows(database, counted)
    if not some:
        raise SystemExit("There was no moment at which all were at work: let them have more URLs.")
    early, late = (to_datetime(Timestamp(f"{each}")).timestamp() for each in (first, last))
    return early + 1, late, some


def archiver(given: dict[str, str], *words: str) -> "subprocess.Popen[bytes]":
    """A command, begun."""
    command = [sys.executable, "-m", "archiver", *words]
    return subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL)


def ask(database: str, statement: str) -> object:
    """The one value that a statement gives, if any."""
    found = rows(database, statement)
    return found[0][0] if found else None


def rows(database: str, statement: str) -> Sequence[Any]:
    """What a statement gives, if anything; in no transaction."""
    address = make_url(os.environ[SERVER]).set(drivername="postgresql+pg8000", database=database)
    engine = create_engine(address, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as conn:
        found = conn.exec_driver_sql(statement)
        return found.all() if found.returns_rows else ()


@contextmanager
def database(name: str, *, stays: bool = False, is_there: bool = False) -> Iterator[str]:
    """A database, empty unless it is there; its address."""
    if not is_there:
        ask("postgres", f"DROP DATABASE IF EXISTS {name}")
        ask("postgres", f"CREATE DATABASE {name}")
    yield f"{os.environ[SERVER]}/{name}"
    if not stays:
        ask("postgres", f"DROP DATABASE {name} WITH (FORCE)")


def saved(address: str) -> int:
    """How many entries have a snapshot; it must be one."""
    asked = "SELECT count(*), max(snapshot_count) FROM archiver.entry WHERE snapshot_count > 0"
    ((count, most),) = rows(urlsplit(address).path[1:], asked)
    if most != 1:
        raise SystemExit("A URL was saved twice, or none was.")
    return int(count)


def server_cpu(main_process: psutil.Process) -> float:
    """Seconds that all processes of the server have taken, those that ended too."""
    times = main_process.cpu_times()
    found = times.user + times.system + times.children_user + times.children_system
    for each in main_process.children():
        try:
            own = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        found += own.user + own.system
    return float(found)


def postmaster() -> psutil.Process:
    """The server's first process, found by its port."""
    port = make_url(os.environ[SERVER]).port
    for each in psutil.process_iter(["cmdline"]):
        command = each.info["cmdline"]
        if command and command[0].endswith("postgres") and str(port) in command:
            return each
    raise SystemExit("The server does not run on this machine.")


class Proxy:
    """Stands before the server: counts how often clients wait and lease, and makes it slower."""

    def __init__(self, address: str, latency: float) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._latency = latency
        parts = urlsplit(address)
        self._port = parts.port
        port = self._socket.getsockname()[1]
        self.address = f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}"
        context = multiprocessing.get_context("fork")
        self._trips = context.RawValue("q", 0)
        self._leases = context.RawValue("q", 0)
        self._process = context.Process(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.join()
        self._socket.close()

    @property
    def trips(self) -> int:
        """How often somebody waited."""
        return int(self._trips.value)

    @property
    def counted(self) -> tuple[int, int]:
        """How often somebody waited, and how often jobs were leased."""
        return self.trips, int(self._leases.value)

    def _run(self) -> None:
        uvloop.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._relay, sock=self._socket)
        async with server:
            await server.serve_forever()

    async def _relay(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        answers, forth = await asyncio.open_connection("127.0.0.1", self._port)
        turn = [False]
        await asyncio.gather(
            self._pass(client, forth, turn, is_asking=True),
            self._pass(answers, back, turn, is_asking=False),
            return_exceptions=True,
        )

    async def _pass(
        self,
        source: asyncio.StreamReader,
        to: asyncio.StreamWriter,
        turn: list[bool],
        *,
        is_asking: bool,
    ) -> None:
        loop = asyncio.get_running_loop()
        before = b""
        while piece := await source.read(1 << 16):
            if is_asking:
                self._trips.value += not turn[0]
                self._leases.value += (before + piece).count(TAKES)
                before = piece[1 - len(TAKES) :]
            turn[0] = is_asking
            loop.call_later(self._latency / 2, to.write, piece)
        loop.call_later(self._latency / 2, to.close)


if __name__ == "__main__":
    main()
