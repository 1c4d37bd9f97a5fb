"""Taps: the bytes of a response exactly as they crossed the wire, read before aiohttp reads them.

aiohttp gives parsed headers and a body without its transfer coding, and refuses much of what
browsers show. An archive keeps what was sent. So each connection's protocol reads what it receives
with a reader of our own, and hands aiohttp, which keeps connections, their time and their pace, a
plain response in its place: the same head for each, and as its body the bytes of the body as they
came, transfer coding and all.

``TCPConnector`` builds its protocols through one attribute, which is set here; the tests of this
room compare the result with what a raw server sent, byte for byte.
"""

import asyncio
import functools
from typing import Any

from aiohttp import ClientResponse, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from archiver.errors import InvalidResponse
from archiver.wire.response_reader import ResponseReader

_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_END = b"0\r\n\r\n"
_HEAD_ALONE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class TappedHandler(ResponseHandler):
    """A connection's protocol that reads what it receives."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.reader: ResponseReader | None = None
        self._has_begun = False
        self._plain = _HEAD, _END

    def set_response_params(self, **params: Any) -> None:
        """A request begins on this connection: so does its response."""
        is_bodiless = bool(params.get("skip_payload"))
        self.reader, self._has_begun = ResponseReader(is_bodiless=is_bodiless), False
        self._plain = (_HEAD_ALONE, b"") if is_bodiless else (_HEAD, _END)
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Read, then hand on; what comes behind the end of a response ends the connection."""
        if self.reader is None or not data:
            super().data_received(data)
        elif self.reader.is_complete:
            self._close()
        else:
            try:
                self._hand_on(self.reader, self.reader.feed(data))
            except InvalidResponse as error:
                self.set_exception(error)
                self._close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Read the end of what comes: of a body, where it has begun."""
        if self.reader and not self.reader.is_complete:
            self.reader.end(is_clean=exc is None)
            if self.reader.is_complete:
                self._hand_on(self.reader, b"")
        super().connection_lost(exc)

    def _hand_on(self, reader: ResponseReader, body: bytes) -> None:
        if reader.head is None:
            return
        head, end = self._plain
        plain = b"" if self._has_begun else head
        self._has_begun = True
        if body:
            plain += b"%x\r\n%b\r\n" % (len(body), body)
        if reader.is_complete:
            if not reader.is_reusable:
                self.force_close()
            plain += end
        super().data_received(plain)

    def _close(self) -> None:
        self.force_close()
        if self.transport is not None:
            self.transport.close()


class TappedResponse(ClientResponse):
    """A response that knows its reader and its peer, also after its connection went back."""

    reader: ResponseReader
    peer: str

    async def start(self, connection: Connection) -> ClientResponse:
        """Take hold of the connection's reader before it can be used again."""
        protocol = connection.protocol
        if not isinstance(protocol, TappedHandler) or protocol.reader is None:
            raise TypeError("this response came over a connection without a tap")
        self.reader = protocol.reader
        transport = connection.transport
        address = transport.get_extra_info("peername") if transport else None
        self.peer = address[0] if address else ""
        return await super().start(connection)


def tap_connections(connector: TCPConnector) -> None:
    """Let every connection that a connector makes from now on have a tap."""
    loop = asyncio.get_running_loop()
    setattr(connector, "_factory", functools.partial(TappedHandler, loop=loop))  # noqa: B010
