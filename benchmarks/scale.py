"""Builds archives of growing size and prints the response times of the service for each.

Usage: python -m benchmarks.scale [--sizes 10000 100000 1000000] [--requests 60] [--cpu]
       [--in FOLDER] [--only TEXT]
       python -m benchmarks.scale --postgres --in FOLDER [--sizes …] [--cpu] [--only TEXT]
       .ci/with-postgres python -m benchmarks.scale --postgres [--sizes …] [--cpu] [--only TEXT]

The archives are synthetic: real records for a few hundred pages, and index rows for all others that
point to those records. ``archiver serve`` runs for each of them, and requests go to all in turn
over one connection each, so that other load affects all equally. Times are of whole responses. The
last column compares p95 of the largest with the smallest archive. ``--cpu`` prints the CPU time of
the service instead, which hardly depends on other load and excludes waiting for the disk. ``--in``
keeps archives in that folder and reuses existing ones; ``--only`` selects rows whose names contain
a text. With ``--postgres`` the indexes are databases of a server, whose CPU time is included; its
data is also kept in the folder if there is one.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

import aiohttp
import psutil
from yarl import URL

from archiver.http.urls import hash_url
from benchmarks.cluster import SERVER, database, postmaster
from benchmarks.fast_server import FastServer
from benchmarks.private_postgres import PrivatePostgres
from benchmarks.pywb_replay import free_port, serving
from benchmarks.scale_archive import APART, PAGEFUL, REAL, generated_url, is_built, kept

ADDED = "add one more"
AS_IN_TESTS = ("full_page_writes=off", "synchronous_commit=off", "max_connections=300")
"""Server settings that ``.ci/with-postgres`` uses."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--in", dest="folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    if options.folder and options.postgres:
        options.folder /= "postgres"
    with ExitStack() as stack:
        if options.folder and options.postgres:
            server = stack.enter_context(PrivatePostgres(options.folder / "server", *AS_IN_TESTS))
            os.environ[SERVER] = server.address.rpartition("/")[0]
        live = stack.enter_context(FastServer(body=2000)).base
        services = {
            size: stack.enter_context(served(size, live, options)) for size in options.sizes
        }
        asyncio.run(ask(services, options.requests))


@dataclass(frozen=True)
class Service:
    """A running service: its URL, the clock for its responses, and its requests."""

    root: str
    clock: Callable[[], float]
    paths: Mapping[str, Callable[[int], str]]


@contextmanager
def served(size: int, live: str, options: argparse.Namespace) -> Iterator[Service]:
    """Serve an archive with ``size`` snapshots, built first if necessary."""
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        built, index = folder / str(size), ""
        if options.postgres:
            stays, is_there = bool(options.folder), is_built(built)
            index = stack.enter_context(database(f"of_{size}", stays=stays, is_there=is_there))
        base = kept(built, size, live, index)
        with serving_in(built / "data", index, cpu=options.cpu) as (root, clock):
            yield Service(root, clock, paths_of(size, base, live, options.only))


SEARCHES: dict[str, tuple[str, str]] = {
    "newest, common word": ("common", "newest"),
    "newest, two words": ("word{n} word{m}", "newest"),
    "best, rare word": ("unicorn", ""),
    "best, common word": ("common", ""),
    "best, two words": ("word{n} word{m}", ""),
    "best, four words": ("common title things word{n}", ""),
    "phrase": ('"word{n} word{m}"', ""),
    "phrase by chance": ('"word{k} word{l}"', ""),
    "prefix": ("word{k}*", ""),
    "without a prefix": ("common -w*", ""),
    "rare word, prefix": ("unicorn w*", ""),
    "rare word, half typed": ("unicorn w", ""),
    "or, not, brackets": ("(word{n} OR word{m}) -word7", ""),
    "title:": ("title:things", ""),
    "words and a tag": ("common tag:tag{n}", ""),
    "words and a rare tag": ("common tag:seldom", ""),
    "words and a site": ("common site:host{n}.example", ""),
    "words, type and date": ("common type:page added:2015-01", ""),
    "words or a mark": ("unicorn OR is:starred", ""),
    "site:": ("site:host{n}.example", ""),
    "is:, none": ("is:gap", ""),
    "Japanese": ("東京", ""),
    "one character": ("鳥", ""),
    "misspelt": ("unicron", ""),
    "oldest": ("common", "oldest"),
    "by title": ("common", "title"),
    "by length": ("common", "length"),
}
"""Searches with their order; each result page includes facets."""


def address(search: tuple[str, str]) -> Callable[[int], str]:
    """Return a function for the URL of a search, different for each number."""
    q, sort = search
    return lambda n: (
        f"/snapshots?q={quote(q.format(n=n, m=n + 1, k=n + APART, l=n + APART + 1))}&sort={sort}"
    )


@contextmanager
def serving_in(data: Path, index: str, *, cpu: bool) -> Iterator[tuple[str, Callable[[], float]]]:
    """Serve an archive; yield its URL, and a function for wall-clock or CPU time."""
    port = free_port()
    command = [sys.executable, "-m", "archiver", "serve", "--data", str(data), "--port", str(port)]
    os.environ["ARCHIVER_ALLOW_NETWORKS"] = "127.0.0.0/8"
    os.environ["ARCHIVER_HOST_DELAY"] = "0"
    os.environ |= {"ARCHIVER_INDEX": index} if index else {}
    with serving(command, port) as service:
        server = postmaster() if index else None
        clock = partial(all_cpu_seconds, service.pid, index, server) if cpu else time.perf_counter
        yield f"http://127.0.0.1:{port}", clock


def all_cpu_seconds(pid: int, index: str, server: psutil.Process | None) -> float:
    """Return the CPU seconds of a service, and of the database server of its index."""
    database_name = f" {index.rpartition('/')[2]} "
    backends = server.children() if server else []
    return sum(
        map(cpu_seconds, [pid, *(each.pid for each in backends if database_name in named(each))])
    )


def named(process: psutil.Process) -> str:
    """Return the name of a process, or "" if it has just ended."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of all threads of a process."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9


def paths_of(size: int, base: str, live: str, only: str) -> dict[str, Callable[[int], str]]:
    """Return the requests with a URL for each number; links that are added are all different."""
    chance = random.Random(2)
    real = [f"{base}/real/{n}" for n in range(REAL)]
    kinds = {
        "home page": lambda _: "/",
        "browse": lambda _: "/snapshots",
        "browse a tag": lambda n: f"/snapshots?tag=tag{n % 50}",
        "browse a host": lambda n: f"/snapshots?host=host{n}.example",
        **{name: address(search) for name, search in SEARCHES.items()},
        "entry": lambda n: f"/{hash_url(real[n % REAL])}/",
        "replay": lambda n: f"/web/2026id_/{real[n % REAL]}",
        "index of a URL": lambda _: (
            f"/timemap/json/{generated_url(chance.randrange(size - REAL), size // PAGEFUL)}"
        ),
        ADDED: lambda n: f"{live}/new/{n}",
    }
    return {name: path for name, path in kinds.items() if only in name}


async def ask(services: Mapping[int, Service], requests: int) -> None:
    """Send the same requests to every service in turn, after a warm-up; print a row for each."""
    print(f"{'':22}" + "".join(f"{size:>20,}" for size in services) + f"{'p95 grows':>12}")
    async with aiohttp.ClientSession() as session:
        for name in next(iter(services.values())).paths:
            request_once, times = (add, min(requests, 20)) if name == ADDED else (get, requests)
            durations: dict[int, list[float]] = {size: [] for size in services}
            for n in range(times + 1):
                for size, service in services.items():
                    seconds = await request_once(session, service, service.paths[name](n))
                    durations[size] += [seconds] * bool(n)
            show(name, [sorted(each) for each in durations.values()])


async def get(session: aiohttp.ClientSession, service: Service, path: str) -> float:
    """Return the seconds of one response, including redirects."""
    started = service.clock()
    async with session.get(URL(service.root + path, encoded=True)) as response:
        await response.read()
        assert response.status == 200, (path, response.status)
    return service.clock() - started


async def add(session: aiohttp.ClientSession, service: Service, url: str) -> float:
    """Return the seconds until one more link is accepted and safe in the queue."""
    started = service.clock()
    async with session.post(f"{service.root}/api/v1/entries", json={"urls": [url]}) as response:
        assert response.status == 202, response.status
        await response.read()
    return service.clock() - started


def show(name: str, times: Sequence[Sequence[float]]) -> None:
    """Print medians and p95 in milliseconds, and the growth of p95."""
    tails = [each[int(len(each) * 0.95)] for each in times]
    cells = [
        f"{1000 * each[len(each) // 2]:>11.1f} {1000 * tail:>8.1f}"
        for each, tail in zip(times, tails, strict=True)
    ]
    print(f"{name:22}{''.join(cells)}{tails[-1] / tails[0]:>12.2f}", flush=True)


if __name__ == "__main__":
    main()
