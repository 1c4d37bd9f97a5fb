"""Rendering of pages in Chromium.

A page is shown until it has loaded and is idle, scrolled down and read, all within
``PAGE_SECONDS``. A page that never becomes idle is read in its current state.
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
from archiver.crawl.rendering_policy import BrowserServices, Fidelity, Rendered
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
"""Minimum time on a page, so that requests which an idle page delays up to two seconds are kept."""
STILL_SECONDS = 0.5
CHECK_SECONDS = 8.0
"""Maximum time that a check of the browser may take before it shows the page."""
PICTURE_SECONDS = 10.0
COMPARE_SECONDS = 8.0
POLL_SECONDS = 0.1
PAGES_A_BROWSER = 100
"""Number of pages after which the browser is restarted, to limit the damage by bad pages."""
IDLE_SECONDS = 60.0
PROFILES = "tmp"
_PDF = "application/pdf"
_DRAWN = {RenditionKind.THUMBNAIL, RenditionKind.PICTURE, RenditionKind.PRINT}

log = get_log(__name__)


@dataclass(slots=True)
class _Running:
    """Browser process, the number of pages it has shown, and the number it shows now."""

    browser: Browser
    shown: int = 0
    users: int = 0


class Chromium:
    """Browser that is started on demand."""

    def __init__(self, means: BrowserServices) -> None:
        self._services = means
        self._key = make_gate_key()
        self._running: _Running | None = None
        self._turn = asyncio.Lock()
        self._resting: asyncio.Task[None] | None = None

    async def show(self, page: FetchedResponse, *, afresh: bool) -> Rendered:
        """Render a page and read it.

        Raises:
            FetchError: the page can't be fetched.
            BrowserError: the browser can't show the page.
            TimeoutError: rendering takes too long.
        """
        traffic = Traffic(self._services, None if afresh else page, page.initiators, page.jar)
        async with (
            self._browser() as browser,
            self._gate(browser, traffic) as port,
            asyncio.timeout(PAGE_SECONDS) as until,
            open_page(browser, port) as shown,
        ):
            if page.jar:
                await shown.set_cookies(page.jar.known.values())
            unfinished = await _look(shown, traffic, page.address, is_checked=afresh)
            renditions = [_unfinished_rendition(unfinished)]
            source = await shown.source() if afresh else ""
            fidelity = Fidelity()
            with suppress(TimeoutError, BrowserError):
                async with asyncio.timeout_at((until.when() or 0) - 1):
                    await _draw(shown, traffic, renditions)
                    fidelity = await _compare(shown, traffic, unfinished)
        if not {each.kind for each in renditions} >= _DRAWN:
            traffic.met.add(Limit.PICTURES)
        rendered = _rendered(page, traffic, unfinished, renditions)
        return replace(
            rendered, jar=page.jar, fidelity=fidelity, source=_with_scripts(rendered, source)
        )

    async def stop(self) -> None:
        """Stop the browser."""
        if self._resting:
            self._resting.cancel()
        running, self._running = self._running, None
        if running:
            await running.browser.close()

    @asynccontextmanager
    async def _browser(self) -> AsyncIterator[Browser]:
        """Provide a running browser for the duration of the block."""
        async with self._turn:
            running = self._running
            is_gone = running is None or running.browser.connection.gone.is_set()
            if running is None or is_gone or running.shown >= PAGES_A_BROWSER:
                before, running = running, _Running(await self._start())
                self._running = running
                if before and not before.users:
                    await before.browser.close()
        running.shown += 1
        running.users += 1
        try:
            yield running.browser
        finally:
            running.users -= 1
            await self._leave(running)

    async def _leave(self, running: _Running) -> None:
        """Stop a browser that will not be used again, or the last one after an idle time."""
        if running.users:
            return
        if running is not self._running or running.browser.connection.gone.is_set():
            if running is self._running:
                self._running = None
            await running.browser.close()
            return
        if self._resting:
            self._resting.cancel()
        self._resting = asyncio.create_task(self._end_idle(running, running.shown))

    async def _end_idle(self, running: _Running, shown: int) -> None:
        await asyncio.sleep(IDLE_SECONDS)
        if running is self._running and not running.users and running.shown == shown:
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
        """Open a request gate for one page and yield its port."""
        listening, port = await browser.gate_socket()
        beyond = GateHandlers(
            traffic.answer, partial(connect, self._services.fetcher, self._services.settings)
        )
        serving = asyncio.create_task(
            Gate(listening, self._key.tls, beyond).serve(), name="browser-gate"
        )
        try:
            yield port
        finally:
            serving.cancel()
            await asyncio.wait([serving])
            listening.close()  # a cancelled task that never started does not close it


async def _look(shown: Page, traffic: Traffic, url: str, *, is_checked: bool) -> RenderedPage:
    """Show a page until it is idle, and read it.

    Args:
        shown: the browser page.
        traffic: its requests.
        url: the URL to show.
        is_checked: the page may come only after a check of the browser.

    Raises:
        FetchError: the page can't be fetched.
    """
    error = await shown.show(url)
    if error:
        message = f"The browser could not load {host(url)}: {error}."
        failure = traffic.failures.get(without_route(url)) or Failure(FailureKind.PROTOCOL, message)
        raise FetchError(failure)
    await _settle(shown, traffic, LOAD_SECONDS)
    if is_checked and await _pass_check(traffic):
        await _settle(shown, traffic, LOAD_SECONDS)
    begun = time.monotonic()
    await shown.uncover()
    if not await shown.scroll(SCROLL_SECONDS):
        traffic.met.add(Limit.SCROLLING)
    left = LEAST_SECONDS - QUIET_SECONDS - (time.monotonic() - begun)
    late = await shown.pass_time(left)
    await asyncio.sleep(late)  # requests of the page are as late as its clock
    if not await _settle(shown, traffic, REST_SECONDS):
        traffic.met.add(Limit.RESTLESS if shown.is_loaded else Limit.LOADING)
    await shown.uncover()
    return await shown.rendered()


async def _pass_check(traffic: Traffic) -> bool:
    """Wait until a check lets the browser in; return whether it had to wait."""
    until = time.monotonic() + CHECK_SECONDS
    has_waited = False
    while traffic.is_refused and time.monotonic() < until:
        has_waited = True
        await asyncio.sleep(POLL_SECONDS)
    return has_waited


async def _rest(shown: Page, traffic: Traffic, seconds: float) -> None:
    """Wait until a page has loaded and made no request for ``seconds``."""
    while True:
        if shown.is_loaded and traffic.quiet_for >= seconds:
            return
        await asyncio.sleep(POLL_SECONDS)


async def _settle(shown: Page, traffic: Traffic, seconds: float) -> bool:
    """Wait up to ``seconds`` until a page has loaded and is idle; return whether it is."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        is_quiet = shown.is_loaded and traffic.quiet_for >= QUIET_SECONDS
        if is_quiet and await shown.seconds_unchanged() >= STILL_SECONDS:
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


async def _draw(shown: Page, traffic: Traffic, renditions: list[NewRendition]) -> None:
    """Add the screenshots of a page; a failed screenshot does not prevent the others."""

    async def print_() -> Screenshot:
        return Screenshot(_PDF, await shown.pdf())

    made: tuple[tuple[RenditionKind, Callable[[], Awaitable[Screenshot]]], ...] = (
        (RenditionKind.THUMBNAIL, shown.thumbnail),
        (RenditionKind.PICTURE, shown.picture),
        (RenditionKind.PRINT, print_),
    )
    for kind, make in made:
        try:
            async with asyncio.timeout(PICTURE_SECONDS):
                picture = await make()
        except (BrowserError, TimeoutError) as error:
            log.warning("screenshot failed", kind=kind, reason=repr(error))
        else:
            renditions.append(NewRendition(kind, picture.media_type, picture.content))
            if not picture.is_whole:
                traffic.met.add(Limit.HEIGHT)


async def _compare(shown: Page, traffic: Traffic, unfinished: RenderedPage) -> Fidelity:
    """Compare a page with its saved document shown without scripts."""
    before, words = await shown.small(), await shown.text()
    # The browser may have cached the original response for the page's own URL.
    url = f"{unfinished.url}{'&' if '?' in unfinished.url else '?'}as-it-stood"
    traffic.give_again(url, unfinished.html)
    async with asyncio.timeout(COMPARE_SECONDS):
        await shown.show_without_scripts(url)
        await _rest(shown, traffic, STILL_SECONDS)
        after = await shown.small()
        there = await shown.text()
    return await asyncio.to_thread(_fidelity, before, after, words, there)


def _fidelity(before: Screenshot, after: Screenshot, words: str, there: str) -> Fidelity:
    seen = similarity_of(read_png(before.content), read_png(after.content))
    return Fidelity(seen, words_contained(words, there))


def _unfinished_rendition(unfinished: RenderedPage) -> NewRendition:
    return NewRendition(RenditionKind.PAGE, PAGE_TYPE, unfinished.html.encode("utf-8", "replace"))


def _rendered(
    page: FetchedResponse,
    traffic: Traffic,
    unfinished: RenderedPage,
    renditions: list[NewRendition],
) -> Rendered:
    """Build the result; a script may have navigated to another page."""
    ref = traffic.pages.get(unfinished.url) or traffic.pages.get(page.ref.url) or page.ref
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
        answers=tuple(traffic.answers),
        wall=traffic.walls.get(ref.record_id, ""),
        limits=tuple(sorted(traffic.met)),
    )


def _with_scripts(rendered: Rendered, source: str) -> Document | None:
    """Return the page with its scripts; None if they are not needed."""
    payload = source.encode("utf-8", "replace")
    return replace(rendered.document, payload=payload) if source else None
