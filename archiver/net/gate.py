"""The gate: a forward proxy for one page of a browser of ours. Nothing gets out but through it.

TLS ends here, so that requests are seen; whoever answers them stands where the guard does. To the
page the network failed for a request that is refused, or fails: it is led to where none may be led
(``proxied.REFUSAL``), on the connection that it came by, since ten thousand refusals would be as
many connections, with TLS each. An answer that breaks off, and a WebSocket, is a connection that
closes.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Protocol

from archiver.errors import FetchError, InvalidResponse, InvalidUrl
from archiver.net.outgoing import Outgoing
from archiver.net.proxied import MOST_HEAD_BYTES, REFUSAL, Proxied, read_request, write_answer
from archiver.urls.parse import parse_url
from archiver.wire.head import ResponseHead

MOST_CONNECTIONS = 256
"""Of one page; Chromium has 32 to a proxy, and WebSockets beside them."""
_CONNECT = b"CONNECT "
_MOST_CONNECT_BYTES = 4096
_HANDSHAKE = 0x16
"""The first byte of a TLS record that holds a handshake (RFC 8446 §5.1)."""
_PATIENCE_SECONDS = 30
_PIECE = 64 << 10
_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Answering(Protocol):
    """What the gate passes on of an answer."""

    @property
    def head(self) -> ResponseHead:
        """Its status and fields."""

    def payload(self) -> AsyncIterator[bytes]:
        """The body without its transfer coding."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """What is behind the gate.

    Attributes:
        answer: answers a request while the block runs; raises ``FetchError`` where it can't.
        connect: a connection to a host and port, with TLS or without, for a WebSocket.
    """

    answer: Callable[[Outgoing], AbstractAsyncContextManager[Answering]]
    connect: Callable[[str, int, bool], Awaitable[_Streams]]


class Gate:
    """One page's way out.

    Args:
        listening: where its browser context connects to; closed with the gate.
        tls: the server's side.
        beyond: who answers.
    """

    def __init__(self, listening: socket.socket, tls: ssl.SSLContext, beyond: Beyond) -> None:
        self._listening = listening
        self._tls = tls
        self._beyond = beyond
        self._room = asyncio.Semaphore(MOST_CONNECTIONS)

    async def serve(self) -> None:
        """Serve until cancelled; no connection outlives it."""
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    await self._room.acquire()
                    accepted, _ = await loop.sock_accept(self._listening)
                    group.create_task(self._converse(accepted))
        finally:
            self._listening.close()

    async def _converse(self, accepted: socket.socket) -> None:
        """Serve one connection to its end, whatever comes."""
        accepted.setblocking(False)
        streams: _Streams | None = None
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                authority = await _read_connect(accepted)
                is_tls = bool(authority) and await _first_byte(accepted) == _HANDSHAKE
                streams = await _streams(accepted, self._tls if is_tls else None)
            origin = f"http{'s' if is_tls else ''}://{authority}" if authority else ""
            while await self._exchange(*streams, origin):
                pass
        except (OSError, EOFError, TimeoutError, FetchError, InvalidResponse, InvalidUrl):
            pass  # the page is told by the connection's end
        finally:
            self._room.release()
            if streams:
                streams[1].transport.abort()
            else:
                accepted.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, origin: str
    ) -> bool:
        """Serve one request; whether another may follow."""
        proxied = await read_request(reader)
        if proxied is None:
            return False
        url = parse_url(origin + proxied.target)
        if proxied.is_websocket:
            await self._pass_through(reader, writer, proxied, url)
            return False
        asked = Outgoing(url, proxied.method, proxied.onward, proxied.body, is_browser=True)
        is_begun = False
        try:
            async with self._beyond.answer(asked) as answer:
                is_begun = True
                await write_answer(writer, asked.method, answer.head, answer.payload())
        except FetchError:
            if is_begun:
                raise
            writer.write(REFUSAL)
            await writer.drain()
        return True

    async def _pass_through(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        proxied: Proxied,
        url: str,
    ) -> None:
        """Let a WebSocket through to a host that may be connected to; nothing of it is kept."""
        scheme, _, rest = url.partition("://")
        authority, slash, path = rest.partition("/")
        host, port = _split(authority, 443 if scheme == "https" else 80)
        far_reader, far_writer = await self._beyond.connect(host, port, scheme == "https")
        try:
            far_writer.write(_write_request(proxied, slash + path))
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, far_writer))
                group.create_task(_pump(far_reader, writer))
        finally:
            far_writer.transport.abort()


async def _read_connect(accepted: socket.socket) -> str:
    """The authority that a connection asks a tunnel to; empty if it asks for none.

    Raises:
        InvalidResponse: what it sends is no such request.
    """
    loop = asyncio.get_running_loop()
    if not await _begins_with(accepted, _CONNECT):
        return ""
    head = bytearray()
    while b"\r\n\r\n" not in head:
        piece = await loop.sock_recv(accepted, _MOST_CONNECT_BYTES)
        head += piece
        if not piece or len(head) > _MOST_CONNECT_BYTES:
            raise InvalidResponse("A tunnel is asked for without end.")
    authority = head.split(b" ")[1].decode("latin-1")
    await loop.sock_sendall(accepted, b"HTTP/1.1 200 Connection established\r\n\r\n")
    return authority


async def _begins_with(accepted: socket.socket, wanted: bytes) -> bool:
    """Whether a connection's next bytes are those; they stay where they are."""
    while True:
        await _readable(accepted)
        start = accepted.recv(len(wanted), socket.MSG_PEEK)
        if not start:
            raise EOFError
        if not wanted.startswith(start) or len(start) == len(wanted):
            return start == wanted
        await asyncio.sleep(0.01)


async def _first_byte(accepted: socket.socket) -> int:
    await _readable(accepted)
    start = accepted.recv(1, socket.MSG_PEEK)
    return start[0] if start else -1


async def _readable(accepted: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(accepted, wake)
    try:
        await ready
    finally:
        loop.remove_reader(accepted)


async def _streams(accepted: socket.socket, tls: ssl.SSLContext | None) -> _Streams:
    """A connection as streams, with TLS or without."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_HEAD_BYTES, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted, ssl=tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _split(authority: str, default: int) -> tuple[str, int]:
    name, colon, port = authority.rpartition(":")
    if not colon or not port.isdecimal():
        name, port = authority, str(default)
    return name.strip("[]"), int(port)


def _write_request(proxied: Proxied, path: str) -> bytes:
    lines = [f"{proxied.method} {path or '/'} HTTP/1.1"]
    lines += [
        f"{name}: {value}"
        for name, value in proxied.headers
        if not name.lower().startswith("proxy-")
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes, and the end of it."""
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:
            sink.close()
