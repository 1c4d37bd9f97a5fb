"""Visit of a page: redirects, page, requisites and article."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.config import MAX_REDIRECTS
from archiver.crawl.article_extraction import read_whole
from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import fetch, read_stored, recent_captures
from archiver.crawl.icons_and_thumbnails import make_fetched_previews, preview_requisites
from archiver.crawl.rendering_policy import NotRendered, Rendered
from archiver.crawl.requisites import Requisites
from archiver.crawl.retry_policy import parked, retry_at, status_failure, walled
from archiver.crawl.visit_result import FetchedResponse, Visit
from archiver.errors import FetchError
from archiver.http.cookies import Cookie, VisitCookies
from archiver.http.requests import OutgoingRequest
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import MAX_CHARACTERS, escape_bytes, host, without_route
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Lease
from archiver.model.page import Article, Discovery
from archiver.model.rendering import Rendering
from archiver.model.requisite import REDIRECTS, Requisite, RequisiteKind, RequisiteOutcome
from archiver.pages.page_problems import LEAST_CHARACTERS, MAX_COUNTED
from archiver.pages.requisites import refresh_of
from archiver.pages.worker_pool import unread_article


@dataclass(frozen=True, slots=True)
class Inspection:
    """Result of the inspection of a page without a browser.

    Attributes:
        discovery: requisites and other findings; None if the page was not parsed.
        failure: why the response is not the requested page; None if it is.
        article: the article, if it was extracted at the same time.
    """

    discovery: Discovery | None
    failure: Failure | None
    article: Article | None = None


async def inspect_page(
    context: CrawlContext, page: FetchedResponse, *, reads: bool = False
) -> Inspection:
    """Inspect a page without a browser; with ``reads``, extract its article too."""
    url = page.ref.url
    if page.wall:
        return Inspection(None, walled(url, page.wall))
    failure = status_failure(page.ref.status, page.retry_after)
    if failure and not page.content:
        return Inspection(None, failure)
    if reads and not failure:
        discovery, article = await context.derive.inspect_and_extract(page.document)
    else:
        discovery, article = await context.derive.discover(page.document), None
    if discovery.wall:
        return Inspection(discovery, walled(url, discovery.wall))
    if page.ref.status in REDIRECTS and discovery.appearance.readable:
        failure = None
    return Inspection(
        discovery, parked(url, discovery.parked) if discovery.parked else failure, article
    )


_NOTHING = Failure(FailureKind.INTERNAL, "The visit had no result.")


async def visit(
    context: CrawlContext, requisites: Requisites, lease: Lease, on_response: Callable[[], None]
) -> Visit:
    """Fetch the page of a lease with its requisites; call ``on_response`` after each response.

    Raises:
        FetchError: the page can't be fetched now.
    """
    await _next_second(context, lease)
    chain, url = RedirectChain(context, lease), without_route(lease.entry.url)
    inspection: Inspection | None = None
    while True:
        try:
            page = await chain.follow(url)
        except FetchError:
            if inspection is None:
                raise
            break  # keep the page that has the refresh, because its target can't be fetched
        on_response()
        first = chain.first or page
        inspection = await inspect_page(
            context, page, reads=not (lease.render or _is_extraction_deferred(context))
        )
        discovery, failure = inspection.discovery, inspection.failure
        is_wanted = _is_rendering_wanted(context, lease, page, discovery, failure)
        url = _refresh_target(page, discovery, is_rendered=is_wanted)
        if not url or not chain.may_follow(url):
            break
    rendered: Rendered | NotRendered = NotRendered()
    if is_wanted:
        rendered = await context.renderer.show(page, reload=failure is not None)
    if isinstance(rendered, Rendered):
        visited = await _visit_rendered(context, requisites, first, rendered, failure)
        if _is_rendered_better(context, lease, page, inspection, visited):
            return visited
        rendered = NotRendered()
    if failure or discovery is None:
        raise FetchError(failure or _NOTHING)
    _retry_if_truncated(context, lease, page)
    images = preview_requisites(discovery)
    visited = await visit_fetched(
        context, requisites, first, page, discovery, images, inspection.article
    )
    if rendered.limits:
        visited.appearance = replace(visited.appearance, limits=rendered.limits)
    return visited


async def visit_fetched(
    context: CrawlContext,
    requisites: Requisites,
    first: FetchedResponse,
    page: FetchedResponse,
    discovery: Discovery,
    preview_images: tuple[Requisite, ...] = (),
    article: Article | None = None,
) -> Visit:
    """Build the visit of a page that is kept as it was fetched, with its requisites.

    Args:
        context: services of the crawl.
        requisites: fetches the requisites.
        first: the response to the request for the entry's URL.
        page: the page, which is the last response.
        discovery: result of the page's inspection.
        preview_images: icons and preview images to fetch too.
        article: the article that the inspection extracted; None if it did not.
    """
    direct = (*discovery.requisites, *preview_images)
    if _is_extraction_deferred(context):
        article = unread_article(page.document, discovery)
    if article is not None:
        outcomes = await requisites.fetch_all(page.ref.url, direct, page.initiators, page.jar)
    else:
        outcomes, article = await _read_and_fetch(context, requisites, page, direct)
    return Visit(
        timestamp=first.ref.timestamp,
        at=first.at,
        page=page.ref,
        article=article,
        requisites=outcomes,
        charset=discovery.charset,
        rendering=Rendering.NEEDED if discovery.needs_browser or page.route else Rendering.NONE,
        renditions=await make_fetched_previews(context, page.ref, discovery, article, outcomes),
        appearance=replace(discovery.appearance, is_cut=True)
        if page.is_truncated or page.is_cut
        else discovery.appearance,
    )


LEAST_GAIN = 40
"""Characters of text that rendering must add if it was not known to be needed."""


def _is_rendered_better(
    context: CrawlContext, lease: Lease, page: FetchedResponse, seen: Inspection, rendered: Visit
) -> bool:
    """Return whether the rendered page is kept, instead of the page as fetched.

    The page as fetched is kept if rendering was a trial and added little text: the scripts may have
    replaced the content, for example by a notice.
    """
    is_trial = _is_rendering_a_trial(context, lease, page, seen)
    return not is_trial or _added_text(rendered, seen) >= LEAST_GAIN


def _added_text(rendered: Visit, inspection: Inspection) -> int:
    """Return how many characters of text a rendered page has more than the page as fetched."""
    if inspection.article is not None:
        return len(rendered.article.text) - len(inspection.article.text)
    before = inspection.discovery.appearance.readable if inspection.discovery else 0
    return (rendered.appearance.readable or 0) - (before or 0)


def _is_rendering_a_trial(
    context: CrawlContext, lease: Lease, page: FetchedResponse, inspection: Inspection
) -> bool:
    """Return whether a page was rendered only because scripts may insert a part of it."""
    if inspection.discovery is None:
        return False
    without = replace(inspection.discovery, may_need_browser=False)
    return not _is_rendering_wanted(context, lease, page, without, inspection.failure)


def _is_rendering_wanted(
    context: CrawlContext,
    lease: Lease,
    page: FetchedResponse,
    discovery: Discovery | None,
    failure: Failure | None,
) -> bool:
    if discovery and page.route:
        discovery = replace(discovery, needs_browser=True)
    return context.renderer.is_wanted(page.ref.url, discovery, failure, requested=lease.render)


async def _visit_rendered(
    context: CrawlContext,
    requisites: Requisites,
    first: FetchedResponse,
    rendered: Rendered,
    failure: Failure | None,
) -> Visit:
    """Build the visit of a rendered page, and fetch the resources that its replay needs.

    ``failure`` is the failure of the response without a browser; None if there was none.

    Raises:
        FetchError: the rendered page is still a bot wall or an error.
    """
    readable = replace(rendered, document=rendered.readable)
    discovery = await context.derive.discover(readable.document)
    still = await _failure_shown(context, rendered, discovery, failure)
    if failure:
        context.renderer.note_outcome(rendered.page.url, has_passed=still is None)
    if still:
        raise FetchError(still)
    await context.recorder.flush()
    direct = (*discovery.requisites, *preview_requisites(discovery))
    outcomes, article = await _read_and_fetch(context, requisites, readable, direct)
    preview_images = await make_fetched_previews(
        context, rendered.page, discovery, article, outcomes
    )
    recorded = {each.url for each in outcomes}
    return Visit(
        timestamp=first.ref.timestamp,
        at=first.at,
        page=rendered.page,
        article=article,
        requisites=(*outcomes, *(each for each in rendered.loaded if each.url not in recorded)),
        charset=discovery.charset,
        rendering=Rendering.DONE,
        renditions=(*rendered.renditions, *preview_images),
        appearance=replace(
            discovery.appearance,
            picture=rendered.picture,
            words=rendered.words,
            limits=rendered.limits,
        ),
        excluded_responses=rendered.excluded_responses,
    )


async def _failure_shown(
    context: CrawlContext, rendered: Rendered, discovery: Discovery, failure: Failure | None
) -> Failure | None:
    """Return the failure that a rendered page shows; None for a real page.

    Most bot walls are recognised by their scripts, so the page with its scripts is inspected too.
    If only the response headers name a bot wall, it counts as a failure only if the page has little
    text. With more text, the browser has probably passed the wall.
    """
    wall = discovery.wall
    if rendered.source and not wall:
        wall = (await context.derive.discover(rendered.source)).wall
    refused = status_failure(rendered.page.status, None)
    if failure and failure.kind is FailureKind.HTTP_STATUS and refused:
        return failure
    if rendered.source and not wall and (discovery.appearance.readable or 0) < MAX_COUNTED:
        wall = rendered.wall
        if refused and not wall:
            return failure or refused
    return walled(rendered.page.url, wall) if wall else None


async def _next_second(context: CrawlContext, lease: Lease) -> None:
    """Wait for the next second if an entry already has a snapshot of this second.

    Replay selects a capture by URL and second, so this also applies to entries whose URLs differ
    only in the route, the fragment that a web application shows. If the newest snapshot has a time
    in the future (wrong clock), do not wait for that time.
    """
    url = without_route(lease.entry.url)
    while True:
        now = datetime.now(UTC)
        is_taken = url != lease.entry.url and context.routes.get(url) == to_timestamp(now)
        if not is_taken and (not lease.latest or to_timestamp(now) != lease.latest):
            break
        await asyncio.sleep(1.001 - now.microsecond / 1_000_000)
    if url != lease.entry.url:
        context.routes[url] = to_timestamp(now)


class RedirectChain:
    """Redirects of one visit, from the entry's URL to its page.

    Attributes:
        first: the first response; None until there is one.
    """

    def __init__(self, context: CrawlContext, lease: Lease) -> None:
        self.first: FetchedResponse | None = None
        self._context = context
        self._lease = lease
        self._jar = VisitCookies()
        self._initiators = frozenset(map(host, filter(None, [lease.feed])))
        self._seen = set[tuple[str, frozenset[Cookie]]]()
        self._reused_urls = set[str]()

    async def follow(self, url: str) -> FetchedResponse:
        """Fetch a URL and follow its redirects; store all responses and return the last one.

        Raises:
            FetchError: there is no response, or the redirects do not end.
        """
        while True:
            response = await self._fetch(url)
            self.first = self.first or response
            if response.redirect_to is None:
                route = self._lease.entry.url.partition("#")[2]
                return replace(response, route=route) if route else response
            url = response.redirect_to
            if not self.may_follow(url):
                message = f"The page redirects too many times (last URL: {url})."
                raise FetchError(Failure(FailureKind.TOO_MANY_REDIRECTS, message))

    def may_follow(self, url: str) -> bool:
        """Return whether a URL may be requested.

        It may not if it was already requested with the same cookies, or after too many redirects.
        """
        is_new = (url, self._jar.of(url)) not in self._seen
        return is_new and len(self._seen) <= MAX_REDIRECTS

    async def _fetch(self, url: str) -> FetchedResponse:
        self._initiators |= {host(url)}
        self._seen.add((url, self._jar.of(url)))
        if self._lease.interrupted and url not in self._reused_urls:
            self._reused_urls.add(url)
            response = await self._read_recent(url)
            if response and not _is_failure(response):
                await self._jar.receive(url, response.headers)
                return replace(response, initiators=self._initiators, jar=self._jar)
        request = OutgoingRequest(url, initiators=self._initiators, jar=self._jar)
        return await fetch(self._context, request, is_page=True)

    async def _read_recent(self, url: str) -> FetchedResponse | None:
        """Return the response that an interrupted visit of this job stored, or None."""
        captured = await recent_captures(self._context, [url], self._lease.created_at)
        return await read_stored(self._context, captured[url]) if url in captured else None


PROMPT_SECONDS = 5
"""Maximum delay of a refresh that is followed, for pages with text."""
NOTICE_SECONDS = 30
"""Maximum delay of a refresh that is followed, for pages with hardly any text."""


def _refresh_target(
    page: FetchedResponse, discovery: Discovery | None, *, is_rendered: bool
) -> str:
    """Return the target of a page's refresh; empty if the page itself is archived.

    Args:
        page: the page.
        discovery: the result of its inspection without a browser, if any.
        is_rendered: whether a browser will render it, so that ``<noscript>`` does not apply.
    """
    field = next((value for name, value in page.headers if name == "refresh"), "")
    refresh = refresh_of(escape_bytes(field[:MAX_CHARACTERS]), page.ref.url)
    refresh = refresh or (discovery.refresh if discovery else None)
    if refresh is None or not 200 <= page.ref.status < 300:
        return ""
    is_notice = discovery is None or (discovery.appearance.readable or 0) < LEAST_CHARACTERS
    if refresh.is_fallback and (is_rendered or not is_notice):
        return ""
    longest = NOTICE_SECONDS if is_notice else PROMPT_SECONDS
    return refresh.url if refresh.seconds <= longest else ""


def _is_failure(response: FetchedResponse) -> bool:
    return response.redirect_to is None and status_failure(response.ref.status, None) is not None


def _retry_if_truncated(context: CrawlContext, lease: Lease, page: FetchedResponse) -> None:
    """Raise ``FetchError`` to fetch a truncated page again, unless this was the last attempt."""
    if not page.is_truncated:
        return
    message = f"{host(page.ref.url)} closed the connection before the response was complete."
    failure = Failure(FailureKind.DISCONNECTED, message)
    if retry_at(failure, lease, context.settings, datetime.now(UTC)):
        raise FetchError(failure)


def _is_extraction_deferred(context: CrawlContext) -> bool:
    return context.settings.articles == "later"


async def _read_and_fetch(
    context: CrawlContext,
    requisites: Requisites,
    page: FetchedResponse | Rendered,
    direct: tuple[Requisite, ...],
) -> tuple[tuple[RequisiteOutcome, ...], Article]:
    """Fetch a page's requisites, and extract its article at the same time.

    The article of a multi-page document is extracted after its other pages were fetched.
    """
    reference = page.page if isinstance(page, Rendered) else page.ref
    document = page.document
    if any(each.kind is RequisiteKind.PART for each in direct):
        outcomes = await requisites.fetch_all(reference.url, direct, page.initiators, page.jar)
        await context.recorder.flush()
        return outcomes, await read_whole(context, document, outcomes, reference.timestamp)
    async with asyncio.TaskGroup() as group:
        article = group.create_task(context.derive.extract(document))
        outcomes = await requisites.fetch_all(reference.url, direct, page.initiators, page.jar)
    return outcomes, article.result()
