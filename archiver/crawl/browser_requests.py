"""Network requests of a page in the browser.

Requests are fetched, limited and recorded. The responses are also kept in memory, so that the saved
document can be loaded without the network and compared with the page.
"""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus

from archiver.browser.request_gate import ForwardedResponse
from archiver.config import MAX_RETRY_AFTER
from archiver.crawl.fetch import MAX_PAUSE_WITHIN_A_PAGE, PARSED_BYTES, requested_pause
from archiver.crawl.rendering_policy import BrowserServices
from archiver.crawl.visit_result import FetchedResponse
from archiver.errors import FetchError
from archiver.http.cookies import VisitCookies
from archiver.http.headers import ResponseHead
from archiver.http.media_types import declared_media_type, essence_of, is_html
from archiver.http.network_errors import pause_too_long
from archiver.http.requests import OutgoingRequest, with_initiators
from archiver.http.responses import OpenResponse
from archiver.http.urls import host
from archiver.model.capture import CaptureRef, Exchange, RecordId, Truncation
from archiver.model.failure import Failure, FailureKind
from archiver.model.rendering import Limit
from archiver.pages.page_problems import wall_in_headers
from archiver.warc.records import NOT_REPLAYED

MAX_BYTES = 200 << 20
"""Maximum total size of a page's responses in bytes."""
MAX_REPLAYED = 32 << 20
"""Maximum total bytes of the responses kept in memory, from which the saved document is loaded."""
_STREAM = "text/event-stream"
_CONDITIONS = frozenset({"if-none-match", "if-modified-since", "if-range"})
"""Conditional request headers. They are removed, so that no response is a 304 without a body."""
_CODED_FIELDS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class _BufferedResponse:
    """Response kept in memory."""

    head: ResponseHead
    content: bytes

    async def payload(self) -> AsyncIterator[bytes]:
        """Yield the content."""
        yield self.content


class _CountedResponse:
    """Response whose size counts towards the page's limit."""

    def __init__(self, response: OpenResponse, traffic: "Traffic") -> None:
        self.head = response.head
        self._response = response
        self._traffic = traffic
        self._pieces: list[bytes] | None = []

    @property
    def is_stream(self) -> bool:
        """Whether the response is an endless event stream."""
        return essence_of(declared_media_type(self.head.headers)) == _STREAM

    async def payload(self) -> AsyncIterator[bytes]:
        """Yield the body and count it towards the page's limits."""
        async for piece in self._received():
            self._traffic.count(len(piece), is_stream=self.is_stream)
            if self._pieces is not None and self._traffic.reserve(len(piece)):
                self._pieces.append(piece)
            else:
                self._pieces = None
            yield piece

    async def _received(self) -> AsyncIterator[bytes]:
        """Yield the body; add ``Limit.ANSWER`` to the page's limits if the body is too large."""
        try:
            async for piece in self._response.payload():
                yield piece
        except FetchError as error:
            if error.failure.kind is FailureKind.TOO_LARGE:
                self._traffic.limits.add(Limit.ANSWER)
            raise

    @property
    def buffered(self) -> _BufferedResponse | None:
        """Copy of the response; None if the page's memory limit was exceeded."""
        return (
            None if self._pieces is None else _BufferedResponse(self.head, b"".join(self._pieces))
        )


class Traffic:
    """Requests and responses of one page.

    Args:
        services: services of the crawl.
        page: response to the first request if it was already received; None to fetch it.
        initiators: hosts of the navigations that led to the page; later navigations are added.
        jar: cookies set during the visit; cookies of later responses are added.

    Attributes:
        pages: captures of the received HTML documents, by URL.
        loaded: HTTP status of each complete response to a GET request, by URL.
        walls: names of the bot walls that response headers declare, by record id.
        failures: reasons of failed requests, by URL.
        excluded_responses: record ids of responses to requests other than GET, and of partial
            responses.
        limits: limits that the page has reached.
        is_refused: whether the last navigation got an error status or a bot wall.
    """

    def __init__(
        self,
        services: BrowserServices,
        page: FetchedResponse | None,
        initiators: frozenset[str],
        jar: VisitCookies | None = None,
    ) -> None:
        self._services = services
        self.initiators = initiators
        self._jar = jar
        self._first_response = page if page and len(page.content) < PARSED_BYTES else None
        self.pages = dict[str, CaptureRef]()
        self.walls = dict[RecordId, str]()
        self.failures: dict[str, Failure] = {}
        self.loaded: dict[str, int] = {}
        self.excluded_responses = list[RecordId]()
        self.limits = set[Limit]()
        self.is_refused = False
        self._received: dict[str, _BufferedResponse] = {}
        self._is_replaying = False
        self._memory_left = MAX_REPLAYED
        self._requests = self._bytes = self._active_requests = 0
        self._changed = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last network activity; 0 while a request is pending."""
        return 0.0 if self._active_requests else time.monotonic() - self._changed

    def count(self, length: int, *, is_stream: bool) -> None:
        """Count received bytes. Bytes of an event stream do not count as network activity.

        Raises:
            FetchError: the page has received more than ``MAX_BYTES``.
        """
        self._bytes += length
        if not is_stream:
            self._changed = time.monotonic()
        if self._bytes > MAX_BYTES:
            self.limits.add(Limit.BYTES)
            message = "The page loads more data than the limit for rendered pages."
            raise FetchError(Failure(FailureKind.TOO_LARGE, message))

    def reserve(self, length: int) -> bool:
        """Reserve ``length`` bytes of memory; return whether the page is within the limit."""
        self._memory_left -= length
        return self._memory_left >= 0

    def replay_only(self, url: str, html: str) -> None:
        """Serve only the responses in memory from now on, and ``html`` at ``url``.

        Nothing more is fetched or recorded.
        """
        fields = (("content-type", "text/html; charset=utf-8"),)
        head = ResponseHead("HTTP/1.1", 200, "OK", fields)
        self._received[url] = _BufferedResponse(head, html.encode("utf-8", "replace"))
        self._is_replaying = True

    @asynccontextmanager
    async def respond(self, request: OutgoingRequest) -> AsyncIterator[ForwardedResponse]:
        """Provide the response to a request; it can be read inside the ``with`` block.

        Raises:
            FetchError: the response can't be fetched, or the request is not allowed.
        """
        if self._is_replaying:
            with self._active():
                yield self._replayed(request)
            return
        if request.is_navigation:
            self.initiators = with_initiators(self.initiators, frozenset({host(request.url)}))
        stored = self._first_response
        if stored and (request.method, request.url) == ("GET", stored.ref.url):
            self._first_response = None
            self.pages[request.url] = stored.ref
            yield _buffered(stored)
            return
        try:
            self._check_allowed(request)
            async with AsyncExitStack() as stack:
                stack.enter_context(self._active())
                slot = await stack.enter_async_context(
                    self._services.throttle.slot(
                        host(request.url), is_delayed=False, max_pause=MAX_PAUSE_WITHIN_A_PAGE
                    )
                )
                async with self._services.fetcher.open(self._to_send(request), slot) as response:
                    counted = _CountedResponse(response, self)
                    if counted.is_stream:
                        await stack.aclose()  # an endless stream would keep its slot of the host
                    async with self._recorded(request, response, counted):
                        yield counted
        except FetchError as error:
            self.failures[request.url] = error.failure
            raise

    def _to_send(self, request: OutgoingRequest) -> OutgoingRequest:
        """Return the request without conditions, and with the hosts that decide about cookies."""
        initiators = self.initiators if request.is_own_site else frozenset[str]()
        return replace(_without_conditions(request), initiators=initiators, jar=self._jar)

    def _replayed(self, request: OutgoingRequest) -> _BufferedResponse:
        response = self._received.get(request.url) if request.method == "GET" else None
        if response is None:
            raise FetchError(Failure(FailureKind.NOT_A_PAGE, "The page is not loaded again."))
        return response

    @contextmanager
    def _active(self) -> Iterator[None]:
        self._active_requests += 1
        try:
            yield
        finally:
            self._active_requests -= 1
            self._changed = time.monotonic()

    @asynccontextmanager
    async def _recorded(
        self, request: OutgoingRequest, response: OpenResponse, counted: _CountedResponse
    ) -> AsyncIterator[None]:
        """Record the response after the block; if the block fails, only a stream is recorded."""
        try:
            yield
        except BaseException:
            if counted.is_stream:
                await self._record(request, response, truncated=Truncation.TIME)
            raise
        await self._record(request, response)
        if request.method == "GET" and (buffered := counted.buffered):
            self._received[request.url] = buffered

    def _check_allowed(self, request: OutgoingRequest) -> None:
        """Raise ``FetchError`` if the request must not be sent.

        This applies to URLs that failed before, to requests over the page's limit, and to hosts
        that asked for a long pause.
        """
        if request.url in self.failures:
            raise FetchError(self.failures[request.url])
        self._requests += 1
        most = self._services.settings.max_requisites
        if self._requests > most:
            self.limits.add(Limit.REQUESTS)
            message = f"The page makes more than {most} requests."
            raise FetchError(Failure(FailureKind.TOO_LARGE, message))
        pause = self._services.throttle.pause_left(host(request.url))
        if pause > MAX_PAUSE_WITHIN_A_PAGE:
            raise pause_too_long(host(request.url), pause)

    async def _record(
        self,
        request: OutgoingRequest,
        response: OpenResponse,
        *,
        truncated: Truncation | None = None,
    ) -> None:
        exchange = await response.exchange(truncated=truncated)
        if wait := requested_pause(exchange):
            self._services.throttle.pause(host(request.url), min(wait, MAX_RETRY_AFTER))
        exchange = _marked(request, exchange)
        ref = await self._services.recorder.keep(exchange)
        if not exchange.is_shown:
            self.excluded_responses.append(ref.record_id)
            return
        self.loaded[request.url] = ref.status
        if is_html(ref.media_type):
            self.pages[request.url] = ref
            wall = wall_in_headers(exchange.headers)
            if request.is_navigation:
                self.is_refused = bool(wall) or ref.status >= HTTPStatus.BAD_REQUEST
            if wall:
                self.walls[ref.record_id] = wall


def _buffered(page: FetchedResponse) -> _BufferedResponse:
    """Return the decoded response of a page, without headers that describe its encoding."""
    headers = tuple(each for each in page.headers if each[0] not in _CODED_FIELDS)
    return _BufferedResponse(ResponseHead("HTTP/1.1", page.ref.status, "OK", headers), page.content)


def _without_conditions(request: OutgoingRequest) -> OutgoingRequest:
    """Turn a conditional or ``bytes=0-`` request into a request for the whole resource."""
    headers = tuple(
        (name, value)
        for name, value in request.headers
        if name.lower() not in _CONDITIONS and (name.lower(), value) != ("range", "bytes=0-")
    )
    return replace(request, headers=headers)


def _marked(request: OutgoingRequest, exchange: Exchange) -> Exchange:
    """Mark an exchange that is not replayed: its method is not GET, or its response is partial."""
    is_part = exchange.status == 206
    if request.method == "GET" and not is_part:
        return exchange
    field = (NOT_REPLAYED, "part" if is_part else request.method)
    return replace(exchange, is_shown=False, fields=(*exchange.fields, field))
