"""A cheap loopback server in a separate process, so that its cost is not counted as ours.

Each response is delayed by a random time from ``least`` to ``delay`` seconds, as a
real server's.
"""

import asyncio
import multiprocessing
import random
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import psutil
import uvloop

END = b"\r\n\r\n"


Answer = Callable[[bytes], tuple[bytes, bytes]]
"""Maps a request target to (Content-Type, body)."""


class Server:
    """Context manager for a server that responds to every GET with ``answer``, on several hosts."""

    def __init__(self, *, delay: float = 0.0, least: float = 0.0, hosts: int = 1) -> None:
        self._socket = socket.create_server(("127.0.0.1" if hosts == 1 else "", 0), backlog=4096)
        self.port = self._socket.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self._hosts = hosts
        self._waits = least, delay
        context = multiprocessing.get_context("fork")
        self._answered = context.RawValue("q", 0)
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

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the server process."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    @property
    def answered(self) -> int:
        """Return the number of responses until now."""
        return int(self._answered.value)

    def _run(self) -> None:
        uvloop.run(self._serve())

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: _Connection(self._counted, self._waits), sock=self._socket, backlog=4096
        )
        await server.serve_forever()

    def _counted(self, target: bytes) -> tuple[bytes, bytes]:
        self._answered.value += 1
        return self.answer(target)

    def answer(self, target: bytes) -> tuple[bytes, bytes]:
        """Return the media type and body for a target."""
        raise NotImplementedError

    def url(self, number: int) -> str:
        """Return the URL with this number; all bodies are different."""
        third, fourth = divmod(number % self._hosts, 250)
        return f"http://127.0.{third}.{fourth + 1}:{self.port}/{number}"


class FastServer(Server):
    """Server of ``body`` bytes of text that begin with the path, so that all are different."""

    def __init__(
        self, *, body: int, delay: float = 0.0, least: float = 0.0, hosts: int = 1
    ) -> None:
        super().__init__(delay=delay, least=least, hosts=hosts)
        self._filler = (b"some words of a small page " * (body // 27 + 1))[:body]

    def answer(self, target: bytes) -> tuple[bytes, bytes]:
        """Return the media type and body for a target."""
        body = (target + b"\n" + self._filler)[: max(len(self._filler), len(target))]
        return b"text/plain; charset=utf-8", body


class _Connection(asyncio.Protocol):
    def __init__(self, answer: Answer, waits: tuple[float, float]) -> None:
        self._say = answer
        self._waits = waits
        self._waiting = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while END in self._waiting:
            head, _, self._waiting = self._waiting.partition(END)
            path = head.split(b" ", 2)[1]
            if self._waits[1]:
                wait = random.uniform(*self._waits)
                asyncio.get_running_loop().call_later(wait, self._answer, path)
            else:
                self._answer(path)

    def _answer(self, path: bytes) -> None:
        kind, body = self._say(path)
        if self._transport and not self._transport.is_closing():
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
                % (kind, len(body), body)
            )
