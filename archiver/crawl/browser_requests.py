"""Requests of a browser page."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

from archiver.browser.request_gate import Answering
from archiver.crawl.fetch import MAX_PAUSE_WITHIN_A_PAGE, PARSED_BYTES
from archiver.crawl.rendering_policy import BrowserServices
from archiver.crawl.retry_policy import retry_after_seconds
from archiver.crawl.visit_result import FetchedResponse
from archiver.errors import FetchError
from archiver.http.cookies import VisitCookies
from archiver.http.headers import ResponseHead
from archiver.http.media_types import declared_media_type, essence_of, is_html
from archiver.http.network_errors import pause_too_long
from archiver.http.requests import Outgoing, with_initiators
from archiver.http.responses import Answer
from archiver.http.urls import host
from archiver.model.capture import CaptureRef, Exchange, RecordId, Truncation
from archiver.model.failure import Failure, FailureKind
from archiver.model.rendering import Limit
from archiver.pages.page_problems import wall_in_headers
from archiver.warc.records import ANSWERS

MAX_BYTES = 200 << 20
"""Maximum total size of a page's responses."""
MAX_GIVEN_AGAIN = 32 << 20
"""Maximum total size of the responses held in memory to show the saved document."""
_STREAM = "text/event-stream"
_CONDITIONS = frozenset({"if-none-match", "if-modified-since", "if-range"})
"""Conditional headers are removed, so that captures never contain a 304."""
_OF_CODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class _Given:
    """Response held in memory."""

    head: ResponseHead
    content: bytes

    async def payload(self) -> AsyncIterator[bytes]:
        """Yield the content."""
        yield self.content


class _Counted:
    """Response whose size counts towards the page's limit."""

    def __init__(self, answer: Answer, traffic: "Traffic") -> None:
        self.head = answer.head
        self._answer = answer
        self._traffic = traffic
        self._pieces: list[bytes] | None = []

    @property
    def is_stream(self) -> bool:
        """Whether the response is an endless event stream."""
        return essence_of(declared_media_type(self.head.headers)) == _STREAM

    async def payload(self) -> AsyncIterator[bytes]:
        """Yield the body while the page is below its limits."""
        async for piece in self._received():
            self._traffic.count(len(piece), is_stream=self.is_stream)
            if self._pieces is not None and self._traffic.take_room(len(piece)):
                self._pieces.append(piece)
            else:
                self._pieces = None
            yield piece

    async def _received(self) -> AsyncIterator[bytes]:
        """Yield the received body; note a response that is over the size limit."""
        try:
            async for piece in self._answer.payload():
                yield piece
        except FetchError as error:
            if error.failure.kind is FailureKind.TOO_LARGE:
                self._traffic.met.add(Limit.ANSWER)
            raise

    @property
    def given(self) -> _Given | None:
        """Copy of the response; None if it did not fit into memory."""
        return None if self._pieces is None else _Given(self.head, b"".join(self._pieces))


class Traffic:
    """Requests and responses of one page.

    Args:
        means: services of the crawl.
        page: an already received response to the first request; None to fetch it.
        initiators: hosts that led to the page; further navigations add to them.
        jar: the cookies set during the visit; responses add to them.

    Attributes:
        pages: captures of the received HTML documents, by URL.
        loaded: statuses of all captures, by URL.
        walls: names of the bot walls that responses declare, by record.
        failures: reasons of failed requests, by URL.
        answers: records of responses that are not captures.
        met: limits that the page has reached.
        is_refused: the document shown is an error or a check in place of the page.
    """

    def __init__(
        self,
        means: BrowserServices,
        page: FetchedResponse | None,
        initiators: frozenset[str],
        jar: VisitCookies | None = None,
    ) -> None:
        self._services = means
        self.initiators = initiators
        self._jar = jar
        self._given = page if page and len(page.content) < PARSED_BYTES else None
        self.pages = dict[str, CaptureRef]()
        self.walls = dict[RecordId, str]()
        self.failures: dict[str, Failure] = {}
        self.loaded: dict[str, int] = {}
        self.answers = list[RecordId]()
        self.met = set[Limit]()
        self.is_refused = False
        self._again: dict[str, _Given] = {}
        self._is_again = False
        self._room = MAX_GIVEN_AGAIN
        self._requests = self._bytes = self._under_way = 0
        self._changed = time.monotonic()

    @property
    def quiet_for(self) -> float:
        """Seconds since the last network activity; 0 while a request is pending."""
        return 0.0 if self._under_way else time.monotonic() - self._changed

    def count(self, length: int, *, is_stream: bool) -> None:
        """Count received bytes; those of a stream do not count as activity.

        Raises:
            FetchError: the page's limit is reached.
        """
        self._bytes += length
        if not is_stream:
            self._changed = time.monotonic()
        if self._bytes > MAX_BYTES:
            self.met.add(Limit.BYTES)
            raise FetchError(
                Failure(
                    FailureKind.TOO_LARGE,
                    ("The page loads more data than the limit for rendered pages."),
                )
            )

    def take_room(self, length: int) -> bool:
        """Reserve ``length`` bytes of memory; return whether they fit."""
        self._room -= length
        return self._room >= 0

    def give_again(self, url: str, html: str) -> None:
        """Serve only responses already received, and ``html`` at ``url``, from now on.

        Nothing more is fetched or recorded.
        """
        fields = (("content-type", "text/html; charset=utf-8"),)
        head = ResponseHead("HTTP/1.1", 200, "OK", fields)
        self._again[url] = _Given(head, html.encode("utf-8", "replace"))
        self._is_again = True

    @asynccontextmanager
    async def answer(self, asked: Outgoing) -> AsyncIterator[Answering]:
        """Respond to a request for the duration of the block.

        Raises:
            FetchError: the response can't be fetched or is not allowed.
        """
        if self._is_again:
            with self._awaited():
                yield self._given_again(asked)
            return
        if asked.is_navigation:
            self.initiators = with_initiators(self.initiators, frozenset({host(asked.url)}))
        given = self._given
        if given and (asked.method, asked.url) == ("GET", given.ref.url):
            self._given = None
            self.pages[asked.url] = given.ref
            yield _given(given)
            return
        try:
            self._admit(asked)
            async with AsyncExitStack() as stack:
                stack.enter_context(self._awaited())
                slot = self._services.throttle.slot(
                    host(asked.url), spaced=False, max_pause=MAX_PAUSE_WITHIN_A_PAGE
                )
                await stack.enter_async_context(slot)
                async with self._services.fetcher.open(self._onward(asked), slot) as answer:
                    counted = _Counted(answer, self)
                    if counted.is_stream:
                        await stack.aclose()  # a stream must not block other requests to the host
                    async with self._kept(asked, answer, counted):
                        yield counted
        except FetchError as error:
            self.failures[asked.url] = error.failure
            raise

    def _onward(self, asked: Outgoing) -> Outgoing:
        """Return the request to send: complete, with the hosts that decide which cookies apply."""
        initiators = self.initiators if asked.is_own_site else frozenset[str]()
        return replace(_whole(asked), initiators=initiators, jar=self._jar)

    def _given_again(self, asked: Outgoing) -> _Given:
        found = self._again.get(asked.url) if asked.method == "GET" else None
        if found is None:
            raise FetchError(Failure(FailureKind.NOT_A_PAGE, "The page is not loaded again."))
        return found

    @contextmanager
    def _awaited(self) -> Iterator[None]:
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._changed = time.monotonic()

    @asynccontextmanager
    async def _kept(
        self, asked: Outgoing, answer: Answer, counted: _Counted
    ) -> AsyncIterator[None]:
        """Record the response once it was read; of an unfinished stream the received part."""
        try:
            yield
        except BaseException:
            if counted.is_stream:
                await self._keep(asked, answer, truncated=Truncation.TIME)
            raise
        await self._keep(asked, answer)
        if asked.method == "GET" and (given := counted.given):
            self._again[asked.url] = given

    def _admit(self, asked: Outgoing) -> None:
        """Refuse URLs that failed before, excess requests, and hosts that asked for a pause."""
        if asked.url in self.failures:
            raise FetchError(self.failures[asked.url])
        self._requests += 1
        most = self._services.settings.max_requisites
        if self._requests > most:
            self.met.add(Limit.REQUESTS)
            message = f"The page makes more than {most} requests."
            raise FetchError(Failure(FailureKind.TOO_LARGE, message))
        pause = self._services.throttle.pause_left(host(asked.url))
        if pause > MAX_PAUSE_WITHIN_A_PAGE:
            raise pause_too_long(host(asked.url), pause)

    async def _keep(
        self, asked: Outgoing, answer: Answer, *, truncated: Truncation | None = None
    ) -> None:
        exchange = await answer.exchange(truncated=truncated)
        wait = retry_after_seconds(
            exchange.status, exchange.header("retry-after"), datetime.now(UTC)
        )
        if wait:
            most = self._services.settings.max_retry_after
            self._services.throttle.pause(host(asked.url), min(wait, most))
        exchange = _named(asked, exchange)
        ref = await self._services.recorder.keep(exchange)
        if not exchange.is_shown:
            self.answers.append(ref.record_id)
            return
        self.loaded[asked.url] = ref.status
        if is_html(ref.media_type):
            self.pages[asked.url] = ref
            wall = wall_in_headers(exchange.headers)
            if asked.is_navigation:
                self.is_refused = bool(wall) or ref.status >= HTTPStatus.BAD_REQUEST
            if wall:
                self.walls[ref.record_id] = wall


def _given(page: FetchedResponse) -> _Given:
    headers = tuple(each for each in page.headers if each[0] not in _OF_CODED)
    return _Given(ResponseHead("HTTP/1.1", page.ref.status, "OK", headers), page.content)


def _whole(asked: Outgoing) -> Outgoing:
    """Turn a conditional or ``bytes=0-`` request into a request for the whole resource."""
    headers = tuple(
        (name, value)
        for name, value in asked.headers
        if name.lower() not in _CONDITIONS and (name.lower(), value) != ("range", "bytes=0-")
    )
    return replace(asked, headers=headers)


def _named(asked: Outgoing, exchange: Exchange) -> Exchange:
    """Mark an exchange whose response is not what a GET of its URL returns."""
    is_part = exchange.status == 206
    if asked.method == "GET" and not is_part:
        return exchange
    field = (ANSWERS, "part" if is_part else asked.method)
    return replace(exchange, is_shown=False, fields=(*exchange.fields, field))
