"""Fetching of page requisites."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from archiver.config import MAX_REDIRECTS
from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import fetch, read_stored
from archiver.crawl.visit_result import FetchedResponse
from archiver.db import captures, tombstones
from archiver.db.engine import AsyncConnection
from archiver.errors import FetchError
from archiver.http.cookies import VisitCookies
from archiver.http.media_types import MediaType, as_image, as_style, is_css, is_html
from archiver.http.requests import OutgoingRequest, with_initiators
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import host
from archiver.model.capture import Capture, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.requisite import (
    FIRST_ERROR_STATUS,
    REDIRECTS,
    Requisite,
    RequisiteKind,
    RequisiteOutcome,
)
from archiver.pages.article.multipage import MAX_PARTS
from archiver.pages.css_references import may_load
from archiver.pages.worker_messages import Document


async def read_nearest(
    context: CrawlContext, url: str, timestamp: Timestamp
) -> FetchedResponse | None:
    """Follow stored redirects from a URL; return the stored response nearest to a time.

    Raises:
        StoreError: the index can't be read.
    """
    for _ in range(MAX_REDIRECTS + 1):
        async with context.db.read() as conn:
            capture = await captures.nearest(conn, url, timestamp, exact_only=True)
        response = await read_stored(context, capture) if capture else None
        if response is None or response.redirect_to is None:
            return response
        url = response.redirect_to
    return None


MAX_DEPTH = 4
"""Maximum nesting depth of style sheets and frames below the page."""
NESTED = frozenset({RequisiteKind.STYLE, RequisiteKind.FRAME, RequisiteKind.PART})
"""Kinds of requisites that may have requisites themselves."""
_DISPLAYED = frozenset(
    {RequisiteKind.IMAGE, RequisiteKind.MEDIA, RequisiteKind.FONT, RequisiteKind.ICON}
)
"""Kinds of requisites that are never web pages."""


@dataclass(slots=True)
class FetchResult:
    """Result of fetching one requisite.

    Attributes:
        status: HTTP status of the last response; None if there is no response.
        failure: why there is no response, or why replay can't show it.
        requisites: nested requisites, if the requisite is a style sheet, frame or further page.
        expires_at: time until which the result is used for other pages (aware, UTC).
        hosts: hosts of the request and its redirects; initiators of the nested requisites.
    """

    status: int | None
    failure: Failure | None
    requisites: tuple[Requisite, ...]
    expires_at: datetime
    hosts: frozenset[str] = frozenset()

    @property
    def weight(self) -> int:
        """Approximate memory size in bytes."""
        return 512 + sum(256 + len(each.url) for each in self.requisites)

    def is_valid_for(self, requisite: Requisite) -> bool:
        """Return whether a page may use the result.

        Failures of icons and preview images stay valid for longer than those of other requisites.
        """
        now = datetime.now(UTC)
        if self.failure and not requisite.is_preview_image:
            return now < self.expires_at <= now + timedelta(seconds=FAILED_SECONDS)
        return self.expires_at > now


@dataclass(slots=True)
class PageRequisite:
    """Requisite of a page, its nesting depth, and the hosts that led to the requisite."""

    requisite: Requisite
    depth: int
    initiators: frozenset[str]


class PageRequisites:
    """Queue and outcomes of one page's requisites.

    Attributes:
        page_url: URL of the page.
        jar: the cookies set during the visit.
        queue: requisites that are not fetched yet.
        outcomes: outcomes by URL.
        stored: stored captures that can be used instead of a request, by URL.
    """

    def __init__(self, page_url: str, limit: int, jar: VisitCookies | None = None) -> None:
        self.page_url = page_url
        self.jar = jar
        self.queue: asyncio.Queue[PageRequisite] = asyncio.Queue()
        self.outcomes: dict[str, RequisiteOutcome] = {}
        self.stored: dict[str, Capture] = {}
        self._limit = limit
        self._seen = {page_url: Requisite(page_url, RequisiteKind.OTHER)}
        self._parts = 0

    def recorded(self) -> Iterator[RequisiteOutcome]:
        """Iterate over the outcomes, except icons and preview images without a capture."""
        for outcome in self.outcomes.values():
            if outcome.status is not None or not outcome.is_preview_image:
                yield outcome

    def add(self, requisites: Sequence[PageRequisite]) -> None:
        """Add requisites without duplicates, up to the page's limit."""
        for one in requisites:
            each = one.requisite
            if each.url in self._seen or len(self._seen) > 2 * self._limit:
                continue
            self._seen[each.url] = each
            self._parts += each.kind is RequisiteKind.PART
            if len(self._seen) > self._limit + 1:
                message = f"The page needs more than {self._limit} resources; this one was skipped."
                self.note(each, None, Failure(FailureKind.TOO_LARGE, message))
            elif each.kind is RequisiteKind.PART and self._parts >= MAX_PARTS:
                message = f"The article has more than {MAX_PARTS} pages; the rest was skipped."
                self.note(each, None, Failure(FailureKind.TOO_LARGE, message))
            else:
                self.queue.put_nowait(one)

    def note(self, requisite: Requisite, status: int | None, failure: Failure | None) -> None:
        """Note the outcome of a requisite."""
        self.outcomes[requisite.url] = RequisiteOutcome(
            requisite.url,
            requisite.kind,
            status,
            failure,
            requisite.area,
            requisite.is_preview_image,
        )

    def give_up(self, failure: Failure) -> None:
        """Set the same failure as outcome of all requisites without an outcome."""
        for url, requisite in self._seen.items():
            if url != self.page_url and url not in self.outcomes:
                self.note(requisite, None, failure)


def nested_requisites(requisite: PageRequisite, result: FetchResult) -> list[PageRequisite]:
    """Return the nested requisites of a requisite.

    The depth of nested requisites is one more than the depth of ``requisite``. For requisites of a
    further page of an article, it is the depth of that page.
    """
    depth = (
        requisite.depth if requisite.requisite.kind is RequisiteKind.PART else requisite.depth + 1
    )
    initiators = with_initiators(requisite.initiators, result.hosts)
    return [PageRequisite(each, depth, initiators) for each in result.requisites]


def without_other_parts(
    requisite: Requisite, nested: tuple[Requisite, ...]
) -> tuple[Requisite, ...]:
    """Remove further pages of an article from the nested requisites of style sheets and frames.

    Only the page and its further pages may name the next page of the article.
    """
    if requisite.kind is RequisiteKind.PART:
        return nested
    return tuple(each for each in nested if each.kind is not RequisiteKind.PART)


def document_of(requisite: Requisite, response: FetchedResponse) -> Document:
    """Return the document of a requisite, with the media type that replay gives it."""
    if requisite.kind is not RequisiteKind.STYLE:
        return response.document
    kind = as_style(MediaType(response.media_type), response.content)
    return replace(response.document, media_type=kind.essence)


def _needs_nothing(document: Document) -> bool:
    """Return whether a document is a short style sheet that names no resources."""
    if not is_css(document.media_type) or document.link_header:
        return False
    is_short = len(document.payload) <= SHORT_SHEET_BYTES
    return is_short and not may_load(document.payload.decode("latin-1"))


def refusal(requisite: Requisite, response: FetchedResponse) -> Failure | None:
    """Return why replay can't show the stored response of a requisite; None if it can."""
    if response.ref.status >= FIRST_ERROR_STATUS:
        return None
    if response.is_cut:
        message = "The file decompresses to more bytes than replay allows."
        return Failure(FailureKind.TOO_LARGE, message)
    if response.ref.status in REDIRECTS and response.redirect_to is None:
        return Failure(FailureKind.INVALID_URL, "The file redirects to an address without a page.")
    kind, content = response.media_type, response.content
    if requisite.kind is RequisiteKind.STYLE and not is_css(
        document_of(requisite, response).media_type
    ):
        return Failure(FailureKind.WRONG_TYPE, "The server did not send a style sheet.")
    is_page = is_html(kind) and is_html(as_image(MediaType(kind), content).essence)
    if requisite.kind in _DISPLAYED and is_page and content.strip():
        message = "The server sent a web page instead of this file."
        return Failure(FailureKind.WRONG_TYPE, message)
    return None


SHORT_SHEET_BYTES = 64 << 10
"""Size up to which a style sheet is searched for references without a worker."""
CONCURRENT = 6
"""Maximum concurrent fetches for one page; browsers have the same limit for one host."""
CACHE_BYTES = 16 << 20
FAILED_SECONDS = 600
"""Seconds before a failed requisite is requested again."""
PREVIEW_IMAGE_SECONDS = 86400
"""Minimum seconds before an icon or preview image is requested again."""


Get = Callable[[OutgoingRequest], Awaitable[FetchedResponse]]
"""Function that fetches a requisite; raises ``FetchError`` on failure."""


class Requisites:
    """Fetching of requisites with a cache shared by all pages.

    ``get`` is the function that fetches a requisite; by default it requests the URL.
    """

    def __init__(self, context: CrawlContext, get: Get | None = None) -> None:
        self._context = context
        self._get = get or partial(fetch, context)
        self._active: dict[str, asyncio.Future[FetchResult]] = {}
        self._cache: OrderedDict[str, FetchResult] = OrderedDict()
        self._cache_bytes = 0
        self._deletions = 0

    async def fetch_all(
        self,
        page_url: str,
        requisites: tuple[Requisite, ...],
        initiators: frozenset[str] = frozenset(),
        jar: VisitCookies | None = None,
    ) -> tuple[RequisiteOutcome, ...]:
        """Fetch a page's requisites and their nested requisites; return the outcomes.

        Failures, timeouts and requisites over the limit are returned as outcomes, not raised.

        Args:
            page_url: URL of the page.
            requisites: direct requisites.
            initiators: hosts that led to the page, including its own.
            jar: the cookies set during the visit.
        """
        if not requisites:
            return ()
        page = PageRequisites(page_url, self._context.settings.max_requisites, jar)
        await self._add(page, [PageRequisite(each, 0, initiators) for each in requisites])
        try:
            async with asyncio.timeout(self._context.settings.page_timeout):
                async with asyncio.TaskGroup() as group:
                    workers = [group.create_task(self._work(page)) for _ in range(CONCURRENT)]
                    await page.queue.join()
                    for worker in workers:
                        worker.cancel()
        except TimeoutError:
            message = "The page took too long; this resource was skipped."
            page.give_up(Failure(FailureKind.TIMEOUT, message))
        return tuple(page.recorded())

    async def _work(self, page: PageRequisites) -> None:
        while True:
            queued = await page.queue.get()
            result = await self._result(queued, page)
            page.note(queued.requisite, result.status, result.failure)
            if result.requisites and queued.depth < MAX_DEPTH:
                await self._add(page, nested_requisites(queued, result))
            page.queue.task_done()

    async def _add(self, page: PageRequisites, requisites: Sequence[PageRequisite]) -> None:
        """Look up stored captures of requisites, then add the requisites to the page."""
        if not requisites:
            return
        async with self._context.db.read() as conn:
            if not self._cache or any(each.requisite.url in self._cache for each in requisites):
                self._clear_after_deletion(await tombstones.count(conn))
            unknown = {
                each.requisite.url: each.requisite.is_preview_image
                for each in reversed(requisites)
                if each.requisite.url not in self._cache
            }
            page.stored |= await self._stored(conn, unknown)
        page.add(requisites)

    async def _stored(self, conn: AsyncConnection, urls: Mapping[str, bool]) -> dict[str, Capture]:
        """Return stored captures that can be used without a request.

        ``urls`` has for each URL whether it is that of an icon or preview image.
        """
        now = datetime.now(UTC)
        after = {
            each: to_timestamp(now - timedelta(seconds=self._max_age(is_preview_image=each)))
            for each in (False, True)
        }
        stored = await captures.recent_of(conn, [*urls], min(after.values()))
        return {
            url: each
            for url, each in stored.items()
            # An earlier error may be fixed by now. A time in the future is a wrong one.
            if after[urls[url]] < each.timestamp <= to_timestamp(now)
            and (urls[url] or each.status < 400)
        }

    def _max_age(self, *, is_preview_image: bool) -> float:
        """Return the seconds for which a stored capture is used without a request."""
        max_age = self._context.settings.requisite_max_age
        return max(max_age, PREVIEW_IMAGE_SECONDS) if is_preview_image else max_age

    def _clear_after_deletion(self, deletions: int) -> None:
        """Clear the cache if the number of deletions in the archive has changed."""
        if deletions != self._deletions:
            self._deletions = deletions
            self._cache.clear()
            self._cache_bytes = 0

    async def _result(self, queued: PageRequisite, page: PageRequisites) -> FetchResult:
        """Return the result of a requisite.

        The sources in order are the cache, an active fetch, a stored capture, and a new fetch.
        """
        url = queued.requisite.url
        while True:
            cached = self._cache.get(url)
            if cached and cached.is_valid_for(queued.requisite):
                return cached
            active = self._active.get(url)
            if active is None:
                break
            await asyncio.wait([active])
            if not active.cancelled():  # otherwise the page that requested it was cancelled
                return active.result()
        active = self._active[url] = asyncio.get_running_loop().create_future()
        try:
            active.set_result(result := await self._fetch(queued, page))
        finally:
            active.cancel()
            del self._active[url]
        return result

    async def _fetch(self, queued: PageRequisite, page: PageRequisites) -> FetchResult:
        """Fetch a requisite, find its nested requisites, and cache the result."""
        requisite, now = queued.requisite, datetime.now(UTC)
        lasts = self._max_age(is_preview_image=requisite.is_preview_image)
        request = OutgoingRequest(
            requisite.url,
            headers=(("Referer", page.page_url),),
            initiators=queued.initiators,
            jar=page.jar,
        )
        try:
            response, hosts = await self._follow(
                request,
                page.stored.get(requisite.url),
                is_preview_image=requisite.is_preview_image,
            )
        except FetchError as error:
            lasts = lasts if requisite.is_preview_image else FAILED_SECONDS
            expires_at = now + timedelta(seconds=lasts)
            return self._cached(requisite.url, FetchResult(None, error.failure, (), expires_at))
        nested: tuple[Requisite, ...] = ()
        if requisite.kind in NESTED and response.content:
            document = document_of(requisite, response)
            if not _needs_nothing(document):
                discovery = await self._context.derive.discover(document)
                nested = without_other_parts(requisite, discovery.requisites)
        result = FetchResult(
            response.ref.status,
            refusal(requisite, response),
            nested,
            now + timedelta(seconds=lasts),
            hosts,
        )
        return self._cached(requisite.url, result)

    async def _follow(
        self, request: OutgoingRequest, stored: Capture | None, *, is_preview_image: bool
    ) -> tuple[FetchedResponse, frozenset[str]]:
        """Follow redirects; return the last response and the hosts of all requests.

        Stored captures replace requests, up to the first redirect target without a stored capture.
        """
        hosts = frozenset[str]()
        for _ in range(MAX_REDIRECTS + 1):
            hosts |= {host(request.url)}
            response = await read_stored(self._context, stored) if stored else None
            if response is None:
                initiators = with_initiators(request.initiators, hosts)
                if initiators != request.initiators:
                    request = replace(request, initiators=initiators)
                response = await self._get(request)
            if response.redirect_to is None:
                return response, hosts
            request = replace(request, url=response.redirect_to)
            if stored:
                async with self._context.db.read() as conn:
                    stored_captures = await self._stored(conn, {request.url: is_preview_image})
                stored = stored_captures.get(request.url)
        raise FetchError(
            Failure(FailureKind.TOO_MANY_REDIRECTS, f"{request.url} redirects too many times.")
        )

    def _cached(self, url: str, result: FetchResult) -> FetchResult:
        """Cache a result and return it; remove the oldest results above ``CACHE_BYTES``."""
        before = self._cache.pop(url, None)
        self._cache_bytes += result.weight - (before.weight if before else 0)
        self._cache[url] = result
        while self._cache_bytes > CACHE_BYTES:
            _, dropped = self._cache.popitem(last=False)
            self._cache_bytes -= dropped.weight
        return result
