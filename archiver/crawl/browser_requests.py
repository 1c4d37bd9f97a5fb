"""Requests of a browser page."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.browser.request_gate import Answering
from archiver.crawl.fetch import LEAST_REST_WITHIN_A_PAGE, PARSED_BYTES
from archiver.crawl.rendering_policy import Means
from archiver.crawl.response import Obtained
from archiver.crawl.retry_policy import retry_after_seconds
from archiver.errors import FetchError
from archiver.http.headers import ResponseHead
from archiver.http.media_types import declared_media_type, essence_of, is_html
from archiver.http.network_errors import wants_rest
from archiver.http.requests import Outgoing, led_on
from archiver.http.responses import Answer
from archiver.http.urls import host
from archiver.model.capture import CaptureRef, Exchange, RecordId, Truncation
from archiver.model.failure import Failure, FailureKind
from archiver.model.rendering import Limit
from archiver.pages.page_problems import wall_in_headers
from archiver.warc.records import ANSWERS

MOST_BYTES = 200 << 20
"""Of all answers of one page."""
MOST_GIVEN_AGAIN = 32 << 20
"""Bytes of answers that are held, to show the page as it stood."""
_STREAM = "text/event-stream"
_CONDITIONS = frozenset({"if-none-match", "if-modified-since", "if-range"})
"""A capture holds what there is, not that it is unchanged."""
_OF_CODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class _Given:
    """An answer that is at hand."""

    head: ResponseHead
    content: bytes

    async def payload(self) -> AsyncIterator[bytes]:
        """All of it."""
        yield self.content


class _Counted:
    """An answer whose bytes count for the page."""

    def __init__(self, answer: Answer, traffic: "Traffic") -> None:
        self.head = answer.head
        self._answer = answer
        self._traffic = traffic
        self._pieces: list[bytes] | None = []

    @property
    def is_stream(self) -> bool:
        """Whether it goes on until somebody has enough of it."""
        return essence_of(declared_media_type(self.head.headers)) == _STREAM

    async def payload(self) -> AsyncIterator[bytes]:
        """The body, as long as there is room for it."""
        async for piece in self._received():
            self._traffic.count(len(piece), is_stream=self.is_stream)
            if self._pieces is not None and self._traffic.take_room(len(piece)):
                self._pieces.append(piece)
            else:
                self._pieces = None
            yield piece

    async def _received(self) -> AsyncIterator[bytes]:
        """The body as it comes; a page is told of one that is larger than is taken."""
        try:
            async for piece in self._answer.payload():
                yield piece
        except FetchError as error:
            if error.failure.kind is FailureKind.TOO_LARGE:
                self._traffic.met.add(Limit.ANSWER)
            raise

    @property
    def given(self) -> _Given | None:
        """The same, to be given again; None where there was no room for it."""
        return None if self._pieces is None else _Given(self.head, b"".join(self._pieces))


class Traffic:
    """The traffic of one page.

    Args:
        means: of the crawl.
        page: what was sent for it already, which is its first answer; None to ask for it.
        led_by: the hosts that led to the page; those that it is led to from there come to them.

    Attributes:
        pages: the captures of the documents that were answered, by URL.
        loaded: the statuses of all that are captures, by URL.
        walls: whose challenges they say they are, those that say so.
        failures: why others could not be.
        answers: the records of those that are none.
        met: the limits that the page meets while it is shown.
    """

    def __init__(self, means: Means, page: Obtained | None, led_by: frozenset[str]) -> None:
        self._means = means
        self.led_by = led_by
        self._given = page if page and len(page.content) < PARSED_BYTES else None
        self.pages = dict[str, CaptureRef]()
        self.walls = dict[RecordId, str]()
        self.failures: dict[str, Failure] = {}
        self.loaded: dict[str, int] = {}
        self.answers = list[RecordId]()
        self.met = set[Limit]()
        self._again: dict[str, _Given] = {}
        self._is_again = False
        self._room = MOST_GIVEN_AGAIN
        self._requests = self._bytes = self._under_way = 0
        self._changed = time.monotonic()

    @property
    def quiet_for(self) -> float:
        """For how many seconds nothing was asked for and nothing is awaited."""
        return 0.0 if self._under_way else time.monotonic() - self._changed

    def count(self, length: int, *, is_stream: bool) -> None:
        """Count bytes that came; those of a stream keep no page from resting.

        Raises:
            FetchError: they are too many.
        """
        self._bytes += length
        if not is_stream:
            self._changed = time.monotonic()
        if self._bytes > MOST_BYTES:
            self.met.add(Limit.BYTES)
            raise FetchError(
                Failure(FailureKind.TOO_LARGE, "All that the page loads is more than is taken.")
            )

    def take_room(self, length: int) -> bool:
        """Whether so many bytes more may be held."""
        self._room -= length
        return self._room >= 0

    def give_again(self, url: str, html: str) -> None:
        """Give from now on nothing but what was loaded already, and at a URL the page as it stood.

        Nothing more is fetched or kept.
        """
        fields = (("content-type", "text/html; charset=utf-8"),)
        head = ResponseHead("HTTP/1.1", 200, "OK", fields)
        self._again[url] = _Given(head, html.encode("utf-8", "replace"))
        self._is_again = True

    @asynccontextmanager
    async def answer(self, asked: Outgoing) -> AsyncIterator[Answering]:
        """Answer a request while the block runs.

        Raises:
            FetchError: it can't be had, or may not.
        """
        if self._is_again:
            with self._awaited():
                yield self._given_again(asked)
            return
        if asked.is_navigation:
            self.led_by = led_on(self.led_by, frozenset({host(asked.url)}))
        given = self._given
        if given and (asked.method, asked.url) == ("GET", given.ref.url):
            self._given = None
            self.pages[asked.url] = given.ref
            yield _given(given)
            return
        try:
            self._admit(asked)
            async with AsyncExitStack() as turn:
                turn.enter_context(self._awaited())
                slot = self._means.throttle.slot(
                    host(asked.url), spaced=False, longest_rest=LEAST_REST_WITHIN_A_PAGE
                )
                await turn.enter_async_context(slot)
                async with self._means.fetcher.open(self._onward(asked), slot) as answer:
                    counted = _Counted(answer, self)
                    if counted.is_stream:
                        await turn.aclose()  # it holds nobody up
                    async with self._kept(asked, answer, counted):
                        yield counted
        except FetchError as error:
            self.failures[asked.url] = error.failure
            raise

    def _onward(self, asked: Outgoing) -> Outgoing:
        """The request as it goes on: whole, with what says whose cookies may go with it."""
        led_by = self.led_by if asked.is_own_site else frozenset[str]()
        return replace(_whole(asked), led_by=led_by)

    def _given_again(self, asked: Outgoing) -> _Given:
        found = self._again.get(asked.url) if asked.method == "GET" else None
        if found is None:
            raise FetchError(Failure(FailureKind.NOT_A_PAGE, "It is not shown again."))
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
        """Keep an answer that was read; one that would never have ended as far as it came."""
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
        """Refuse what failed already, what is too much, and a host that wants rest."""
        if asked.url in self.failures:
            raise FetchError(self.failures[asked.url])
        self._requests += 1
        most = self._means.settings.max_requisites
        if self._requests > most:
            self.met.add(Limit.REQUESTS)
            message = f"The page asks for more than {most} things."
            raise FetchError(Failure(FailureKind.TOO_LARGE, message))
        rest = self._means.throttle.resting(host(asked.url))
        if rest > LEAST_REST_WITHIN_A_PAGE:
            raise wants_rest(host(asked.url), rest)

    async def _keep(
        self, asked: Outgoing, answer: Answer, *, truncated: Truncation | None = None
    ) -> None:
        exchange = await answer.exchange(truncated=truncated)
        wait = retry_after_seconds(
            exchange.status, exchange.header("retry-after"), datetime.now(UTC)
        )
        if wait:
            most = self._means.settings.max_retry_after
            self._means.throttle.pause(host(asked.url), min(wait, most))
        exchange = _named(asked, exchange)
        ref = await self._means.recorder.keep(exchange)
        if not exchange.is_shown:
            self.answers.append(ref.record_id)
            return
        self.loaded[asked.url] = ref.status
        if is_html(ref.media_type):
            self.pages[asked.url] = ref
            if wall := wall_in_headers(exchange.headers):
                self.walls[ref.record_id] = wall


def _given(page: Obtained) -> _Given:
    headers = tuple(each for each in page.headers if each[0] not in _OF_CODED)
    return _Given(ResponseHead("HTTP/1.1", page.ref.status, "OK", headers), page.content)


def _whole(asked: Outgoing) -> Outgoing:
    """The request for all there is: not of what changed, nor of a part that is the whole."""
    headers = tuple(
        (name, value)
        for name, value in asked.headers
        if name.lower() not in _CONDITIONS and (name.lower(), value) != ("range", "bytes=0-")
    )
    return replace(asked, headers=headers)


def _named(asked: Outgoing, exchange: Exchange) -> Exchange:
    """An exchange that tells whether it is what its URL shows."""
    is_part = exchange.status == 206
    if asked.method == "GET" and not is_part:
        return exchange
    field = (ANSWERS, "part" if is_part else asked.method)
    return replace(exchange, is_shown=False, fields=(*exchange.fields, field))
