"""What one core of PostgreSQL carries: crawls that bring pages as fast as they can make them.

Usage: python -m benchmarks.one_core [--drivers 1,2,4,8] [--seconds N] [--share PART] [--durable]
       [--requisites N] [--words N]

A server of its own has core 0, and of that ``--share`` (by a control group of version 1, as root);
the drivers have all others. Each of them is a crawl as ``archiver crawl`` is, with all that it says
to the index, whose pages are there already (``benchmarks.one_core_driver``): they are leased,
recorded in segments and indexed with their words. With ``--durable`` the server syncs as it is
installed; else it does not, as in tests.

Printed are, of some seconds in which all were at work, URLs a second, what of its core the server
had, its CPU for a URL, and what became of the turn to write, looked at forty times a second: how
much of the time it was held by a transaction that the server worked at, or waited for its disk, or
for its driver, and how many drivers waited for the turn.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import SaidConnection, connect

from benchmarks.cluster import server_cpu
from benchmarks.crawl import crawl_settings
from benchmarks.own_postgres import OwnPostgres

SERVERS_CORE = 0
LOOKS_A_SECOND = 40
PERIOD_MICROSECONDS = 10_000
"""Of a share of a core: what a process waits for, once it had it, is as short."""
WARM_SECONDS = 8.0
EACH_WARM_SECONDS = 2.0
"""For each driver more: they begin on one core."""
TURN = """
SELECT l.granted, a.state, a.wait_event_type FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory'
"""
SAVED = "SELECT value FROM archiver.counter WHERE name = 'snapshots'"
TWICE = "SELECT count(*) FROM archiver.entry WHERE snapshot_count > 1"
NOT_DURABLE = ("full_page_writes=off", "synchronous_commit=off")


@dataclass(frozen=True)
class Seen:
    """Some seconds: ``turn`` counts looks by what its holder was at, ``waiting`` is a mean."""

    urls: int
    seconds: float
    cpu: float
    turn: Counter[str]
    waiting: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drivers", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--share", type=float, default=1.0, help="of the core, for the server")
    parser.add_argument("--durable", action="store_true", help="the server syncs")
    parser.add_argument("--requisites", type=int, default=0, help="of each page")
    parser.add_argument("--words", type=int, default=500, help="of each page")
    parser.add_argument("--urls", type=int, default=60_000, help="in the queue")
    parser.add_argument("--hosts", type=int, default=6_000)
    parser.add_argument("--concurrency", type=int, default=64, help="pages at once, a driver")
    options = parser.parse_args()
    print(f"{'drivers':>7}{'URLs/s':>8}{'core':>7}{'ms CPU/URL':>12}", end="")
    print(f"{'turn: server':>14}{'disk':>7}{'driver':>8}{'free':>7}{'waiting':>9}")
    for number in map(int, options.drivers.split(",")):
        row(number, run(number, options), options)


def row(number: int, seen: Seen, options: argparse.Namespace) -> None:
    """Print what was seen of so many drivers."""
    core = seen.cpu / seen.seconds / options.share
    print(f"{number:>7}{seen.urls / seen.seconds:>8.0f}{core:>7.0%}", end="")
    print(f"{1000 * seen.cpu / seen.urls:>12.3f}", end="")
    looks = seen.turn.total()
    for width, what in ((14, "server"), (7, "disk"), (8, "driver"), (7, "free")):
        print(f"{seen.turn[what] / looks:>{width}.0%}", end="")
    print(f"{seen.waiting:>9.2f}", flush=True)


def run(number: int, options: argparse.Namespace) -> Seen:
    """So many drivers at a new index of a new server."""
    settings = ("fsync=on",) if options.durable else NOT_DURABLE
    with ExitStack() as stack:
        server = stack.enter_context(OwnPostgres(None, *settings))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        given = os.environ | crawl_settings(folder / "data", options.concurrency)
        given |= {"ARCHIVER_CRAWL_PROCESSES": "1", "ARCHIVER_RENDER": "never"}
        given["ARCHIVER_INDEX"] = server.address
        listing = folder / "urls.txt"
        with listing.open("w") as file:
            for n in range(options.urls):
                file.write(f"http://h{n % options.hosts}.example/page/{n}\n")
        command = [sys.executable, "-m", "archiver", "import", str(listing), "--no-crawl"]
        subprocess.run(command, env=given, stdout=subprocess.DEVNULL, check=True)
        first = psutil.Process(server.pid)
        stack.enter_context(held(first, options.share))
        watching = stack.enter_context(closing(connect(read_address(server.address))))
        watching.autocommit = True
        begin_apart(watching, options.share)
        drivers = [drive(given, options) for _ in range(number)]
        stack.callback(stop, drivers)
        time.sleep(WARM_SECONDS + number * EACH_WARM_SECONDS)
        return watch(watching, first, options.seconds)


def drive(given: dict[str, str], options: argparse.Namespace) -> "subprocess.Popen[bytes]":
    """A driver, begun, on the cores that are not the server's."""
    what = (f"{options.requisites}", f"{options.words}")
    command = [sys.executable, "-m", "benchmarks.one_core_driver", *what]
    begun = subprocess.Popen(command, env=given, stderr=subprocess.DEVNULL)
    psutil.Process(begun.pid).cpu_affinity(others())
    return begun


def stop(drivers: "Sequence[subprocess.Popen[bytes]]") -> None:
    """End all of them, as a person would."""
    for each in drivers:
        each.send_signal(signal.SIGTERM)
    for each in drivers:
        each.wait()


def others() -> list[int]:
    """The cores that are not the server's."""
    return [each for each in range(psutil.cpu_count() or 1) if each != SERVERS_CORE]


@contextmanager
def held(server: psutil.Process, share: float) -> Iterator[None]:
    """Let all processes of a server have one core, or a share of it; those it begins later, too."""
    own = own_group()
    group = own / "one-core"
    if share < 1:
        group.mkdir(exist_ok=True)
        (group / "cpu.cfs_period_us").write_text(f"{PERIOD_MICROSECONDS}")
        (group / "cpu.cfs_quota_us").write_text(f"{round(share * PERIOD_MICROSECONDS)}")
    for each in (server, *server.children()):
        with suppress(psutil.NoSuchProcess, ProcessLookupError):  # one that is at its end
            each.cpu_affinity([SERVERS_CORE])
            if share < 1:
                (group / "cgroup.procs").write_text(f"{each.pid}")
    yield


def own_group() -> Path:
    """The control group of this process, of version 1."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    named = (each.split(":", 2) for each in lines)
    own = next(path for _, controllers, path in named if "cpu" in controllers.split(","))
    return Path(f"/sys/fs/cgroup/cpu{own}")


def begin_apart(watching: SaidConnection, share: float) -> None:
    """Let who watches have what the drivers have of the machine, not what the server has."""
    ((pid,),) = ask(watching, "SELECT pg_backend_pid()")
    psutil.Process(pid).cpu_affinity(others())
    if share < 1:
        (own_group() / "cgroup.procs").write_text(f"{pid}")


def watch(watching: SaidConnection, server: psutil.Process, seconds: float) -> Seen:
    """Look at the turn again and again while the drivers are at work."""
    turn: Counter[str] = Counter()
    waiting: list[int] = []
    urls, cpu, begun = saved(watching), server_cpu(server), time.monotonic()
    while time.monotonic() < begun + seconds:
        locks = ask(watching, TURN)
        turn[next((_at(*each[1:]) for each in locks if each[0]), "free")] += 1
        waiting.append(sum(not each[0] for each in locks))
        time.sleep(1 / LOOKS_A_SECOND)
    took = time.monotonic() - begun
    if ask(watching, TWICE) != [[0]]:
        raise SystemExit("A URL was saved twice.")
    return Seen(
        saved(watching) - urls, took, server_cpu(server) - cpu, turn, statistics.mean(waiting)
    )


def _at(state: str, waits_for: str | None) -> str:
    """What a transaction is at, as the server tells it."""
    if state != "active" or waits_for == "Client":
        return "driver"
    return "disk" if waits_for == "IO" else "server"


def saved(watching: SaidConnection) -> int:
    """How many snapshots there are."""
    found = ask(watching, SAVED)
    return int(found[0][0]) if found else 0


def ask(watching: SaidConnection, statement: str) -> list[Any]:
    """The rows of a statement."""
    return watching.execute_simple(statement).rows or []


if __name__ == "__main__":
    main()
