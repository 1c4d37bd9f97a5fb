"""Workers of the program that run as threads of the test's process.

Starting a worker process takes 0.3 s of CPU, and a thousand tests need one. The thread runs the
same function on the same messages. Tests of properties of processes (limits, priority, being
killed) have the mark ``real_children``; processes started by tests also have real workers.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from archiver.formats import import_process, import_worker
from archiver.helpers import start_child
from archiver.pages import worker, worker_pool

Serve = Callable[..., None]

SERVE_FUNCTIONS: dict[str, Serve] = {
    "archiver.pages.worker": lambda source, sink, *_: worker.serve(source, sink),
    "archiver.formats.import_worker": lambda source, sink, _, *arguments: import_worker.serve(
        source, sink, *arguments
    ),
}
"""Functions by module; the first argument of a file reader is its memory limit."""


def choose_children(item: pytest.Item) -> None:
    """Select real processes or threads for a test."""
    start: Any = start_child if item.get_closest_marker("real_children") else start_thread
    worker_pool.start_child = import_process.start_child = start


async def start_thread(
    module: str, *arguments: str, limit: int = 1 << 16, **_: str
) -> "ThreadedChild":
    """Start a thread in place of ``archiver.helpers.start_child``."""
    (stdin, child_stdin), (stdout, child_stdout) = socket.socketpair(), socket.socketpair()
    _, writer = await asyncio.open_connection(sock=stdin)
    reader, unused = await asyncio.open_connection(sock=stdout, limit=limit)
    return ThreadedChild(
        SERVE_FUNCTIONS[module], arguments, (child_stdin, child_stdout), (writer, reader, unused)
    )


class ThreadedChild:
    """The part of ``asyncio.subprocess.Process`` that the program uses."""

    def __init__(
        self,
        serve: Serve,
        arguments: tuple[str, ...],
        child_ends: tuple[socket.socket, socket.socket],
        parent_ends: tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.returncode: int | None = None
        self.pid = 0  # no process, so its memory is not known
        self.stdin, self.stdout, self._unused = parent_ends
        self._child_ends = child_ends
        self._thread = threading.Thread(target=self._run, args=(serve, arguments), daemon=True)
        self._thread.start()

    def _run(self, serve: Serve, arguments: tuple[str, ...]) -> None:
        stdin, stdout = self._child_ends
        with (
            suppress(ConnectionError),
            stdin,
            stdout,
            stdin.makefile("rb") as source,
            stdout.makefile("wb") as sink,
        ):
            serve(source, sink, *arguments)

    def kill(self) -> None:
        """Close all ends, so that the thread ends at its next read or write."""
        for end in self._child_ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for writer in (self.stdin, self._unused):
            writer.close()

    async def wait(self) -> int:
        """Wait for the end of the thread."""
        await asyncio.to_thread(self._thread.join)
        for each in (self.stdin, self._unused):
            each.close()
        self.returncode = 0
        return 0
