"""HTTP client with a connection pool and the SSRF guard."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from aiohttp import (
    ClientConnectionResetError,
    ClientOSError,
    ClientTimeout,
    ServerDisconnectedError,
    TCPConnector,
    hdrs,
)
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection

from archiver.config import CONNECT_SECONDS, Settings
from archiver.http.address_guard import AddressGuard, BlockedAddressError, GuardedResolver
from archiver.http.connections import HttpConnection, close, use_http_connections
from archiver.http.content_coding import ACCEPT_ENCODING
from archiver.http.cookies import CookieField, UserCookies
from archiver.http.network_errors import RAISED, fetch_error
from archiver.http.politeness import Slot
from archiver.http.requests import OutgoingRequest, Requests
from archiver.http.responses import OpenResponse
from archiver.http.site_rules import SiteRules
from archiver.http.urls import host
from archiver.model.capture import Exchange

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CONNECTIONS_PER_PAGE = 4
MAX_CONNECTIONS = 8192
KEEP_ALIVE_SECONDS = 20
_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Idempotent methods, which may be sent twice (RFC 9110 §9.2.2)."""


class Fetcher:
    """HTTP client of one process; an async context manager.

    Args:
        settings: settings of the archive.
        resolver: DNS resolver whose addresses the guard checks; by default that of aiohttp.
        cookies: the user's cookies; by default those in the data directory.
        rules: rules for sites; by default those in the data directory.
    """

    def __init__(
        self,
        settings: Settings,
        resolver: AbstractResolver | None = None,
        cookies: UserCookies | None = None,
        rules: SiteRules | None = None,
    ) -> None:
        self._settings = settings
        self.guard = AddressGuard(settings.allow_networks)
        self.resolver = GuardedResolver(self.guard, resolver)
        self._cookies = cookies or UserCookies()
        self.rules = rules or SiteRules(settings.data)
        self._requests = Requests(
            self.guard,
            {
                hdrs.USER_AGENT: settings.user_agent,
                hdrs.ACCEPT: ACCEPT,
                hdrs.ACCEPT_ENCODING: ACCEPT_ENCODING,
                hdrs.ACCEPT_LANGUAGE: "en,*;q=0.5",
            },
        )
        self._timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        self._connector: TCPConnector | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        if self._connector:
            await self._connector.close()
        self._connector = None
        await self.resolver.close()

    async def fetch(self, request: OutgoingRequest, slot: Slot | None = None) -> Exchange:
        """Send a request and return the exchange, without following redirects.

        Args:
            request: the request.
            slot: the politeness slot, if the host is rate-limited. If the first connection turns
                out to be closed, the second attempt waits for the slot again.

        Raises:
            FetchError: no complete response was received; ``failure`` of the error is the reason.
        """
        try:
            async with self._time_limit(request, slot) as limit:
                return await (await self._open_response(request, slot, limit)).whole()
        except RAISED as error:
            raise fetch_error(request.url, self._settings, error) from error

    @asynccontextmanager
    async def open(
        self, request: OutgoingRequest, slot: Slot | None = None
    ) -> AsyncIterator[OpenResponse]:
        """Send a request and read its response within the block, without following redirects.

        Args:
            request: the request.
            slot: the politeness slot, if the host is rate-limited.

        Raises:
            FetchError: no response was received, or it ended early while the block read it.
        """
        try:
            async with self._time_limit(request, slot) as limit:
                response = await self._open_response(request, slot, limit)
                try:
                    yield response
                except BaseException:
                    response.discard()
                    raise
                response.release()
        except RAISED as error:
            raise fetch_error(request.url, self._settings, error) from error

    def _open_connector(self) -> TCPConnector:
        settings = self._settings
        connector = TCPConnector(
            resolver=self.resolver,
            limit=min(settings.concurrency * CONNECTIONS_PER_PAGE, MAX_CONNECTIONS),
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        use_http_connections(connector)
        return connector

    def _time_limit(self, request: OutgoingRequest, slot: Slot | None) -> asyncio.Timeout:
        """Return the total timeout of a response; with a slot, it starts when the request is sent.

        So the time spent waiting for the slot does not count.
        """
        return asyncio.timeout(None if slot else self._total_timeout(request))

    def _total_timeout(self, request: OutgoingRequest) -> float | None:
        """Return the total timeout of a response in seconds; None if a browser controls it."""
        return None if request.is_browser else self._settings.fetch_timeout

    async def _open_response(
        self, request: OutgoingRequest, slot: Slot | None, limit: asyncio.Timeout
    ) -> OpenResponse:
        """Send a request and return the response once its head has arrived.

        A server may close a pooled connection at any time. If it does, the request is sent once
        more, provided that it is idempotent or was not sent yet. The second attempt waits for the
        slot again, because the server may have received the first attempt.
        """
        rule, at = self.rules.check(host(request.url)), _now()
        jar = None if request.is_browser else request.jar
        cookies = self._cookies.field_for(request.url, request.initiators, jar)
        head = self._requests.head(request, cookies.value, rule.user_agent or "")
        is_first = True
        while True:
            connection = await self._connect(request.url)
            try:
                await self._send(request, head, connection, slot, limit)
                return await self._opened(request, at, head, connection, cookies)
            except (ClientConnectionResetError, ClientOSError, ServerDisconnectedError) as error:
                close(connection)
                was_sent_completely = not isinstance(error, ClientConnectionResetError)
                if not is_first or (was_sent_completely and request.method not in _IDEMPOTENT):
                    raise
            except BaseException:
                close(connection)
                raise
            is_first = False
            if slot:
                limit.reschedule(None)
                await slot.due()

    async def _opened(
        self,
        request: OutgoingRequest,
        at: datetime,
        head: bytes,
        connection: Connection,
        cookies: CookieField,
    ) -> OpenResponse:
        """Return the response that arrives on a connection; store its cookies in the jar."""
        is_private = cookies.is_private
        response = OpenResponse(
            request, at, head, connection, self._settings, is_private=is_private
        )
        if request.jar is not None:
            await request.jar.receive(request.url, response.head.headers, is_private=is_private)
        return response

    async def _connect(self, url: str) -> Connection:
        if self._connector is None:
            self._connector = self._open_connector()
        connection_request = self._requests.connection_request(url)
        return await self._connector.connect(connection_request, traces=[], timeout=self._timeout)

    async def _send(
        self,
        request: OutgoingRequest,
        head: bytes,
        connection: Connection,
        slot: Slot | None,
        limit: asyncio.Timeout,
    ) -> None:
        """Send a request and wait for the head of its response."""
        line = connection.protocol
        if not isinstance(line, HttpConnection):
            raise TypeError("unexpected connection class")
        if not self.guard.permits(line.peer):
            raise BlockedAddressError(host(request.url), line.peer)
        if slot is None:
            self._write_request(request, head, line)
        else:
            async with slot.sending():
                limit.reschedule(self._deadline(request))
                self._write_request(request, head, line)
                await line.wait_sent()
        await line.head()

    def _write_request(self, request: OutgoingRequest, head: bytes, line: HttpConnection) -> None:
        line.send(
            head,
            request.body,
            is_bodiless=request.method == "HEAD",
            timeout=self._settings.read_timeout,
        )

    def _deadline(self, request: OutgoingRequest) -> float | None:
        """Return the event loop's time by which a response requested now must be complete.

        Return None if there is no total timeout.
        """
        allowed = self._total_timeout(request)
        return None if allowed is None else asyncio.get_running_loop().time() + allowed


def _now() -> datetime:
    """Return the current time to the second, as in WARC-Date."""
    return datetime.fromtimestamp(int(time.time()), UTC)
