"""Rendering of pages in Chromium.

A page is loaded until it is idle, and scrolled down; then its document is read. A page that does
not become idle in time is read in its current state. Rendering must end within ``PAGE_SECONDS``.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from archiver.browser.chromium import find_browser, user_agent, version_of
from archiver.browser.page import Page, RenderedPage, Screenshot, open_page
from archiver.browser.process import Browser, Launch, sweep_profiles
from archiver.browser.request_gate import Gate, GateHandlers, connect, make_gate_key
from archiver.browser.view_similarity import read_png, similarity_of, words_contained
from archiver.crawl.browser_requests import Traffic
from archiver.crawl.rendering_policy import BrowserServices, Rendered
from archiver.crawl.visit_result import FetchedResponse
from archiver.errors import BrowserError, FetchError
from archiver.http.requests import with_initiators
from archiver.http.urls import host, without_route
from archiver.logs import get_log
from archiver.model.failure import Failure, FailureKind
from archiver.model.rendering import PAGE_TYPE, Limit, NewRendition, RenditionKind
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.pages.worker_messages import Document

PAGE_SECONDS = 45.0
LOAD_SECONDS = 18.0
SCROLL_SECONDS = 10.0
REST_SECONDS = 4.0
QUIET_SECONDS = 1.0
LEAST_SECONDS = 2.6
"""Minimum time on a page in seconds. Many scripts run two seconds after the page became idle."""
STILL_SECONDS = 0.5
CHECK_SECONDS = 8.0
"""Maximum time in seconds for a server's bot check, which precedes the page."""
PICTURE_SECONDS = 10.0
COMPARE_SECONDS = 8.0
POLL_SECONDS = 0.1
PAGES_A_BROWSER = 100
"""Number of pages after which the browser is restarted, to limit effects of bad pages."""
IDLE_SECONDS = 60.0
PROFILES = "tmp"
_PDF = "application/pdf"
_SCREENSHOTS = {RenditionKind.THUMBNAIL, RenditionKind.PICTURE, RenditionKind.PRINT}

log = get_log(__name__)


@dataclass(slots=True)
class _Running:
    """Browser process and the number of its pages.

    Attributes:
        browser: the process.
        page_count: number of pages that the browser has shown or shows now.
        users: number of pages that the browser shows now.
    """

    browser: Browser
    page_count: int = 0
    users: int = 0


class Chromium:
    """Chromium browser that is started on demand and stopped when idle."""

    def __init__(self, services: BrowserServices) -> None:
        self._services = services
        self._key = make_gate_key()
        self._running: _Running | None = None
        self._start_lock = asyncio.Lock()
        self._idle_timer: asyncio.Task[None] | None = None

    async def show(self, page: FetchedResponse, *, reload: bool) -> Rendered:
        """Render a page, and return its document and renditions.

        Raises:
            FetchError: the page can't be fetched.
            BrowserError: the browser can't show the page.
            TimeoutError: rendering takes too long.
        """
        traffic = Traffic(self._services, None if reload else page, page.initiators, page.jar)
        async with (
            self._browser() as browser,
            self._gate(browser, traffic) as port,
            asyncio.timeout(PAGE_SECONDS) as until,
            open_page(browser, port) as tab,
        ):
            if page.jar:
                await tab.set_cookies(page.jar.by_key.values())
            shown_page = await _show_and_read(tab, traffic, page.address, is_checked=reload)
            renditions = [_page_rendition(shown_page)]
            source = await tab.source() if reload else ""
            similarity = words = None
            with suppress(TimeoutError, BrowserError):
                async with asyncio.timeout_at((until.when() or 0) - 1):
                    await _take_screenshots(tab, traffic, renditions)
                    similarity, words = await _compare(tab, traffic, shown_page)
        if not {each.kind for each in renditions} >= _SCREENSHOTS:
            traffic.limits.add(Limit.PICTURES)
        rendered = _rendered(page, traffic, shown_page, renditions)
        return replace(
            rendered,
            jar=page.jar,
            picture=similarity,
            words=words,
            source=_with_scripts(rendered, source),
        )

    async def stop(self) -> None:
        """Stop the browser."""
        if self._idle_timer:
            self._idle_timer.cancel()
        running, self._running = self._running, None
        if running:
            await running.browser.close()

    @asynccontextmanager
    async def _browser(self) -> AsyncIterator[Browser]:
        """Provide a running browser for the duration of the block."""
        async with self._start_lock:
            running = self._running
            is_gone = running is None or running.browser.connection.gone.is_set()
            if running is None or is_gone or running.page_count >= PAGES_A_BROWSER:
                before, running = running, _Running(await self._start())
                self._running = running
                if before and not before.users:
                    await before.browser.close()
        running.page_count += 1
        running.users += 1
        try:
            yield running.browser
        finally:
            running.users -= 1
            await self._stop_when_idle(running)

    async def _stop_when_idle(self, running: _Running) -> None:
        """Stop an unused browser: immediately if it exited or was replaced, else when idle."""
        if running.users:
            return
        if running is not self._running or running.browser.connection.gone.is_set():
            if running is self._running:
                self._running = None
            await running.browser.close()
            return
        if self._idle_timer:
            self._idle_timer.cancel()
        self._idle_timer = asyncio.create_task(self._end_idle(running, running.page_count))

    async def _end_idle(self, running: _Running, count_then: int) -> None:
        await asyncio.sleep(IDLE_SECONDS)
        if running is self._running and not running.users and running.page_count == count_then:
            self._running = None
            await running.browser.close()

    async def _start(self) -> Browser:
        settings = self._services.settings
        executable = find_browser(settings)
        profiles = settings.data / PROFILES
        await asyncio.to_thread(sweep_profiles, profiles)
        return await Browser.start(
            Launch(
                executable=executable,
                profiles=profiles,
                fingerprint=self._key.fingerprint,
                user_agent=user_agent(await version_of(executable), settings.user_agent),
                memory_bytes=settings.browser_memory_bytes,
                is_sandboxed=settings.browser_sandbox,
            )
        )

    @asynccontextmanager
    async def _gate(self, browser: Browser, traffic: Traffic) -> AsyncIterator[int]:
        """Open a gate, the proxy for all requests of one page, and yield the port of the gate."""
        listening, port = await browser.gate_socket()
        handlers = GateHandlers(traffic.respond, partial(connect, self._services.fetcher))
        serving = asyncio.create_task(
            Gate(listening, self._key.tls, handlers).serve(), name="browser-gate"
        )
        try:
            yield port
        finally:
            serving.cancel()
            await asyncio.wait([serving])
            listening.close()  # The task does not close it if it was cancelled before it started.


async def _show_and_read(
    tab: Page, traffic: Traffic, url: str, *, is_checked: bool
) -> RenderedPage:
    """Show a page until it is idle, and return its document.

    Args:
        tab: the browser page.
        traffic: requests of the page.
        url: the URL to show.
        is_checked: whether the server may send a bot check before it sends the page.

    Raises:
        FetchError: the page can't be fetched.
    """
    error = await tab.navigate(url)
    if error:
        message = f"The browser could not load {host(url)}: {error}."
        failure = traffic.failures.get(without_route(url)) or Failure(FailureKind.PROTOCOL, message)
        raise FetchError(failure)
    await _settle(tab, traffic, LOAD_SECONDS)
    if is_checked and await _pass_check(traffic):
        await _settle(tab, traffic, LOAD_SECONDS)
    started = time.monotonic()
    await tab.hide_banners()
    if not await tab.scroll(SCROLL_SECONDS):
        traffic.limits.add(Limit.SCROLLING)
    seconds = LEAST_SECONDS - QUIET_SECONDS - (time.monotonic() - started)
    late = await tab.wait_by_page_timer(seconds)
    # If the machine is busy, the page's timers fire late, and so do the requests that they start.
    await asyncio.sleep(late)
    if not await _settle(tab, traffic, REST_SECONDS):
        traffic.limits.add(Limit.RESTLESS if tab.is_loaded else Limit.LOADING)
    await tab.hide_banners()
    return await tab.rendered()


async def _pass_check(traffic: Traffic) -> bool:
    """Wait while the server sends an error or a bot check; return whether a wait was needed."""
    until = time.monotonic() + CHECK_SECONDS
    has_waited = False
    while traffic.is_refused and time.monotonic() < until:
        has_waited = True
        await asyncio.sleep(POLL_SECONDS)
    return has_waited


async def _wait_until_idle(tab: Page, traffic: Traffic, seconds: float) -> None:
    """Wait until a page has loaded and has made no request for ``seconds`` seconds."""
    while True:
        if tab.is_loaded and traffic.idle_seconds >= seconds:
            return
        await asyncio.sleep(POLL_SECONDS)


async def _settle(tab: Page, traffic: Traffic, seconds: float) -> bool:
    """Wait up to ``seconds`` seconds until a page is loaded and idle; return whether it is."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        is_quiet = tab.is_loaded and traffic.idle_seconds >= QUIET_SECONDS
        if is_quiet and await tab.seconds_unchanged() >= STILL_SECONDS:
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


async def _take_screenshots(tab: Page, traffic: Traffic, renditions: list[NewRendition]) -> None:
    """Add the screenshots and the PDF of a page to ``renditions``; log those that fail."""

    async def print_() -> Screenshot:
        return Screenshot(_PDF, await tab.pdf())

    screenshots: tuple[tuple[RenditionKind, Callable[[], Awaitable[Screenshot]]], ...] = (
        (RenditionKind.THUMBNAIL, tab.thumbnail),
        (RenditionKind.PICTURE, tab.screenshot),
        (RenditionKind.PRINT, print_),
    )
    for kind, make in screenshots:
        try:
            async with asyncio.timeout(PICTURE_SECONDS):
                picture = await make()
        except (BrowserError, TimeoutError) as error:
            log.warning("screenshot failed", kind=kind, reason=str(error) or type(error).__name__)
        else:
            renditions.append(NewRendition(kind, picture.media_type, picture.content))
            if not picture.is_whole:
                traffic.limits.add(Limit.HEIGHT)


async def _compare(tab: Page, traffic: Traffic, shown_page: RenderedPage) -> tuple[int, int]:
    """Compare a page with its archived document, which is shown without scripts.

    Return the percentage of the screenshot that looks the same, and of the words that remain.
    """
    before, words = await tab.small_screenshot(), await tab.text()
    # Another URL is used, because the browser may have cached the response of the page's own URL.
    url = f"{shown_page.url}{'&' if '?' in shown_page.url else '?'}as-it-stood"
    traffic.replay_only(url, shown_page.html)
    async with asyncio.timeout(COMPARE_SECONDS):
        await tab.navigate_without_scripts(url)
        await _wait_until_idle(tab, traffic, STILL_SECONDS)
        after = await tab.small_screenshot()
        words_after = await tab.text()
    return await asyncio.to_thread(
        lambda: (
            similarity_of(read_png(before.content), read_png(after.content)),
            words_contained(words, words_after),
        )
    )


def _page_rendition(shown_page: RenderedPage) -> NewRendition:
    return NewRendition(RenditionKind.PAGE, PAGE_TYPE, shown_page.html.encode("utf-8", "replace"))


def _rendered(
    page: FetchedResponse,
    traffic: Traffic,
    shown_page: RenderedPage,
    renditions: list[NewRendition],
) -> Rendered:
    """Build the result. It refers to the page to which a script navigated, if any."""
    ref = traffic.pages.get(shown_page.url) or traffic.pages.get(page.ref.url) or page.ref
    document = Document(renditions[0].content, "text/html", "utf-8", ref.url)
    loaded = tuple(
        RequisiteOutcome(url, RequisiteKind.OTHER, status)
        for url, status in traffic.loaded.items()
        if url != ref.url
    )
    initiators = with_initiators(traffic.initiators, frozenset({host(ref.url)}))
    return Rendered(
        ref,
        tuple(renditions),
        document,
        loaded,
        initiators=initiators,
        excluded_responses=tuple(traffic.excluded_responses),
        wall=traffic.walls.get(ref.record_id, ""),
        limits=tuple(sorted(traffic.limits)),
    )


def _with_scripts(rendered: Rendered, source: str) -> Document | None:
    """Return the document of the page with scripts; None if ``source`` is empty."""
    payload = source.encode("utf-8", "replace")
    return replace(rendered.document, payload=payload) if source else None
