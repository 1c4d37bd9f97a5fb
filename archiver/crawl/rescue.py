"""Rescues a page that is gone: the memento of a public archive nearest to the day it was saved."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime

from archiver.crawl.context import CrawlContext
from archiver.crawl.emblems import draw_fetched
from archiver.crawl.fetch_or_recall import fetch, read
from archiver.crawl.first_look import examine
from archiver.crawl.obtained import Obtained
from archiver.crawl.public_archives import FoundMemento, fetch_memento, locate
from archiver.crawl.requisites import Requisites
from archiver.crawl.visit import read_page
from archiver.errors import FetchError
from archiver.index import captures, entries
from archiver.ledger.records import capture_of
from archiver.ledger.visit_result import Visit
from archiver.memento.archived import PublicMemento, nearest_first, read_address
from archiver.model.capture import CaptureRef
from archiver.model.exchange import Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Lease
from archiver.model.page import Discovery
from archiver.model.rendering import Rendering
from archiver.net.outgoing import Outgoing
from archiver.urls.parse import host

AT_ONCE = 4
"""Rescues under way in one process: they all ask the same few archives."""
MOST_TRIED = 4
"""Mementos of one page: what was an error on one day was a page on another."""
OFF = Failure(
    FailureKind.NOT_ARCHIVED,
    "No public archive may be asked: ARCHIVER_RESCUE names none.",
)


@dataclass(frozen=True, slots=True)
class _Step:
    """A response on the way to a page."""

    exchange: Exchange
    found: Obtained


class Rescuer:
    """Brings pages home from public archives, a few at a time."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        settings = replace(context.settings, requisite_max_age=0)
        # What was fetched from the web lately is not what the page needed then.
        self._without_age = replace(context, settings=settings)
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def bring(self, lease: Lease) -> Visit:
        """The page of a lease as an archive has it.

        Raises:
            FetchError: none has it, or none could be asked.
        """
        async with self._turn:
            async with self._context.db.read() as conn:
                known = await entries.by_ids(conn, [lease.entry.id])
            moment = known[lease.entry.id].annotation.saved_at
            found = await self._locate(lease.entry.url, moment)
            return await self._nearest(lease.entry.url, found, moment)

    async def _locate(self, url: str, moment: datetime) -> list[PublicMemento]:
        """The mementos that all archives have, the nearest first."""
        gates = self._context.settings.rescue
        if not gates:
            raise FetchError(OFF)
        found: list[PublicMemento] = []
        trouble: Failure | None = None
        for gate in gates:
            try:
                found += await locate(self._context, gate, url, moment)
            except FetchError as error:
                trouble = trouble or error.failure
        if not found:
            raise FetchError(_not_rescued(trouble) if trouble else _not_archived(gates))
        return nearest_first(found, moment)

    async def _nearest(self, url: str, waiting: list[PublicMemento], moment: datetime) -> Visit:
        tried: dict[str, Failure] = {}
        while waiting and len(tried) < MOST_TRIED:
            memento = waiting.pop(0)
            if memento.address in tried:
                continue
            others: list[PublicMemento] = []
            try:
                return await self._bring(url, memento, others)
            except FetchError as error:
                tried[memento.address] = error.failure
                waiting = nearest_first([*waiting, *others], moment)
        trouble = next((each for each in tried.values() if each.transient), None)
        raise FetchError(_not_rescued(trouble) if trouble else _no_page(tried))

    async def _bring(self, url: str, memento: PublicMemento, others: list[PublicMemento]) -> Visit:
        """The page of a memento; ``others`` learns which further ones there are.

        Raises:
            FetchError: it is no page, or can't be had; nothing of it is kept.
        """
        with ExitStack() as bodies:
            steps, last = await self._follow(url, memento, others, bodies)
            look = await examine(self._context, steps[-1].found)
            discovery, failure = look.found, look.failure
            if failure or discovery is None:
                reason = failure.message if failure else ""
                raise FetchError(Failure(FailureKind.NOT_ARCHIVED, reason))
            bodies.pop_all()
        refs = [await self._keep(each) for each in steps]
        page = replace(steps[-1].found, ref=refs[-1])
        return await self._read(page, discovery, refs[0], steps[0].found.at, last)

    async def _follow(
        self, url: str, memento: PublicMemento, others: list[PublicMemento], bodies: ExitStack
    ) -> tuple[list[_Step], "_Source"]:
        """The responses from a URL to its page, each as the archive has it."""
        address = read_address(memento.address)
        asked, steps, seen = address.raw if address else memento.address, list[_Step](), set[str]()
        for _ in range(self._context.settings.max_redirects + 1):
            got = await fetch_memento(self._context, asked, url)
            bodies.callback(got.exchange.body.close)
            others += got.others
            step = _Step(got.exchange, await read(self._context, got.exchange))
            steps.append(step)
            seen.add(url)
            url = step.found.redirect_to or ""
            if not url:
                return steps, _Source(got, asked)
            if url in seen or got.address is None:
                break
            asked = got.address.of(url).raw
        message = f"What {host(asked)} has leads to another address, and that to another."
        raise FetchError(Failure(FailureKind.TOO_MANY_REDIRECTS, message))

    async def _read(
        self,
        page: Obtained,
        discovery: Discovery,
        first: CaptureRef,
        at: datetime,
        source: "_Source",
    ) -> Visit:
        async def get(asked: Outgoing) -> Obtained:
            return await self._requisite(source, asked.url)

        requisites = Requisites(self._without_age, get)
        outcomes, article = await read_page(self._context, requisites, page, discovery)
        return Visit(
            timestamp=first.timestamp,
            at=at,
            page=page.ref,
            article=article,
            requisites=outcomes,
            charset=discovery.charset,
            rendering=Rendering.NEEDED if discovery.needs_browser else Rendering.NONE,
            likenesses=await draw_fetched(self._context, page.ref, discovery, article, outcomes),
            appearance=discovery.appearance,
        )

    async def _requisite(self, source: "_Source", url: str) -> Obtained:
        """What a page needs, as its archive has it at the same moment."""
        address = source.found.address
        if address and address.has_raw_form:
            got = await fetch_memento(self._context, address.of(url).raw, url)
            found = await read(self._context, got.exchange)
            return replace(found, ref=await self._keep(_Step(got.exchange, found)))
        if host(url) == host(source.asked):
            return await fetch(self._context, Outgoing(url))
        raise FetchError(_not_archived([source.asked]))

    async def _keep(self, step: _Step) -> CaptureRef:
        """Hand a response to the recorder, unless it was rescued before."""
        exchange, ref = step.exchange, step.found.ref
        async with self._context.db.read() as conn:
            held = await captures.at_moments(conn, [ref.url], [ref.timestamp])
        for each in held:
            if (each.url, each.payload_digest) == (ref.url, ref.payload_digest):
                exchange.body.close()
                return CaptureRef.of(each)
        return await self._context.recorder.keep(exchange, capture_of(exchange, ref.record_id))


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a page was had from."""

    found: FoundMemento
    asked: str


def _not_archived(asked: Sequence[str]) -> Failure:
    names = ", ".join(dict.fromkeys(map(host, asked)))
    return Failure(FailureKind.NOT_ARCHIVED, f"No public archive that was asked has it ({names}).")


def _no_page(tried: dict[str, Failure]) -> Failure:
    """The failure of what archives have, and what is no page."""
    names = ", ".join(dict.fromkeys(map(host, tried)))
    last = next(reversed(tried.values())).message
    return Failure(FailureKind.NOT_ARCHIVED, f"What {names} has of it is no page. {last}")


def _not_rescued(trouble: Failure) -> Failure:
    message = f"Public archives could not be asked. {trouble.message}"
    return Failure(FailureKind.NOT_RESCUED, message, retry_after=trouble.retry_after)
