"""Taps: the bytes of a response exactly as they crossed the wire, beside what aiohttp parses.

aiohttp gives parsed headers and a body without its transfer coding. An archive keeps what was sent,
so each connection's protocol copies what it receives into the tap of the response under way.
``TCPConnector`` builds its protocols through one attribute, which is set here; the tests of this
room compare the result with what a raw server sent, byte for byte.
"""

import asyncio
import functools
from typing import Any

from aiohttp import ClientResponse, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

MOST_TAPPED = 4 << 20
"""Bytes between two looks at a tap: a body is paused after an eighth of a megabyte."""


class TappedHandler(ResponseHandler):
    """A connection's protocol that copies what it receives."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.tap = bytearray()

    def set_response_params(self, **params: Any) -> None:
        """A request begins on this connection: so does its tap."""
        self.tap = bytearray()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Copy, then parse as ever.

        What is not taken for so long is no body: a head, an interim answer or a chunk's extension
        without end, which a parser passes over and the tap would hold.
        """
        self.tap += data
        if len(self.tap) > MOST_TAPPED and self.transport:
            self.transport.abort()
            return
        super().data_received(data)


class TappedResponse(ClientResponse):
    """A response that knows its tap and its peer, also after its connection went back."""

    tap: bytearray
    peer: str

    async def start(self, connection: Connection) -> ClientResponse:
        """Take hold of the connection's tap before it can be used again."""
        protocol = connection.protocol
        if not isinstance(protocol, TappedHandler):
            raise TypeError("this response came over a connection without a tap")
        self.tap = protocol.tap
        transport = connection.transport
        address = transport.get_extra_info("peername") if transport else None
        self.peer = address[0] if address else ""
        return await super().start(connection)


def tap_connections(connector: TCPConnector) -> None:
    """Let every connection that a connector makes from now on have a tap."""
    loop = asyncio.get_running_loop()
    setattr(connector, "_factory", functools.partial(TappedHandler, loop=loop))  # noqa: B010
