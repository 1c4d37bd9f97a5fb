"""HTTP/1.1 connections that deliver each response exactly as sent.

aiohttp resolves addresses, connects, negotiates TLS and pools connections; this module sends
requests and parses responses. aiohttp's own parser is unsuitable for an archive: it rejects many
responses that browsers accept, and it removes the transfer coding, so the bytes as sent are lost.

The private attribute of ``TCPConnector`` that creates protocol objects is replaced here. The tests
compare received bytes with those that a test server sent.
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

MAX_BUFFERED = 256 << 10
"""Number of unread body bytes in the buffer at which reading from the server pauses."""


class HttpConnection(ResponseHandler):
    """Connection that sends a request and parses the response as it arrives.

    Attributes:
        peer: IP address of the server.
        reader: parser of the current response, or of the last one if it is complete.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.peer = ""
        self.reader: ResponseReader | None = None
        self._body: deque[bytes] = deque()
        self._backlog_bytes = 0
        self._has_backlog = False
        self._has_content = False
        self._error: BaseException | None = None
        self._response_waiter: asyncio.Future[None] | None = None
        self._stall_seconds = 0.0
        self._received_at = 0.0
        self._stall_timer: asyncio.TimerHandle | None = None

    @property
    def is_free(self) -> bool:
        """Return whether the connection can be reused, because nothing is being sent or received.

        A connection is never reused after a request with a body: a server may respond before it has
        read the whole body, and would take the rest for the next request (RFC 9112 §9.3).
        """
        if self._has_content or self.reader is None or not self.reader.is_complete:
            return False
        return not self._has_backlog and not self._unsent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the IP address of the server."""
        super().connection_made(transport)
        address = transport.get_extra_info("peername")
        self.peer = address[0] if address else ""

    @property
    def _unsent(self) -> int:
        """Return the number of bytes of the request that are still in the send buffer."""
        return self.transport.get_write_buffer_size() if self.transport else 0

    def give_up(self) -> None:
        """Abort the connection, because the server may never read the rest of the request."""
        if self.transport and self._unsent:
            self.transport.abort()

    def send(
        self, request: bytes, content: bytes = b"", *, is_bodiless: bool, timeout: float
    ) -> None:
        """Send a request; all bytes received from now on belong to its response.

        Args:
            request: the request head.
            content: the request body.
            is_bodiless: whether the method is HEAD, so that the response has no body.
            timeout: read timeout in seconds.

        Raises:
            ClientConnectionResetError: the connection is closed.
        """
        if self.transport is None or self.transport.is_closing():
            raise ClientConnectionResetError("The connection was closed.")
        self.reader = ResponseReader(is_bodiless=is_bodiless)
        self._body.clear()
        self._error = None
        self._has_content = bool(content)
        self._stall_seconds, self._received_at = timeout, self._loop.time()
        if self._stall_timer is None:
            self._stall_timer = self._loop.call_later(timeout, self._check_timeout)
        self.transport.write(request)
        if content:
            self.transport.write(content)

    async def wait_sent(self) -> None:
        """Wait until the request is fully sent, the response begins or the connection closes.

        If data is still buffered, the event loop is given one chance to write it first.
        """
        if self._unsent:
            await asyncio.sleep(0)
        while self._unsent and not self._error and (self.reader is None or not self.reader.head):
            await self._next_change()

    async def head(self) -> ResponseReader:
        """Wait for the response head and return the response's reader.

        Raises:
            InvalidResponse: the bytes are not an HTTP response.
            ClientError: the connection closed before the end of the head.
            SocketTimeoutError: nothing arrived within the timeout.
        """
        while self.reader is None or self.reader.head is None:
            await self._wait()
        return self.reader

    async def piece(self) -> bytes:
        """Return the next bytes of the body as received; empty at the end.

        Raises: the same exceptions as ``head``.
        """
        while not self._body:
            if self.reader is None or self.reader.is_complete:
                return b""
            await self._wait()
        data = self._body.popleft() if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        self._backlog_bytes = 0
        if self._has_backlog:
            self._has_backlog, self._received_at = False, self._loop.time()
            self._resume_transport_reading()
        return data

    def data_received(self, data: bytes) -> None:
        """Parse received bytes; close the connection if they do not belong to a response."""
        reader = self.reader
        if reader is None or reader.is_complete:
            self._end()
            return
        self._received_at = self._loop.time()
        try:
            body = reader.feed(data)
        except InvalidResponse as error:
            self._fail(error)
            return
        if body:
            self._add_body(body)
        if reader.is_complete and not reader.is_reusable:
            self.force_close()
        if reader.head is not None:
            self._wake()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Finish the response, since the end of the connection can be the end of the body."""
        reader = self.reader
        if reader and not reader.is_complete:
            reader.end(is_clean=exc is None)
            if not reader.is_complete:
                lost = ClientOSError(*exc.args) if isinstance(exc, OSError) else None
                self._error = self._error or lost or ServerDisconnectedError()
        if self._stall_timer:
            self._stall_timer.cancel()
            self._stall_timer = None
        super().connection_lost(exc)
        self._wake()

    def _add_body(self, body: bytes) -> None:
        self._body.append(body)
        self._backlog_bytes += len(body)
        if self._backlog_bytes >= MAX_BUFFERED and not self._has_backlog:
            self._has_backlog = True
            self._pause_transport_reading()

    def _check_timeout(self) -> None:
        """Close the connection if nothing arrived within the timeout; else check again later."""
        self._stall_timer = None
        if self.reader is None or self.reader.is_complete:
            return
        now = self._loop.time()
        if self._has_backlog:
            self._received_at = now
        seconds_left = self._received_at + self._stall_seconds - now
        if seconds_left > 0:
            self._stall_timer = self._loop.call_later(seconds_left, self._check_timeout)
        else:
            self._fail(SocketTimeoutError("No data was received for too long."))

    async def _wait(self) -> None:
        if self._error:
            raise self._error
        await self._next_change()
        if self._error:
            raise self._error

    async def _next_change(self) -> None:
        self._response_waiter = self._loop.create_future()
        await self._response_waiter

    def _wake(self) -> None:
        waiter, self._response_waiter = self._response_waiter, None
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
    """Close a connection immediately, even if bytes of the request are still buffered."""
    if isinstance(connection.protocol, HttpConnection):
        connection.protocol.give_up()
    connection.close()


def use_http_connections(connector: TCPConnector) -> None:
    """Make a connector create ``HttpConnection`` connections from now on."""
    loop = asyncio.get_running_loop()
    # aiohttp has no public way to set the protocol class of its connections. If an update breaks
    # this, find what ``TCPConnector`` calls to create the protocol of a connection.
    setattr(connector, "_factory", functools.partial(HttpConnection, loop=loop))  # noqa: B010
