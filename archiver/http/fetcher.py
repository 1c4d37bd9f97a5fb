"""HTTP client with a connection pool and the SSRF guard."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

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

from archiver.config import Settings
from archiver.http.address_guard import AddressGuard, BlockedAddressError, GuardedResolver
from archiver.http.connections import Line, close, use_lines
from archiver.http.content_coding import ACCEPT_ENCODING
from archiver.http.cookies import UserCookies
from archiver.http.network_errors import RAISED, fetch_error
from archiver.http.requests import Origin, Outgoing, Requests
from archiver.http.responses import Answer
from archiver.http.urls import host
from archiver.model.capture import Exchange

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CONNECTIONS_A_PAGE = 4
MOST_CONNECTIONS = 8192
KEEP_ALIVE_SECONDS = 20
_ASKED_AGAIN = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Methods that may be sent twice (RFC 9110 §9.2.2)."""


class Turn(Protocol):
    """The turn of a request at its host."""

    async def due(self) -> None:
        """Wait until the request may go out, before there is a connection for it."""

    def sending(self) -> AbstractAsyncContextManager[None]:
        """Wait until it may, connected: it goes out within the block, unless an error leaves it."""


class Fetcher:
    """The network side of one process; an async context manager."""

    def __init__(
        self,
        settings: Settings,
        resolver: AbstractResolver | None = None,
        cookies: UserCookies | None = None,
    ) -> None:
        self._settings = settings
        self.guard = AddressGuard(settings.allow_networks)
        self.resolver = GuardedResolver(self.guard, resolver)
        self._cookies = cookies or UserCookies(settings.data)
        self._requests = Requests(
            self.guard,
            {
                hdrs.USER_AGENT: settings.user_agent,
                hdrs.ACCEPT: ACCEPT,
                hdrs.ACCEPT_ENCODING: ACCEPT_ENCODING,
                hdrs.ACCEPT_LANGUAGE: "en,*;q=0.5",
            },
        )
        self._timeout = ClientTimeout(total=None, sock_connect=settings.connect_timeout)
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

    async def fetch(self, asked: Outgoing, turn: Turn | None = None) -> Exchange:
        """Request a URL once; redirects are not followed.

        Args:
            asked: what for.
            turn: at the host, where it is to be spared. It is waited for twice where the
                connection had ended over which the request went out.

        Raises:
            FetchError: no whole response could be had; its failure says why.
        """
        try:
            async with asyncio.timeout(self._allowed(asked)) as limit:
                return await (await self._ask(asked, turn, limit)).whole()
        except RAISED as error:
            raise fetch_error(asked.url, self._settings, error) from error

    @asynccontextmanager
    async def open(self, asked: Outgoing, turn: Turn | None = None) -> AsyncIterator[Answer]:
        """Send a request, and read its answer while the block runs; redirects are not followed.

        Args:
            asked: what for.
            turn: at the host, where it is to be spared.

        Raises:
            FetchError: no answer could be had, or, within the block, not to its end.
        """
        try:
            async with asyncio.timeout(self._allowed(asked)) as limit:
                answer = await self._ask(asked, turn, limit)
                try:
                    yield answer
                except BaseException:
                    answer.discard()
                    raise
                answer.let_go()
        except RAISED as error:
            raise fetch_error(asked.url, self._settings, error) from error

    def _open_connector(self) -> TCPConnector:
        settings = self._settings
        connector = TCPConnector(
            resolver=self.resolver,
            limit=min(settings.concurrency * CONNECTIONS_A_PAGE, MOST_CONNECTIONS),
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        use_lines(connector)
        return connector

    def _allowed(self, asked: Outgoing) -> float | None:
        """Seconds for all of an answer; a browser waits for a stream as long as it likes."""
        return None if asked.is_browser else self._settings.fetch_timeout

    async def _ask(self, asked: Outgoing, turn: Turn | None, limit: asyncio.Timeout) -> Answer:
        """Send a request; its answer, once its head is there.

        A connection may have ended while it was kept, or while a turn was waited for: what may be
        asked twice is, and whatever had not gone out yet; in a turn of its own, for the server may
        have had it already.
        """
        at, given = _now(), self._given(asked)
        sent = given and self._cookies.field_for(asked.url, asked.led_by)
        request = self._requests.head(asked, sent)
        origin = self._requests.origin_of(asked.url)
        is_first = True
        while True:
            connection = await self._connect(origin)
            try:
                await self._send(asked, request, connection, turn, limit)
                return Answer(
                    asked, at, request, connection, self._settings, is_private=bool(given)
                )
            except (ClientConnectionResetError, ClientOSError, ServerDisconnectedError) as error:
                close(connection)
                went_out = not isinstance(error, ClientConnectionResetError)
                if not is_first or (went_out and asked.method not in _ASKED_AGAIN):
                    raise
            except BaseException:
                close(connection)
                raise
            is_first = False
            if turn:
                limit.reschedule(None)
                await turn.due()
                limit.reschedule(self._end(asked))

    async def _connect(self, origin: Origin) -> Connection:
        if self._connector is None:
            self._connector = self._open_connector()
        return await self._connector.connect(origin.request, traces=[], timeout=self._timeout)

    async def _send(
        self,
        asked: Outgoing,
        request: bytes,
        connection: Connection,
        turn: Turn | None,
        limit: asyncio.Timeout,
    ) -> None:
        """Send a request, and wait for the head of its response.

        What it waits for its turn does not count for what its answer may take.
        """
        line = connection.protocol
        if not isinstance(line, Line):
            raise TypeError("this connection is not one of ours")
        if not self.guard.permits(line.peer):
            raise BlockedAddressError(host(asked.url), line.peer)
        if turn is None:
            self._say(asked, request, line)
        else:
            limit.reschedule(None)
            async with turn.sending():
                limit.reschedule(self._end(asked))
                self._say(asked, request, line)
                await line.handed_over()
        await line.head()

    def _say(self, asked: Outgoing, request: bytes, line: Line) -> None:
        line.ask(
            request,
            asked.body,
            is_bodiless=asked.method == "HEAD",
            patience=self._settings.read_timeout,
        )

    def _end(self, asked: Outgoing) -> float | None:
        """When an answer that is asked for now is to be there, by the loop's clock."""
        allowed = self._allowed(asked)
        return None if allowed is None else asyncio.get_running_loop().time() + allowed

    def _given(self, asked: Outgoing) -> str:
        """What a person gave for an address, whoever asks: it makes the answer a private one."""
        return self._cookies.field_for(asked.url, (host(asked.url),))


def _now() -> datetime:
    """Now, as WARC-Date has it: to the second."""
    return datetime.fromtimestamp(int(time.time()), UTC)
