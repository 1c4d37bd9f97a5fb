"""A web of many hosts on loopback that writes down who asked which of them for what, and when."""

import asyncio
import itertools
import multiprocessing
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.fast_server import END, FastServer

FIRST = 30
"""The rank of who writes down when requests come: one that waits for a core writes what is late."""
_AGENT = b"\r\nUser-Agent: "


@dataclass(frozen=True)
class Fetch:
    """One request.

    Attributes:
        begun, ended: by the monotonic clock, which all processes of a machine have in common.
        host: the address that was asked.
        path: of the page.
        agent: who asked, as it says.
    """

    begun: float
    ended: float
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
        loop = asyncio.get_running_loop()
        with self._log.open("w", buffering=1) as log:
            server = await loop.create_server(
                lambda: _Watched(self, self._waits, log), sock=self._socket, backlog=4096
            )
            await server.serve_forever()

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


class _Watched(asyncio.Protocol):
    """A connection; an answer that nobody waits for any more counts until then."""

    def __init__(self, server: Witness, waits: tuple[float, float], log: IO[str]) -> None:
        self._server = server
        self._waits = waits
        self._log = log
        self._waiting = b""
        self._open: dict[int, tuple[float, str, str]] = {}
        self._numbers = itertools.count()
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        for number in [*self._open]:
            self._end(number)

    def data_received(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        self._waiting += data
        while END in self._waiting:
            head, _, self._waiting = self._waiting.partition(END)
            path = head.split(b" ", 2)[1]
            agent = head.partition(_AGENT)[2].partition(b"\r")[0]
            number = next(self._numbers)
            self._open[number] = (time.monotonic(), path.decode(), agent.decode())
            loop.call_later(random.uniform(*self._waits), self._answer, number, path)

    def _answer(self, number: int, path: bytes) -> None:
        kind, body = self._server.answer(path)
        if number in self._open:
            self._end(number)
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
                % (kind, len(body), body)
            )

    def _end(self, number: int) -> None:
        begun, path, agent = self._open.pop(number)
        host = self._transport.get_extra_info("sockname")[0]
        line = f"{begun:.6f}\t{time.monotonic():.6f}\t{host}\t{path}\t{agent}\n"
        self._log.write(line)
        self._server.note()


def _fetch(line: str) -> Fetch:
    begun, ended, host, path, agent = line.rstrip("\n").split("\t")
    return Fetch(float(begun), float(ended), host, path, agent)


def gaps(fetches: list[Fetch]) -> Iterator[float]:
    """Seconds between the beginnings of two requests that a host got one after the other."""
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
