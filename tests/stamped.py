"""Servers on loopback that know from the system when a request came, however late they read it.

Whoever measures the distance of two requests by when it read them measures how busy it was: it may
read the first one late, and the next on time. The system notes when it takes a packet in, which on
loopback is while the other side hands it over.
"""

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress

END = b"\r\n\r\n"
_TIMESTAMPS = 35
"""SO_TIMESTAMPNS of Linux: what is received comes with the moment, as two numbers."""
_MOMENT = struct.Struct("@ll")


class Connection:
    """One connection to such a server. A subclass says what becomes of a request."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self.at = str(connected.getsockname()[0])
        self._socket = connected
        self._waiting = b""
        asyncio.get_running_loop().add_reader(connected, self._read)

    def asked(self, head: bytes, moment: int) -> None:
        """Hear of a request, and when it came (nanoseconds since 1970)."""
        raise NotImplementedError

    def lost(self) -> None:
        """Hear that nobody waits for an answer any more."""

    def answer(self, kind: bytes, body: bytes, status: bytes = b"200 OK") -> None:
        """Answer with a few kilobytes at most, which the system takes at once."""
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
    """Have a ``Connection`` made of whoever connects, for ever."""
    listening.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
    listening.setblocking(False)
    loop = asyncio.get_running_loop()
    while True:
        connected, _ = await loop.sock_accept(listening)
        connection(connected)


def _moment(told: list[tuple[int, int, bytes]]) -> int:
    """The moment that the system tells; now, of the first packets after it was told to note any."""
    for level, kind, value in told:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPS):
            seconds, rest = _MOMENT.unpack(value)
            return int(seconds) * 1_000_000_000 + int(rest)
    return time.time_ns()
