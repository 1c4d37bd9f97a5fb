"""Machines of one archive that crawl, what they share, and what is done to them meanwhile."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect

from benchmarks.capture import run
from benchmarks.crawl import crawl_settings
from benchmarks.dying import MOMENTS, STEPS
from benchmarks.own_postgres import OwnPostgres
from benchmarks.witness import Witness
from tests.cluster.s3_servers import REGION, S3Server

DELAY, MOST = 1.0, 2
CONCURRENCY = 60
"""Pages at once; a process holds as many hosts as give it several times that: each finds some."""
LEASE = 6.0
KINDS = (*STEPS, "stop", "server")
PATIENCE = 300.0
FENCED_OFF = 75


@dataclass(frozen=True)
class Kill:
    """What was done to whom, from when to when (ns since 1970); to all, if there is no machine."""

    kind: str
    machine: int | None
    begun: int
    ended: int


class Machine:
    """A data directory and the process that crawls in it.

    Attributes:
        number: of the machine.
        life: how often it was started.
        begun: when the last time was.
        environment: of its commands.
        process: that runs.
        is_down: whether it is not to be started again yet.
    """

    def __init__(self, number: int, folder: Path, environment: dict[str, str]) -> None:
        self.number = number
        self.life, self.begun = 0, 0
        self.order = folder / f"order-{number}"
        self.environment = environment | {"ARCHIVER_DATA": str(folder / f"data-{number}")}
        Path(self.environment["ARCHIVER_DATA"]).mkdir()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_down = False

    @property
    def agent(self) -> str:
        """How its process is called in the log."""
        return f"{self.number}.{self.life}"

    def start(self) -> None:
        """Start it, in its next life."""
        self.life += 1
        self.begun = time.time_ns()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.dying", str(self.order), "serve"],
            env=self.environment | {"ARCHIVER_USER_AGENT": self.agent},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def locks(self) -> set[str]:
        """The locks that its process has open, by one of which the index knows who writes."""
        if self.status() is not None or not self.process:
            return set()
        with suppress(FileNotFoundError, ProcessLookupError):
            files = Path(f"/proc/{self.process.pid}/fd").iterdir()
            return {each.readlink().stem for each in files}
        return set()

    def status(self) -> int | None:
        """How it ended; None while it runs."""
        return self.process.poll() if self.process else None

    def send(self, number: int) -> None:
        """Send it a signal."""
        if self.process:
            self.process.send_signal(number)


class Cluster:
    """The machines, what they share, and what is done to them.

    Attributes:
        machines: that crawl.
        kills: that were done.
        faults: that were seen meanwhile.
    """

    def __init__(
        self, folder: Path, server: OwnPostgres, store: S3Server, pages: Witness, machines: int
    ) -> None:
        bucket = f"kills-{uuid4().hex[:12]}"
        store.make_bucket(bucket)
        shared = os.environ | crawl_settings(folder, CONCURRENCY)
        shared |= {
            "ARCHIVER_INDEX": server.address,
            "ARCHIVER_STORE": f"s3://{bucket}/kept",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{store.port}",
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": store.access,
            "AWS_SECRET_ACCESS_KEY": store.secret,
            "ARCHIVER_PORT": "0",
            "ARCHIVER_RENDER": "never",
            "ARCHIVER_CRAWL_PROCESSES": "1",
            "ARCHIVER_EXTRACT_PROCESSES": "1",
            "ARCHIVER_HOST_DELAY": str(DELAY),
            "ARCHIVER_HOST_CONCURRENCY": str(MOST),
            "ARCHIVER_WRITER_LEASE": str(LEASE),
            "ARCHIVER_SEAL_SECONDS": "2",
            "ARCHIVER_UPLOADED_BYTES": "0",
            "ARCHIVER_QUIET_HOUR": "-1",
        }
        self.machines = [Machine(number, folder, shared) for number in range(machines)]
        self.kills: list[Kill] = []
        self.faults: list[str] = []
        self._server = server
        self._is_stopped = False
        self._pages = pages
        self._fresh = Machine(machines, folder, shared)

    def crawl(self, chance: random.Random, urls: int) -> None:
        """Crawl until the queue is empty, with one kill in each stretch of it."""
        kinds = [*KINDS]
        chance.shuffle(kinds)
        for machine in self.machines:
            machine.start()
        for number, kind in enumerate(kinds):
            fetched = urls * (number + chance.uniform(0.2, 0.8)) / (len(kinds) + 1)
            self._wait(lambda least=fetched: self._pages.count() >= least, f"before {kind}")
            self._kill(kind, chance)
        self._wait(self._is_done, "for the end", 20 * PATIENCE)
        for machine in self.machines:
            machine.send(signal.SIGTERM)
        for machine in self.machines:
            if machine.process and machine.process.wait():
                self.faults.append(f"machine {machine.agent} ended with {machine.status()}")

    def end(self) -> None:
        """Let nothing run any more, whatever happened."""
        for machine in self.machines:
            if machine.process:
                machine.process.kill()
                machine.process.wait()

    def _kill(self, kind: str, chance: random.Random) -> None:
        self._wait(lambda: len(self._busy()) > 0, f"for somebody busy, to try {kind}")
        machine = chance.choice(self._busy())
        if kind == "server":
            begun = time.time_ns()
            self._is_stopped = True
            self._server.stop_at_once()
            self._pause(chance.uniform(1, 2 * LEASE))
            self._server.start()
            self._is_stopped = False
            self.kills.append(Kill(kind, None, begun, time.time_ns()))
        elif kind == "stop":
            self._stop(machine)
        else:
            self._order(machine, kind, chance)

    def _order(self, machine: Machine, kind: str, chance: random.Random) -> None:
        """Let a machine die at a step, and be started again soon, or when others did its work."""
        machine.is_down = True
        fresh = machine.order.with_suffix(".new")
        fresh.write_text(f"{kind} {chance.choice(MOMENTS)}")
        begun = time.time_ns()
        fresh.rename(machine.order)
        self._wait(lambda: machine.status() is not None, f"for {kind} of {machine.agent}")
        self.kills.append(Kill(kind, machine.number, begun, time.time_ns()))
        if machine.status() != -signal.SIGKILL:
            self.faults.append(f"{kind}: {machine.agent} ended with {machine.status()}")
        machine.order.unlink()
        machine.process = None
        self._pause(chance.uniform(0, 3 * LEASE))
        machine.is_down = False

    def _stop(self, machine: Machine) -> None:
        machine.is_down = True
        begun, (name,) = time.time_ns(), self._writers() & machine.locks()
        machine.send(signal.SIGSTOP)
        self._wait(lambda: name not in self._writers(), f"until {machine.agent} is dead to others")
        machine.send(signal.SIGCONT)
        self._wait(lambda: machine.status() is not None, f"for the end of {machine.agent}")
        self.kills.append(Kill("stop", machine.number, begun, time.time_ns()))
        if machine.status() != FENCED_OFF:
            self.faults.append(f"{machine.agent} came back, and ended with {machine.status()}")
        machine.is_down = False

    def _wait(self, is_so: Callable[[], bool], why: str, seconds: float = PATIENCE) -> None:
        """Look after the machines until something is so."""
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise SystemExit(f"waited too long {why}")
            self._look_after()
            time.sleep(0.1)

    def _pause(self, seconds: float) -> None:
        over = time.monotonic() + seconds
        self._wait(lambda: time.monotonic() > over, "for a while")

    def _look_after(self) -> None:
        """Start whoever ended again, as whatever looks after services does."""
        for machine in self.machines:
            status = machine.status()
            if machine.is_down or (status is None and machine.process):
                continue
            if machine.process and status != FENCED_OFF and not self._could_not_start(machine):
                self.faults.append(f"machine {machine.agent} ended with {status}")
            machine.start()

    def _could_not_start(self, machine: Machine) -> bool:
        """Whether a machine may have ended since the server was away when it began."""
        stops = [each for each in self.kills if each.machine is None]
        return self._is_stopped or any(machine.begun < each.ended for each in stops)

    def _busy(self) -> list[Machine]:
        """The machines that have leases."""
        asked = "SELECT DISTINCT owner FROM job WHERE state = 'fetching'"
        owners = {row[0] for row in self.rows(asked)}
        return [each for each in self.machines if owners & each.locks()]

    def _writers(self) -> set[str]:
        return {row[0] for row in self.rows("SELECT name FROM writer")}

    def _is_done(self) -> bool:
        """Whether nothing is queued, and nothing lies on one machine alone, which may be down."""
        queued = "EXISTS (SELECT FROM job WHERE state IN ('queued', 'fetching'))"
        alone = "EXISTS (SELECT FROM segment WHERE machine IS NOT NULL)"
        return not self.rows(f"SELECT {queued} OR {alone}")[0][0]

    def rows(self, statement: str) -> list[Any]:
        """What the index answers."""
        with closing(connect(read_address(self._server.address))) as connection:
            cursor = connection.cursor()
            cursor.execute("SET search_path = archiver")
            cursor.execute(statement)
            return list(cursor.fetchall())

    def last_look(self, urls: int) -> list[str]:
        """What is wrong in the index and in the store, seen from a directory that was empty."""
        saved = dict(self.rows("SELECT snapshot_count, count(*) FROM entry GROUP BY 1"))
        asked = (
            "SELECT n, count(*) FROM (SELECT count(*) AS n FROM capture GROUP BY surt) x GROUP BY 1"
        )
        captured = dict(self.rows(asked))
        states = dict(self.rows("SELECT state, count(*) FROM job GROUP BY 1"))
        faults = []
        if saved != {1: urls}:
            faults.append(f"entries by their number of snapshots: {saved}")
        if captured != {1: urls}:
            faults.append(f"addresses by their number of captures: {captured}")
        if states != {"saved": urls}:
            faults.append(f"jobs by their state: {states}")
        try:
            told = run(["verify"], self._fresh.environment)
        except subprocess.CalledProcessError as error:
            told = error.stdout
        if "problems\t0" not in told:
            faults.append(f"verify: {told.splitlines()[:5]}")
        return faults
