"""Connections whose responses are read exactly as sent.

aiohttp finds addresses, connects, shakes hands and keeps connections for the next request; what is
said over them is said here. Its own reader refuses much of what browsers show, and gives parsed
headers and a body without its transfer coding, where an archive keeps what was sent.

``TCPConnector`` builds its protocols through one attribute, which is set here; the tests of this
room compare the result with what a raw server sent, byte for byte.
"""

import asyncio
import functools
from collections import deque

from aiohttp import (
    ClientConnectionResetError,
    ClientOSError,
    ServerDisconnectedError,
    SocketTimeoutError,
    TCPConnector,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from archiver.errors import InvalidResponse
from archiver.http.response_parser import ResponseReader

MOST_HELD = 256 << 10
"""Bytes of a body that wait to be taken; then the server waits."""


class Line(ResponseHandler):
    """A connection: a request goes out, its response is read as it comes.

    Attributes:
        peer: the address at its other end.
        reader: of the response that is under way, or was the last.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.peer = ""
        self.reader: ResponseReader | None = None
        self._body: deque[bytes] = deque()
        self._held = 0
        self._is_held_up = False
        self._has_content = False
        self._error: BaseException | None = None
        self._awaited: asyncio.Future[None] | None = None
        self._patience = 0.0
        self._heard_at = 0.0
        self._watch: asyncio.TimerHandle | None = None

    @property
    def is_free(self) -> bool:
        """Whether all of the response came, and nothing is on its way, either way.

        Nobody can tell how much of a content a server took before it answered: it may take the
        rest for the next request (RFC 9112 §9.3). So none follows one over the same connection.
        """
        if self._has_content or self.reader is None or not self.reader.is_complete:
            return False
        return not self._is_held_up and not self._unsent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note who is there."""
        super().connection_made(transport)
        address = transport.get_extra_info("peername")
        self.peer = address[0] if address else ""

    @property
    def _unsent(self) -> int:
        """Bytes of the request that the system did not take yet."""
        return self.transport.get_write_buffer_size() if self.transport else 0

    def give_up(self) -> None:
        """Let go of a connection whose server may never take what is still to be sent."""
        if self.transport and self._unsent:
            self.transport.abort()

    def ask(
        self, request: bytes, content: bytes = b"", *, is_bodiless: bool, patience: float
    ) -> None:
        """Send a request: its response is what comes from now on.

        Args:
            request: its head.
            content: what follows that.
            is_bodiless: it is HEAD.
            patience: seconds of silence after which it is given up.

        Raises:
            ClientConnectionResetError: the connection is at its end.
        """
        if self.transport is None or self.transport.is_closing():
            raise ClientConnectionResetError("The connection was closed meanwhile.")
        self.reader = ResponseReader(is_bodiless=is_bodiless)
        self._body.clear()
        self._error = None
        self._has_content = bool(content)
        self._patience, self._heard_at = patience, self._loop.time()
        if self._watch is None:
            self._watch = self._loop.call_later(patience, self._look)
        self.transport.write(request)
        if content:
            self.transport.write(content)

    async def handed_over(self) -> None:
        """Wait until the system took the request, all of it, or its answer or its end came.

        A loop may write what it is given once it has nothing else to do.
        """
        if self._unsent:
            await asyncio.sleep(0)
        while self._unsent and not self._error and (self.reader is None or not self.reader.head):
            await self._news()

    async def head(self) -> ResponseReader:
        """The reader of the response, once its head is there.

        Raises:
            InvalidResponse: it is none.
            ClientError: it ended before.
            SocketTimeoutError: nothing came for too long.
        """
        while self.reader is None or self.reader.head is None:
            await self._wait()
        return self.reader

    async def piece(self) -> bytes:
        """What came next of the body, as it came; empty at its end. Raises as ``head`` does."""
        while not self._body:
            if self.reader is None or self.reader.is_complete:
                return b""
            await self._wait()
        found = self._body.popleft() if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        self._held = 0
        if self._is_held_up:
            self._is_held_up, self._heard_at = False, self._loop.time()
            self._resume_transport_reading()
        return found

    def data_received(self, data: bytes) -> None:
        """Read; what comes behind the end of a response, or unasked, ends the connection."""
        reader = self.reader
        if reader is None or reader.is_complete:
            self._end()
            return
        self._heard_at = self._loop.time()
        try:
            body = reader.feed(data)
        except InvalidResponse as error:
            self._fail(error)
            return
        if body:
            self._hold(body)
        if reader.is_complete and not reader.is_reusable:
            self.force_close()
        if reader.head is not None:
            self._wake()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Read the end of what comes: of a body, where it has begun."""
        reader = self.reader
        if reader and not reader.is_complete:
            reader.end(is_clean=exc is None)
            if not reader.is_complete:
                lost = ClientOSError(*exc.args) if isinstance(exc, OSError) else None
                self._error = self._error or lost or ServerDisconnectedError()
        if self._watch:
            self._watch.cancel()
            self._watch = None
        super().connection_lost(exc)
        self._wake()

    def _hold(self, body: bytes) -> None:
        self._body.append(body)
        self._held += len(body)
        if self._held >= MOST_HELD and not self._is_held_up:
            self._is_held_up = True
            self._pause_transport_reading()

    def _look(self) -> None:
        """Give the response up where nothing came for too long; one look serves many responses."""
        self._watch = None
        if self.reader is None or self.reader.is_complete:
            return
        now = self._loop.time()
        if self._is_held_up:
            self._heard_at = now
        left = self._heard_at + self._patience - now
        if left > 0:
            self._watch = self._loop.call_later(left, self._look)
        else:
            self._fail(SocketTimeoutError("Nothing came for too long."))

    async def _wait(self) -> None:
        if self._error:
            raise self._error
        await self._news()
        if self._error:
            raise self._error

    async def _news(self) -> None:
        self._awaited = self._loop.create_future()
        await self._awaited

    def _wake(self) -> None:
        waiter, self._awaited = self._awaited, None
        if waiter and not waiter.done():
            waiter.set_result(None)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._end()
        self._wake()

    def _end(self) -> None:
        self.force_close()
        self.give_up()
        if self.transport is not None:
            self.transport.close()


def close(connection: Connection) -> None:
    """Close a connection, whatever is still to be sent over it."""
    if isinstance(connection.protocol, Line):
        connection.protocol.give_up()
    connection.close()


def use_lines(connector: TCPConnector) -> None:
    """Let every connection that a connector makes from now on be a ``Line``."""
    loop = asyncio.get_running_loop()
    # aiohttp has no public way to say which protocol a connection speaks.
    setattr(connector, "_factory", functools.partial(Line, loop=loop))  # noqa: B010
