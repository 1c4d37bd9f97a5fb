"""Recovery of lost pages from public archives."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

from archiver.config import MAX_REDIRECTS
from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import fetch, read, requested_pause, send_politely
from archiver.crawl.record_building import capture_with
from archiver.crawl.requisites import Requisites
from archiver.crawl.visit import inspect_page, visit_fetched
from archiver.crawl.visit_result import FetchedResponse, Visit
from archiver.db import captures, entries
from archiver.errors import FetchError
from archiver.http.headers import parse_head
from archiver.http.requests import OutgoingRequest
from archiver.http.surt import surt
from archiver.http.timestamps import http_date, to_datetime, write_iso
from archiver.http.urls import host, join, redirect_target, without_route
from archiver.model.capture import CaptureRef, Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Lease
from archiver.replay.memento import Memento
from archiver.replay.memento_client import (
    MementoAddress,
    moment_of,
    named_mementos,
    nearest_first,
    original_head,
    read_address,
)
from archiver.warc.records import CREATION_DATE, HEAD, SOURCE_URI, SYNTHESISED, one_line

MAX_STEPS = 6
"""Maximum number of redirects within an archive, from the TimeGate to a memento."""
TRIES = 3
MAX_PAUSE = 120.0
"""Maximum pause in seconds. If an archive asks for more, the job is requeued."""
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class FoundMemento:
    """Memento with its response.

    Attributes:
        exchange: response converted to that of the original server, at the time of the memento; the
            caller closes its body.
        url: URL of the memento in the archive.
        address: the same URL, parsed; None if its form is unknown.
        further: further mementos that the response links to.
    """

    exchange: Exchange
    url: str
    address: MementoAddress | None
    further: tuple[Memento, ...]


async def locate(context: CrawlContext, gate: str, url: str, moment: datetime) -> Sequence[Memento]:
    """Ask a TimeGate for a URL; return the mementos that it redirects or links to, if any.

    Raises:
        FetchError: the TimeGate can't be reached.
    """
    archive_url, headers = gate + url, (("Accept-Datetime", http_date(moment)),)
    mementos: list[Memento] = []
    for _ in range(MAX_STEPS):
        exchange = await _ask(context, archive_url, headers)
        exchange.body.close()
        now = datetime.now(UTC)
        mementos += named_mementos(exchange.headers, archive_url, now)
        if at := moment_of(exchange.headers, now):
            location = join(archive_url, exchange.header("content-location") or archive_url)
            return [Memento(location or archive_url, at), *mementos]
        target = redirect_target(archive_url, exchange.status, exchange.headers)
        if target is None:
            # pywb shows the memento in a frame, and links to it in the Link header.
            return mementos if exchange.status == HTTPStatus.OK else []
        if address := read_address(target):
            return [Memento(target, to_datetime(address.timestamp)), *mementos]
        archive_url = target
    return []


async def fetch_memento(context: CrawlContext, archive_url: str, url: str) -> FoundMemento:
    """Fetch a memento of ``url`` from an archive.

    Raises:
        FetchError: there is no memento, or it can't be fetched now.
    """
    for _ in range(MAX_STEPS):
        exchange = await _ask(context, archive_url, ())
        now = datetime.now(UTC)
        at = moment_of(exchange.headers, now)
        target = redirect_target(archive_url, exchange.status, exchange.headers)
        address = read_address(target) if target else None
        may_follow = address is not None and surt(address.url) != surt(url)
        if at and (target is None or address is None or may_follow):
            # A redirect to a URL that is no memento is a redirect of the original page.
            location = (
                address.url if address else redirect_target(url, exchange.status, exchange.headers)
            )
            named = tuple(named_mementos(exchange.headers, archive_url, now))
            original = _as_original(exchange, url, at, archive_url, location)
            return FoundMemento(original, archive_url, read_address(archive_url), named)
        exchange.body.close()
        if target is None:
            message = f"{host(archive_url)} has no copy (it responded with {exchange.status})."
            raise FetchError(Failure(FailureKind.NOT_ARCHIVED, message))
        archive_url = address.raw if address else target
    message = f"{host(archive_url)} redirects too many times."
    raise FetchError(Failure(FailureKind.TOO_MANY_REDIRECTS, message))


async def _ask(context: CrawlContext, url: str, headers: tuple[tuple[str, str], ...]) -> Exchange:
    """Send a request to an archive; wait and retry if the archive asks for a pause."""
    request = OutgoingRequest(url, headers=headers)  # without cookies of the user
    for tries_left in reversed(range(TRIES)):
        exchange = await send_politely(context, request, is_delayed=True, max_pause=MAX_PAUSE)
        pause = requested_pause(exchange)
        is_busy = exchange.status in _BUSY or exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if exchange.truncated:
            exchange.body.close()
            raise FetchError(
                Failure(FailureKind.DISCONNECTED, (f"{host(url)} closed the connection too early."))
            )
        if not is_busy or moment_of(exchange.headers, datetime.now(UTC)):
            return exchange
        exchange.body.close()
        if pause is None or not tries_left:
            break
    message = f"{host(url)} responded with {exchange.status}."
    raise FetchError(Failure(FailureKind.NOT_RESCUED, message, exchange.status, pause))


def _as_original(
    exchange: Exchange, url: str, at: datetime, source: str, location: str | None
) -> Exchange:
    """Convert an archive's response to that of the original server."""
    length = None if exchange.chunked else exchange.payload_length
    head = original_head(exchange.status, exchange.headers, length=length, location=location)
    parsed = parse_head(head)
    return replace(
        exchange,
        url=url,
        at=at,
        request=b"",
        head=head,
        headers=parsed.headers,
        fields=(
            (HEAD, SYNTHESISED),
            (SOURCE_URI, one_line(source)),
            (CREATION_DATE, write_iso(exchange.at)),
        ),
    )


AT_ONCE = 4
"""Maximum number of concurrent recoveries per process, because all use the same few archives."""
MAX_TRIED = 4
"""Maximum number of mementos that are tried for a page; the nearest one may be an error page."""
OFF = Failure(
    FailureKind.NOT_ARCHIVED,
    "Archive lookup is off, because no public archive is chosen in Settings.",
)


@dataclass(frozen=True, slots=True)
class _Step:
    """Response on the redirect path to a page: the exchange and the result of reading it."""

    exchange: Exchange
    response: FetchedResponse


class PublicArchiveFetcher:
    """Recovery of pages from public archives, a few at a time."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        settings = replace(context.settings, requisite_max_age=0)
        # Recent captures of requisites are not reused, because the page had older versions of them.
        self._context_without_reuse = replace(context, settings=settings)
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def fetch_page(self, lease: Lease) -> Visit:
        """Fetch the page of a lease from an archive.

        Raises:
            FetchError: no archive has the page, or no archive could be reached.
        """
        async with self._slots:
            async with self._context.db.read() as conn:
                entries_by_id = await entries.by_ids(conn, [lease.entry.id])
            moment = entries_by_id[lease.entry.id].annotation.saved_at
            mementos = await self._locate(without_route(lease.entry.url), moment)
            return await self._fetch_nearest(without_route(lease.entry.url), mementos, moment)

    async def _locate(self, url: str, moment: datetime) -> list[Memento]:
        """Return the mementos of a URL in all archives, the nearest to ``moment`` first."""
        gates = self._context.settings.rescue
        if not gates:
            raise FetchError(OFF)
        mementos: list[Memento] = []
        temporary: Failure | None = None
        for gate in gates:
            try:
                mementos += await locate(self._context, gate, url, moment)
            except FetchError as error:
                temporary = temporary or error.failure
        if not mementos:
            raise FetchError(_not_rescued(temporary) if temporary else _not_archived(gates))
        return nearest_first(mementos, moment)

    async def _fetch_nearest(self, url: str, waiting: list[Memento], moment: datetime) -> Visit:
        tried: dict[str, Failure] = {}
        while waiting and len(tried) < MAX_TRIED:
            memento = waiting.pop(0)
            if memento.uri in tried:
                continue
            alternatives: list[Memento] = []
            try:
                return await self._fetch_page(url, memento, alternatives)
            except FetchError as error:
                tried[memento.uri] = error.failure
                waiting = nearest_first([*waiting, *alternatives], moment)
        temporary = next((each for each in tried.values() if each.transient), None)
        raise FetchError(_not_rescued(temporary) if temporary else _no_page(tried))

    async def _fetch_page(self, url: str, memento: Memento, alternatives: list[Memento]) -> Visit:
        """Fetch the page of a memento; further mementos are added to ``alternatives``.

        Raises:
            FetchError: the memento is not a page or can't be fetched; nothing is recorded.
        """
        with ExitStack() as bodies:
            steps, last = await self._follow(url, memento, alternatives, bodies)
            inspection = await inspect_page(self._context, steps[-1].response)
            discovery, failure = inspection.discovery, inspection.failure
            if failure or discovery is None:
                reason = failure.message if failure else ""
                raise FetchError(Failure(FailureKind.NOT_ARCHIVED, reason))
            bodies.pop_all()
        kept = [replace(each.response, ref=await self._keep(each)) for each in steps]
        requisites = Requisites(
            self._context_without_reuse, lambda request: self._requisite(last, request.url)
        )
        return await visit_fetched(self._context, requisites, kept[0], kept[-1], discovery)

    async def _follow(
        self, url: str, memento: Memento, alternatives: list[Memento], bodies: ExitStack
    ) -> tuple[list[_Step], FoundMemento]:
        """Fetch the responses from a URL to its page, following redirects within the archive."""
        address = read_address(memento.uri)
        archive_url, steps, visited = (
            address.raw if address else memento.uri,
            list[_Step](),
            set[str](),
        )
        for _ in range(MAX_REDIRECTS + 1):
            got = await fetch_memento(self._context, archive_url, url)
            bodies.callback(got.exchange.body.close)
            alternatives += got.further
            step = _Step(got.exchange, await read(self._context, got.exchange))
            steps.append(step)
            visited.add(url)
            url = step.response.redirect_to or ""
            if not url:
                return steps, got
            if url in visited or got.address is None:
                break
            archive_url = replace(got.address, url=url).raw
        message = f"The copy at {host(archive_url)} redirects too many times."
        raise FetchError(Failure(FailureKind.TOO_MANY_REDIRECTS, message))

    async def _requisite(self, source: FoundMemento, url: str) -> FetchedResponse:
        """Fetch a requisite from the archive of a memento, at the memento's time."""
        address = source.address
        if address and address.has_raw_form:
            got = await fetch_memento(self._context, replace(address, url=url).raw, url)
            response = await read(self._context, got.exchange)
            return replace(response, ref=await self._keep(_Step(got.exchange, response)))
        if host(url) == host(source.url):
            return await fetch(self._context, OutgoingRequest(url))
        raise FetchError(_not_archived([source.url]))

    async def _keep(self, step: _Step) -> CaptureRef:
        """Pass a response to the recorder, unless the same response is already stored."""
        exchange, ref = step.exchange, step.response.ref
        async with self._context.db.read() as conn:
            stored = await captures.at_moments(conn, [ref.url], [ref.timestamp])
        for each in stored:
            if (each.url, each.payload_digest) == (ref.url, ref.payload_digest):
                exchange.body.close()
                return CaptureRef.of(each)
        capture = capture_with(exchange, ref.record_id, ref.media_type)
        return await self._context.recorder.keep(exchange, capture)


def _not_archived(archive_urls: Sequence[str]) -> Failure:
    names = ", ".join(dict.fromkeys(map(host, archive_urls)))
    return Failure(FailureKind.NOT_ARCHIVED, f"No public archive has a copy (checked: {names}).")


def _no_page(tried: dict[str, Failure]) -> Failure:
    """Return the failure of a page for which no tried memento is a usable page."""
    names = ", ".join(dict.fromkeys(map(host, tried)))
    last = next(reversed(tried.values())).message
    return Failure(FailureKind.NOT_ARCHIVED, f"The copy at {names} is not a usable page. {last}")


def _not_rescued(temporary: Failure) -> Failure:
    message = f"The public archives could not be reached. {temporary.message}"
    return Failure(FailureKind.NOT_RESCUED, message, retry_after=temporary.retry_after)
