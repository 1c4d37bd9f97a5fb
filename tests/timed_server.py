"""Loopback servers that get the time of each request from the kernel.

A server that uses the time at which it reads a request measures its own delay as well. The kernel
records when a packet arrives, which on loopback is while the client sends it.
"""

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress

END = b"\r\n\r\n"
_TIMESTAMPS = 35
"""SO_TIMESTAMPNS of Linux: received data comes with its time, as two numbers."""
_MOMENT = struct.Struct("@ll")


class Connection:
    """One connection to such a server; subclasses handle requests."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self.at = str(connected.getsockname()[0])
        self._socket = connected
        self._waiting = b""
        asyncio.get_running_loop().add_reader(connected, self._read)

    def asked(self, head: bytes, moment: int) -> None:
        """Handle a request with its time of arrival (nanoseconds since 1970)."""
        raise NotImplementedError

    def lost(self) -> None:
        """Handle the loss of the connection."""

    def answer(self, kind: bytes, body: bytes, status: bytes = b"200 OK") -> None:
        """Send a response of a few kilobytes, which fit into the send buffer."""
        head = b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
        with suppress(OSError):
            self._socket.sendall(head % (status, kind, len(body)) + body)

    def _read(self) -> None:
        try:
            data, told, _, _ = self._socket.recvmsg(64 << 10, 64)
        except BlockingIOError:
            return
        except OSError:
            data, told = b"", []
        if not data:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self.lost()
            return
        self._waiting += data
        while END in self._waiting:
            head, _, self._waiting = self._waiting.partition(END)
            self.asked(head, _moment(told))


async def serve(listening: socket.socket, connection: Callable[[socket.socket], object]) -> None:
    """Create a ``Connection`` for each client, until cancelled."""
    listening.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
    listening.setblocking(False)
    loop = asyncio.get_running_loop()
    while True:
        connected, _ = await loop.sock_accept(listening)
        connection(connected)


def _moment(told: list[tuple[int, int, bytes]]) -> int:
    """Return the kernel's time, or the current time for packets received before it was enabled."""
    for level, kind, value in told:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPS):
            seconds, rest = _MOMENT.unpack(value)
            return int(seconds) * 1_000_000_000 + int(rest)
    return time.time_ns()
