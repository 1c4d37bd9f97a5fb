"""Rendering policy: pages that are rendered in a browser.

What drives the browser is heavy, and loaded when the first page needs it (``crawl.render``).
"""

import asyncio
import time
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Protocol

from archiver.browser.chromium import find_browser, prove_sandbox
from archiver.config import Settings
from archiver.crawl.recorder import Recorder
from archiver.crawl.render_hints import LearnedHosts
from archiver.crawl.response import Obtained
from archiver.errors import BrowserError, BrowserGone, NoBrowser, PageGone, PageTooLarge
from archiver.http.fetcher import Fetcher
from archiver.http.media_types import is_html
from archiver.http.politeness import Throttle
from archiver.logs import get_log
from archiver.model.capture import CaptureRef, RecordId, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.message import Message
from archiver.model.page import Discovery
from archiver.model.rendering import Limit, NewRendition, RenderHint
from archiver.model.requisite import RequisiteOutcome
from archiver.pages.worker_messages import Document

SHADOW = b'<template shadowrootmode="open">'
"""How a shadow root is written in a page as it stood; no other templates are."""

PATIENCE_SECONDS = 600.0
"""For so long nobody tries again to start a browser that can't be."""

ATTEMPTS = 2
"""A page whose browser or process ended is shown once more: a neighbour may have been at fault."""

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Means:
    """What a browser's pages are fetched and kept by."""

    settings: Settings
    fetcher: Fetcher
    throttle: Throttle
    recorder: Recorder


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How much of a page is there without scripts: of its picture and words, in hundredths.

    None where nobody knows.
    """

    picture: int | None = None
    words: int | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as a browser showed it.

    Attributes:
        page: the capture that it is of.
        likenesses: how it looked; the page as it stood is the first.
        document: the same for those who read pages.
        loaded: all that was loaded for it, scripts and what they asked for too.
        fidelity: how much of it is there without scripts.
        led_by: the hosts that led to it, as of any page.
        answers: what was kept of what its scripts sent and of parts.
        source: the page with its scripts, where a wall stood in its place: that is known by them.
        wall: whose challenge its response says it is; empty if it does not.
        limits: what kept the browser from showing all of it.
    """

    page: CaptureRef
    likenesses: tuple[NewRendition, ...]
    document: Document
    loaded: tuple[RequisiteOutcome, ...] = ()
    fidelity: Fidelity = field(default_factory=Fidelity)
    led_by: frozenset[str] = frozenset()
    answers: tuple[RecordId, ...] = ()
    source: Document | None = None
    wall: str = ""
    limits: tuple[Limit, ...] = ()

    @property
    def readable(self) -> Document:
        """The document as a person reads it."""
        return as_read(self.document)


def as_read(stood: Document) -> Document:
    """A page as it stood with what stands in shadow roots in its place, as a person reads it."""
    payload = stood.payload.replace(SHADOW, b"").replace(b"</template>", b"")
    return replace(stood, payload=payload, has_stood=True)


@dataclass(frozen=True, slots=True)
class Unshown:
    """A page that no browser showed.

    Attributes:
        limits: what kept one that was there from showing it.
    """

    limits: tuple[Limit, ...] = ()


class Instrument(Protocol):
    """What shows pages."""

    async def show(self, page: Obtained, *, afresh: bool) -> Rendered:
        """Show a page."""

    async def stop(self) -> None:
        """End what was started."""


class Renderer:
    """The browser of one crawling process, started for the first page that needs it.

    Attributes:
        problem: why there is none, in a sentence; None as far as nobody knows of any.
    """

    def __init__(self, means: Means, hosts: LearnedHosts) -> None:
        self._means = means
        self._hosts = hosts
        self._settings = means.settings
        self._room = asyncio.Semaphore(means.settings.browser_pages)
        self._failed_at = float("-inf")
        self.problem = _problem(means.settings)
        self._instrument: Instrument | None = None

    async def prove(self) -> None:
        """Find out whether a browser could start here, before a page needs one."""
        if self.problem is None:
            try:
                await prove_sandbox(self._settings)
            except NoBrowser as error:
                self.problem = error.sentence

    def is_wanted(self, found: Discovery | None, failure: Failure | None, *, asked: bool) -> bool:
        """Whether a page is to be shown by a browser.

        Args:
            found: what its first look gave; None if there was none.
            failure: what the page is instead of one.
            asked: whether somebody wants it so.
        """
        mode = self._settings.render
        if mode == "never" and not asked:
            return False
        if failure:
            return failure.kind is FailureKind.WALLED
        return found is not None and (found.needs_browser or asked or mode == "always")

    async def learned(self, url: str) -> RenderHint:
        """Why pages of a URL's host are shown at once; nothing where they are not."""
        if self._settings.render == "never" or self.problem:
            return RenderHint.NONE
        return await self._hosts.of(url)

    def learn(self, url: str, timestamp: Timestamp, look: RenderHint) -> None:
        """Learn from a look at a page."""
        self._hosts.note(url, int(timestamp), look)

    async def show(self, page: Obtained, *, afresh: bool) -> Rendered | Unshown:
        """A page as a browser shows it, where one can.

        Args:
            page: as it was sent.
            afresh: whether the browser asks for it again: what was sent is not the page.
        """
        if not (is_html(page.media_type) or afresh) or self._is_without():
            return Unshown()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._show(page, afresh=afresh)
            except NoBrowser as error:
                self.problem, self._failed_at = error.sentence, time.monotonic()
                log.warning("no browser", reason=str(error))
                break
            except (BrowserError, TimeoutError) as error:
                log.warning("page not shown by a browser", url=page.ref.url, reason=repr(error))
                if attempt == ATTEMPTS or not isinstance(error, BrowserGone | PageGone):
                    return Unshown((_limit_of(error),))
        return Unshown()

    async def _show(self, page: Obtained, *, afresh: bool) -> Rendered:
        async with self._room:
            if self._instrument is None:
                module = import_module("archiver.crawl.browser_rendering")
                self._instrument = module.Chromium(self._means)
            instrument: Instrument = self._instrument
            shown = await instrument.show(page, afresh=afresh)
            self.problem = None
            return shown

    def _is_without(self) -> bool:
        """Whether it was found lately that there is no browser to be had."""
        return time.monotonic() - self._failed_at < PATIENCE_SECONDS

    async def stop(self) -> None:
        """End the browser."""
        if self._instrument:
            await self._instrument.stop()


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
        return Message("ARCHIVER_RENDER says never.")
    try:
        find_browser(settings)
    except NoBrowser as error:
        return error.sentence
    return None
