"""Rendering policy: the decision to render a page in a browser.

The browser code (``crawl.browser_rendering``) is slow to import, so the first page that needs a
browser imports it.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from archiver.browser.chromium import find_browser, prove_sandbox
from archiver.config import Settings
from archiver.crawl.recorder import Recorder
from archiver.crawl.visit_result import FetchedResponse
from archiver.errors import BrowserError, BrowserGone, NoBrowser, PageGone, PageTooLarge
from archiver.helpers import RecentItems
from archiver.http.cookies import VisitCookies
from archiver.http.fetcher import Fetcher
from archiver.http.media_types import is_html
from archiver.http.politeness import Throttle
from archiver.http.urls import host
from archiver.logs import get_log
from archiver.model.capture import CaptureRef, RecordId
from archiver.model.failure import Failure, FailureKind
from archiver.model.message import Message
from archiver.model.page import Discovery
from archiver.model.rendering import Limit, NewRendition
from archiver.model.requisite import RequisiteOutcome
from archiver.pages.worker_messages import Document

if TYPE_CHECKING:
    from archiver.crawl.browser_rendering import Chromium

SHADOW = b'<template shadowrootmode="open">'
"""Start tag of a shadow root in a saved document; no other template has exactly this tag."""

REFUSALS = frozenset({403, 405, 406, 429, 503})
"""Statuses that servers send to clients that they do not recognise as browsers."""
_GONE = frozenset({404, 410})
"""Statuses of missing pages; single-page applications also send them for existing pages."""
MAX_REFUSALS = 3
"""Maximum number of refused pages of a host that a browser tries without success.

After these, other refused pages of the host are not tried in a browser.
"""
MAX_REMEMBERED = 4096

RETRY_SECONDS = 600.0
"""Seconds before the program tries again to start a browser that failed to start."""

MAX_ATTEMPTS = 2
"""Maximum attempts to render a page.

A page is rendered again after a crash, because another page may be the cause.
"""

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class BrowserServices:
    """Services that fetch and record the pages of the browser."""

    settings: Settings
    fetcher: Fetcher
    throttle: Throttle
    recorder: Recorder


@dataclass(frozen=True, slots=True)
class Rendered:
    """Page rendered in a browser.

    Attributes:
        page: capture of the page.
        renditions: files made by the browser, such as screenshots; the first is the saved document.
        document: the saved document, as input of the article extraction.
        loaded: outcomes of all resources of the page, including those that scripts loaded.
        picture, words: percentage of the screenshot that looks the same without scripts, and of the
            words that are present without scripts; None if unknown.
        initiators: hosts of the navigations that led to the page.
        jar: the cookies set during the visit.
        excluded_responses: record ids of responses to requests other than GET, and of partial
            responses.
        source: the page with its scripts, to detect bot walls; None unless the browser requested
            the page again.
        wall: name of the bot wall that the response's headers declare; empty if there is none.
        limits: limits that kept the browser from rendering all of the page.
    """

    page: CaptureRef
    renditions: tuple[NewRendition, ...]
    document: Document
    loaded: tuple[RequisiteOutcome, ...] = ()
    picture: int | None = None
    words: int | None = None
    initiators: frozenset[str] = frozenset()
    jar: VisitCookies | None = None
    excluded_responses: tuple[RecordId, ...] = ()
    source: Document | None = None
    wall: str = ""
    limits: tuple[Limit, ...] = ()

    @property
    def readable(self) -> Document:
        """The saved document with its shadow roots inlined, for extraction."""
        return as_read(self.document)


def as_read(saved: Document) -> Document:
    """Return a saved document with the content of its shadow roots inlined, for extraction."""
    payload = saved.payload.replace(SHADOW, b"").replace(b"</template>", b"")
    return replace(saved, payload=payload, is_rendered=True)


@dataclass(frozen=True, slots=True)
class NotRendered:
    """Page that was not rendered.

    Attributes:
        limits: limits that kept the browser from rendering the page; empty if no browser tried.
    """

    limits: tuple[Limit, ...] = ()


class Renderer:
    """Browser of one crawling process, started for the first page that needs it.

    Attributes:
        problem: why no browser can be used, as a sentence; None if no problem is known.
    """

    def __init__(self, services: BrowserServices) -> None:
        self._services = services
        self._settings = services.settings
        self._slots = asyncio.Semaphore(services.settings.browser_pages)
        self._failed_at = float("-inf")
        self.problem = _problem(services.settings)
        self._chromium: Chromium | None = None
        self._refusals = RecentItems[str, int](MAX_REMEMBERED)

    async def check(self) -> None:
        """Check whether a browser can start, and set ``problem`` if it can't."""
        if self.problem is None:
            try:
                await prove_sandbox(self._settings)
            except NoBrowser as error:
                self.problem = error.sentence

    def is_wanted(
        self, url: str, discovery: Discovery | None, failure: Failure | None, *, requested: bool
    ) -> bool:
        """Return whether a page should be rendered.

        Args:
            url: the page.
            discovery: the result of inspecting the page as received without a browser, if any.
            failure: the failure of the visit without a browser, if any.
            requested: whether a user requested rendering.
        """
        mode = self._services.fetcher.rules.of(url).render or self._settings.render
        if mode == "never" and not requested:
            return False
        is_always = requested or mode == "always"
        needs_browser = discovery is not None and discovery.needs_browser
        if failure is None:
            return discovery is not None and (
                needs_browser or discovery.may_need_browser or is_always
            )
        if failure.kind is not FailureKind.HTTP_STATUS:
            return failure.kind is FailureKind.WALLED
        if failure.retry_after is not None or failure.status == HTTPStatus.UNAUTHORIZED:
            return False
        if is_always and failure.status not in _GONE:
            return True
        is_suspect = failure.status in REFUSALS or needs_browser
        return is_suspect and self._refusals.get(host(url), 0) < MAX_REFUSALS

    def note_outcome(self, url: str, *, has_passed: bool) -> None:
        """Record whether a browser got a page that was refused without a browser.

        After ``MAX_REFUSALS`` failures, other refused pages of the host are not tried in a browser.
        """
        if has_passed:
            self._refusals.pop(host(url), None)
            return
        self._refusals[host(url)] = self._refusals.get(host(url), 0) + 1

    async def show(self, page: FetchedResponse, *, reload: bool) -> Rendered | NotRendered:
        """Render a page, if possible.

        Args:
            page: the response received without a browser.
            reload: whether the browser must request the page again, because ``page`` is an error
                or a bot wall.
        """
        has_failed_recently = time.monotonic() - self._failed_at < RETRY_SECONDS
        if has_failed_recently or not (is_html(page.media_type) or reload):
            return NotRendered()
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return await self._show(page, reload=reload)
            except NoBrowser as error:
                self.problem, self._failed_at = error.sentence, time.monotonic()
                log.warning("browser unavailable", reason=str(error))
                break
            except (BrowserError, TimeoutError) as error:
                log.warning(
                    "rendering a page failed",
                    url=page.ref.url,
                    reason=str(error) or type(error).__name__,
                )
                if attempt == MAX_ATTEMPTS or not isinstance(error, BrowserGone | PageGone):
                    return NotRendered((_limit_of(error),))
        return NotRendered()

    async def _show(self, page: FetchedResponse, *, reload: bool) -> Rendered:
        async with self._slots:
            if self._chromium is None:
                from archiver.crawl.browser_rendering import Chromium

                self._chromium = Chromium(self._services)
            rendered = await self._chromium.show(page, reload=reload)
            self.problem = None
            return rendered

    async def stop(self) -> None:
        """Stop the browser, if it was started."""
        if self._chromium:
            await self._chromium.stop()


def _limit_of(error: BrowserError | TimeoutError) -> Limit:
    match error:
        case TimeoutError():
            return Limit.TIME
        case PageTooLarge():
            return Limit.SIZE
        case PageGone():
            return Limit.TAB
        case BrowserGone():
            return Limit.BROWSER
    return Limit.UNREADABLE


def _problem(settings: Settings) -> Message | None:
    if settings.render == "never":
        return Message("“Render with JavaScript” is set to “Never” in Settings.")
    try:
        find_browser(settings)
    except NoBrowser as error:
        return error.sentence
    return None
