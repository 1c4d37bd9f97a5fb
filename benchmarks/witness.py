"""A web of many hosts on loopback that writes down who asked which of them for what, and when."""

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
from tests import stamped

FIRST = 30
"""The rank of who answers: one that waits for a core would hold the requests up that it counts."""
_AGENT = b"\r\nUser-Agent: "


@dataclass(frozen=True)
class Fetch:
    """One request.

    Attributes:
        begun: when the system had it, however late it was read: nanoseconds since 1970.
        ended: when it was answered.
        host: the address that was asked.
        path: of the page.
        agent: who asked, as it says.
    """

    begun: int
    ended: int
    host: str
    path: str
    agent: str


class Witness(FastServer):
    """Answers after up to ``delay`` seconds, and writes each request into ``log``."""

    def __init__(self, log: Path, *, body: int, delay: float, hosts: int) -> None:
        super().__init__(body=body, delay=delay, hosts=hosts)
        self._log = log
        self._answered = multiprocessing.get_context("fork").Value("q", 0)

    async def _serve(self) -> None:
        with suppress(OSError):  # who may not goes by what it is late with
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIRST))
        with self._log.open("w", buffering=1) as log:
            await stamped.serve(
                self._socket, lambda connected: _Watched(connected, self, self._waits, log)
            )

    def fetches(self) -> list[Fetch]:
        """What it was asked for so far, in order."""
        with self._log.open() as log:
            return sorted(map(_fetch, log), key=lambda each: each.begun)

    def count(self) -> int:
        """How many requests were answered so far."""
        return int(self._answered.value)

    def note(self) -> None:
        """One more was answered; for the process that answers."""
        self._answered.value += 1


class _Watched(stamped.Connection):
    """A connection; an answer that nobody waits for any more counts until then."""

    def __init__(
        self, connected: socket.socket, server: Witness, waits: tuple[float, float], log: IO[str]
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
    """Nanoseconds between the beginnings of two requests that a host got one after the other."""
    for found in _by_host(fetches):
        yield from (after.begun - before.begun for before, after in itertools.pairwise(found))


def busiest(fetches: list[Fetch]) -> int:
    """The most requests that any host had at once."""
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
