"""Many loopback hosts that log the client, URL and time of every request."""

import asyncio
import itertools
import multiprocessing
import os
import random
import socket
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks.fast_server import FastServer
from tests import timed_server

FIRST = 30
"""Process priority of the server: if it waited for a core, it would delay the measured requests."""
_AGENT = b"\r\nUser-Agent: "


@dataclass(frozen=True)
class Fetch:
    """One request.

    Attributes:
        begun: time the system received it, in nanoseconds since 1970.
        ended: time of the response.
        host: requested address.
        path: path of the page.
        agent: User-Agent of the client.
    """

    begun: int
    ended: int
    host: str
    path: str
    agent: str


class LoggingServer(FastServer):
    """Server that responds after up to ``delay`` seconds, and logs each request."""

    def __init__(self, log: Path, *, body: int, delay: float, hosts: int) -> None:
        super().__init__(body=body, delay=delay, hosts=hosts)
        self._log = log
        self._answered = multiprocessing.get_context("fork").Value("q", 0)

    async def _serve(self) -> None:
        with suppress(OSError):  # without the permission, it runs at normal priority
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIRST))
        with self._log.open("w", buffering=1) as log:
            await timed_server.serve(
                self._socket, lambda connected: _Watched(connected, self, self._waits, log)
            )

    def fetches(self) -> list[Fetch]:
        """Return the requests until now, in order."""
        with self._log.open() as log:
            return sorted(map(_fetch, log), key=lambda each: each.begun)

    def count(self) -> int:
        """Return the number of responses until now."""
        return int(self._answered.value)

    def note(self) -> None:
        """Count one more response; called by the server process."""
        self._answered.value += 1


class _Watched(timed_server.Connection):
    """A connection; a response without a waiting client counts until the connection is closed."""

    def __init__(
        self,
        connected: socket.socket,
        server: LoggingServer,
        waits: tuple[float, float],
        log: IO[str],
    ) -> None:
        super().__init__(connected)
        self._server = server
        self._waits = waits
        self._log = log
        self._open: dict[int, tuple[int, str, str]] = {}
        self._numbers = itertools.count()

    def lost(self) -> None:
        for number in [*self._open]:
            self._end(number)

    def asked(self, head: bytes, moment: int) -> None:
        path = head.split(b" ", 2)[1]
        agent = head.partition(_AGENT)[2].partition(b"\r")[0]
        number = next(self._numbers)
        self._open[number] = (moment, path.decode(), agent.decode())
        wait = random.uniform(*self._waits)
        asyncio.get_running_loop().call_later(wait, self._say, number, path)

    def _say(self, number: int, path: bytes) -> None:
        if number in self._open:
            self._end(number)
            self.answer(*self._server.answer(path))

    def _end(self, number: int) -> None:
        begun, path, agent = self._open.pop(number)
        self._log.write(f"{begun}\t{time.time_ns()}\t{self.at}\t{path}\t{agent}\n")
        self._server.note()


def _fetch(line: str) -> Fetch:
    begun, ended, host, path, agent = line.rstrip("\n").split("\t")
    return Fetch(int(begun), int(ended), host, path, agent)


def gaps(fetches: list[Fetch]) -> Iterator[int]:
    """Yield the nanoseconds between the starts of consecutive requests to a host."""
    for found in _by_host(fetches):
        yield from (after.begun - before.begun for before, after in itertools.pairwise(found))


def busiest(fetches: list[Fetch]) -> int:
    """Return the largest number of concurrent requests to any host."""
    most = 0
    for found in _by_host(fetches):
        steps = sorted([(each.begun, 1) for each in found] + [(each.ended, -1) for each in found])
        most = max(most, *itertools.accumulate(step for _, step in steps))
    return most


def _by_host(fetches: list[Fetch]) -> list[list[Fetch]]:
    found = defaultdict(list)
    for each in fetches:
        found[each.host].append(each)
    return [*found.values()]
