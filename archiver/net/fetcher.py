"""Fetches one URL over a long-lived pool of connections: what crossed the wire comes home."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Self, cast

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, hdrs
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict
from yarl import URL

from archiver.config import Settings
from archiver.model.exchange import Exchange
from archiver.net.answer import Answer
from archiver.net.given_cookies import GivenCookies
from archiver.net.guard import AddressGuard, BlockedAddressError, GuardedResolver
from archiver.net.outgoing import Outgoing
from archiver.net.refusals import failures
from archiver.net.tap import TappedResponse, tap_connections
from archiver.urls.parse import host
from archiver.wire.coding import ACCEPT_ENCODING

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CONNECTIONS_A_PAGE = 4
MOST_CONNECTIONS = 8192
KEEP_ALIVE_SECONDS = 20
_AUTOMATIC = (hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE)
"""Fields that aiohttp adds where a request has none: a browser's has what it has."""


class Fetcher:
    """The network side of one process; an async context manager."""

    def __init__(self, settings: Settings, resolver: AbstractResolver | None = None) -> None:
        self._settings = settings
        self.guard = AddressGuard(settings.allow_networks)
        self.resolver = GuardedResolver(self.guard, resolver)
        self._cookies = GivenCookies(settings.data)
        self._session: ClientSession | None = None
        self._browsers: ClientSession | None = None

    async def __aenter__(self) -> Self:
        settings = self._settings
        connector = TCPConnector(
            resolver=self.resolver,
            limit=min(settings.concurrency * CONNECTIONS_A_PAGE, MOST_CONNECTIONS),
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        tap_connections(connector)
        self._session = _session(
            connector,
            settings,
            total=settings.fetch_timeout,
            headers={
                hdrs.USER_AGENT: settings.user_agent,
                hdrs.ACCEPT: ACCEPT,
                hdrs.ACCEPT_ENCODING: ACCEPT_ENCODING,
                hdrs.ACCEPT_LANGUAGE: "en,*;q=0.5",
            },
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for session in filter(None, (self._browsers, self._session)):
            await session.close()
        self._session = self._browsers = None
        await self.resolver.close()

    async def fetch(self, asked: Outgoing) -> Exchange:
        """Request a URL once; redirects are not followed.

        Raises:
            FetchError: no whole response could be had; its failure says why.
        """
        with failures(asked.url, self._settings):
            at, given = _now(), self._given(asked)
            async with self._request(asked, given) as received:
                return await self._answer(asked, at, received, given).whole()

    @asynccontextmanager
    async def open(self, asked: Outgoing) -> AsyncIterator[Answer]:
        """Send a request, and read its answer while the block runs; redirects are not followed.

        Raises:
            FetchError: no answer could be had, or, within the block, not to its end.
        """
        with failures(asked.url, self._settings):
            at, given = _now(), self._given(asked)
            async with self._request(asked, given) as received:
                answer = self._answer(asked, at, received, given)
                try:
                    yield answer
                except BaseException:
                    answer.discard()
                    raise

    def _given(self, asked: Outgoing) -> str:
        """What a person gave for an address, whoever asks: it makes the answer a private one."""
        return self._cookies.field_for(asked.url, (host(asked.url),))

    def _request(self, asked: Outgoing, given: str) -> AbstractAsyncContextManager[ClientResponse]:
        """The request of what is asked for, with the cookies that a person gave for it."""
        target = URL(asked.url, encoded=True)
        self._check_literal(target)
        sent = given and self._cookies.field_for(asked.url, asked.led_by)
        return self._pool(asked).request(
            asked.method,
            target,
            headers=_with_cookies(asked.headers, sent) if asked.headers or sent else None,
            data=asked.body or None,
            allow_redirects=False,
            skip_auto_headers=_AUTOMATIC if asked.is_browser else None,
        )

    def _answer(
        self, asked: Outgoing, at: datetime, received: ClientResponse, given: str
    ) -> Answer:
        response = cast("TappedResponse", received)
        if not self.guard.permits(response.peer):
            raise BlockedAddressError(host(asked.url), response.peer)
        return Answer(asked, at, response, self._settings, is_private=bool(given))

    def _pool(self, asked: Outgoing) -> ClientSession:
        """The session for a request: a browser's waits for a silent stream as long as it likes."""
        if self._session is None:
            raise RuntimeError("the fetcher is not open")
        if not asked.is_browser:
            return self._session
        if self._browsers is None:
            connector = cast("TCPConnector", self._session.connector)
            self._browsers = _session(connector, self._settings, total=None, headers={})
        return self._browsers

    def _check_literal(self, url: URL) -> None:
        """Names go through the resolver; addresses written as such do not."""
        name = url.raw_host or ""
        if (":" in name or name.replace(".", "").isdecimal()) and not self.guard.permits(name):
            raise BlockedAddressError(name, name)


def _now() -> datetime:
    """Now, as WARC-Date has it: to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def _with_cookies(headers: Iterable[tuple[str, str]], cookies: str) -> CIMultiDict[str]:
    """The fields of a request; what a person gave goes before what a page had set."""
    fields = CIMultiDict(headers)
    if cookies:
        own = fields.popall(hdrs.COOKIE, [])
        fields[hdrs.COOKIE] = "; ".join((cookies, *own))
    return fields


def _session(
    connector: TCPConnector, settings: Settings, *, total: float | None, headers: dict[str, str]
) -> ClientSession:
    """A session over the connections of all; the one with a time limit closes them in the end."""
    return ClientSession(
        connector=connector,
        connector_owner=total is not None,
        cookie_jar=DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        response_class=TappedResponse,
        raise_for_status=False,
        timeout=ClientTimeout(
            total=total, sock_connect=settings.connect_timeout, sock_read=settings.read_timeout
        ),
        headers=headers,
    )
