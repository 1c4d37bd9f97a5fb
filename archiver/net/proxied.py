"""Requests that a browser sends to the gate, read from a stream, and answers written to it.

The one client is our own Chromium; a page may still be behind what it sends, so heads and bodies
are bounded (RFC 9112).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from archiver.errors import InvalidResponse
from archiver.wire.chunked import ChunkDecoder
from archiver.wire.head import ResponseHead

MOST_HEAD_BYTES = 256 << 10
MOST_CONTENT_BYTES = 16 << 20
REFUSAL = b"HTTP/1.1 302 Refused\r\nlocation: about:blank\r\ncontent-length: 0\r\n\r\n"
"""An answer that fails in the browser as the network does: no redirect leads to ``about:``."""
_PIECE = 64 << 10
_WITHOUT_BODY = frozenset({204, 205, 304})
_HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade".split()
)
"""Fields of one connection (RFC 9110 §7.6.1)."""
_NOT_ANSWERED = _HOP_BY_HOP | {"content-length", "alt-svc"}
"""Nor is the browser told of other ways to a host."""


@dataclass(frozen=True, slots=True)
class Proxied:
    """A request as it came to the gate.

    Attributes:
        method, target: of its first line.
        headers: (name, value) in order.
        body: its content.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def header(self, name: str) -> str:
        """The first field of that lower-case name; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def is_websocket(self) -> bool:
        """Whether it wants to go on as a WebSocket (RFC 6455 §4.1)."""
        return self.header("upgrade").lower() == "websocket"

    @property
    def onward(self) -> tuple[tuple[str, str], ...]:
        """The fields that are for whoever answers."""
        return tuple(
            (name, value)
            for name, value in self.headers
            if name.lower() not in _HOP_BY_HOP | {"host", "content-length"}
        )


async def read_request(stream: asyncio.StreamReader) -> Proxied | None:
    """The next request; None where there is none.

    Raises:
        InvalidResponse: it is none, or too large.
    """
    try:
        head = await stream.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise InvalidResponse("The head of a request does not end.") from error
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3:
        raise InvalidResponse("This is no request.")
    fields = [line.partition(":") for line in lines[1:] if ":" in line]
    headers = tuple((name.strip(), value.strip()) for name, _, value in fields)
    asked = Proxied(parts[0], parts[1], headers)
    return Proxied(asked.method, asked.target, headers, await _content(stream, asked))


async def _content(stream: asyncio.StreamReader, asked: Proxied) -> bytes:
    length = asked.header("content-length")
    if "chunked" in asked.header("transfer-encoding").lower():
        return await _chunked(stream)
    if not length:
        return b""
    if not length.isdecimal() or int(length) > MOST_CONTENT_BYTES:
        raise InvalidResponse("A request has more content than is taken.")
    return await stream.readexactly(int(length))


async def _chunked(stream: asyncio.StreamReader) -> bytes:
    decoder, found = ChunkDecoder(), bytearray()
    while not (decoder.is_complete or decoder.is_broken):
        piece = await stream.read(_PIECE)
        if not piece or len(found) > MOST_CONTENT_BYTES:
            raise InvalidResponse("A request breaks off, or has more content than is taken.")
        for each in decoder.feed(piece):
            found += each
    return bytes(found)


async def write_answer(
    stream: asyncio.StreamWriter, method: str, head: ResponseHead, payload: AsyncIterator[bytes]
) -> None:
    """Write an answer, its body framed anew as chunks."""
    has_body = method != "HEAD" and head.status not in _WITHOUT_BODY
    stream.write(_head(head.status, head.reason, head.headers, is_chunked=has_body))
    async for piece in payload:
        if has_body and piece:
            stream.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await stream.drain()
    if has_body:
        stream.write(b"0\r\n\r\n")
    await stream.drain()


def _head(
    status: int, reason: str, headers: Sequence[tuple[str, str]], *, is_chunked: bool
) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason}".strip()]
    lines += [f"{name}: {value}" for name, value in headers if name not in _NOT_ANSWERED]
    if is_chunked:
        lines.append("transfer-encoding: chunked")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
