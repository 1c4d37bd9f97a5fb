"""Fetching a URL, or finding it among the captures."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from archiver.crawl.context import CrawlContext
from archiver.crawl.record_building import make_capture
from archiver.crawl.retry_policy import retry_after_seconds
from archiver.crawl.visit_result import FetchedResponse
from archiver.db import captures
from archiver.errors import FetchError, StoreError, TooLarge
from archiver.http.content_coding import decode
from archiver.http.encoding_detection import is_xml
from archiver.http.fetcher import RequestSlot
from archiver.http.headers import combined
from archiver.http.media_types import (
    SNIFFED_BYTES,
    MediaType,
    declared_media_type,
    is_css,
    is_html,
    is_pdf,
    sniff,
)
from archiver.http.network_errors import pause_too_long
from archiver.http.requests import Outgoing
from archiver.http.response_parser import dechunk
from archiver.http.timestamps import to_datetime, to_timestamp
from archiver.http.urls import host
from archiver.model.capture import Capture, CaptureRef, Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.pages.page_problems import wall_in_headers
from archiver.pages.reference_values import MAX_LINK_HEADER
from archiver.warc.reader import open_payload
from archiver.warc.records import new_record_id

PIECE = 64 << 10
SHORT_BYTES = 64 << 10
PARSED_BYTES = 16 << 20
PDF_BYTES = 48 << 20
"""Maximum size of a parsed page or style sheet. A larger one is stored whole and parsed in part."""
MAX_RATIO = 50
"""Maximum compression ratio. Pages compress to a fifth, tables to a thirtieth."""
BOMB_BYTES = 1 << 20
"""Parsed size of a response above the ratio; it is stored whole."""
LEAST_REST = 2.0
"""Maximum pause in seconds that a worker waits for; longer ones wait in the queue."""
LEAST_REST_WITHIN_A_PAGE = 10.0
"""Maximum pause for page requisites; longer ones are missing, so that other pages can continue."""
SHOWN_AS_TEXT = ("text/", "application/json", "application/ld+json", "application/feed+json")


async def fetch(
    context: CrawlContext, asked: Outgoing, *, unhurried: bool = False
) -> FetchedResponse:
    """Fetch a URL politely and record the exchange.

    Raises:
        FetchError: there was no response.
    """
    longest = LEAST_REST if unhurried else LEAST_REST_WITHIN_A_PAGE
    exchange = await ask(context, asked, spaced=unhurried, longest_rest=longest)
    return await keep(context, exchange, initiators=asked.initiators)


async def ask(
    context: CrawlContext, asked: Outgoing, *, spaced: bool, longest_rest: float
) -> Exchange:
    """Send a request politely, and note how long the host asks to pause.

    Args:
        context: the crawl.
        asked: the request.
        spaced: whether the delay between requests applies.
        longest_rest: maximum pause in seconds. If the host asks for a longer pause while this
            request waits, a page request still waits, since it would lose an attempt; a requisite
            fails.

    Raises:
        FetchError: there was no response.
    """
    at = host(asked.url)
    _refuse_to_wait(context, at, longest_rest)
    patience = math.inf if spaced else longest_rest
    async with context.throttle.slot(at, spaced=spaced, longest_rest=patience) as slot:
        exchange = await _asked(context, at, asked, slot)
    if rest := _rest_asked(exchange):
        context.throttle.pause(at, min(rest, context.settings.max_retry_after))
    return exchange


async def keep(
    context: CrawlContext, exchange: Exchange, *, initiators: frozenset[str] = frozenset()
) -> FetchedResponse:
    """Read an exchange and pass it to the recorder."""
    capture = await make_capture(exchange, new_record_id())
    found = await read(context, exchange, capture, initiators=initiators)
    await context.recorder.keep(exchange, capture)
    return found


async def read(
    context: CrawlContext,
    exchange: Exchange,
    capture: Capture | None = None,
    *,
    initiators: frozenset[str] = frozenset(),
) -> FetchedResponse:
    """Read an exchange that is not recorded yet; close its body if it can't be read.

    Args:
        context: the crawl.
        exchange: the exchange.
        capture: the capture that it will become, if known.
        initiators: hosts that led to it.
    """
    declared = declared_media_type(exchange.headers)
    capture = capture or await make_capture(exchange, new_record_id())
    try:
        if _is_short(exchange):
            kind, content, is_cut = _read_exchange(exchange, declared, context)
        else:
            kind, content, is_cut = await asyncio.to_thread(
                _read_exchange, exchange, declared, context
            )
    except BaseException:
        exchange.body.close()
        raise
    return FetchedResponse(
        ref=CaptureRef.of(capture),
        at=exchange.at,
        redirect_to=capture.redirect_to,
        media_type=kind,
        charset=_charset(declared),
        content=content,
        retry_after=_rest_asked(exchange),
        is_truncated=exchange.truncated is not None,
        is_cut=is_cut,
        wall=wall_in_headers(exchange.headers),
        link_header=_link_header(exchange.headers),
        headers=exchange.headers,
        initiators=initiators,
    )


def _rest_asked(exchange: Exchange) -> float | None:
    asked = exchange.header("retry-after")
    return retry_after_seconds(exchange.status, asked, datetime.now(UTC)) if asked else None


async def _asked(context: CrawlContext, at: str, asked: Outgoing, slot: RequestSlot) -> Exchange:
    try:
        exchange = await context.fetcher.fetch(asked, slot)
    except FetchError as error:
        if error.failure.kind is FailureKind.TIMEOUT:
            context.dead.timed_out(at)
        else:
            context.dead.answered(at)
        raise
    context.dead.answered(at)
    return exchange


def _refuse_to_wait(context: CrawlContext, at: str, longest: float) -> None:
    if longest > LEAST_REST and context.dead.is_dead(at):
        message = f"{at} did not respond several times in a row, so this was skipped."
        raise FetchError(Failure(FailureKind.TIMEOUT, message))
    rest = context.throttle.resting(at)
    if rest > longest:
        raise pause_too_long(at, rest)


async def recall(context: CrawlContext, url: str, since: datetime) -> FetchedResponse | None:
    """Read the newest capture of a URL since a time; None if there is none."""
    found = (await look_up(context, [url], since)).get(url)
    return await read_back(context, found) if found else None


async def look_up(
    context: CrawlContext, urls: Sequence[str], since: datetime
) -> dict[str, Capture]:
    """Return the newest capture of each URL since a time."""
    if not urls:
        return {}
    async with context.db.read() as conn:
        return await captures.recent_of(conn, urls, to_timestamp(since))


async def read_back(context: CrawlContext, found: Capture) -> FetchedResponse | None:
    """Read a capture as a response; None if its record can't be read."""
    holder = found
    if found.is_revisit:
        async with context.db.read() as conn:
            holder = await captures.holder_of(conn, found.payload_digest) or found
    try:
        return await asyncio.to_thread(_read_back, context, found, holder)
    except StoreError:
        return None


def _is_short(exchange: Exchange) -> bool:
    """Return whether a body is in memory and parses faster than a thread starts."""
    coded = exchange.chunked or combined(exchange.headers, "content-encoding")
    return exchange.payload_length <= SHORT_BYTES and not coded


def _read_exchange(
    exchange: Exchange, declared: MediaType | None, context: CrawlContext
) -> tuple[str, bytes, bool]:
    """Return the effective media type and the decoded content that can be parsed."""
    pieces = dechunk(_pieces(exchange.body)) if exchange.chunked else _pieces(exchange.body)
    encoding = combined(exchange.headers, "content-encoding")
    found = _content(pieces, declared, encoding, context, length=exchange.payload_length)
    exchange.body.seek(0)
    return found


def _read_back(context: CrawlContext, found: Capture, holder: Capture) -> FetchedResponse:
    head, pieces = open_payload(context.store.read(holder.location))
    declared = declared_media_type(head.headers)
    kind, content, _ = _content(
        pieces,
        declared,
        head.combined("content-encoding"),
        context,
        length=found.payload_length,
    )
    return FetchedResponse(
        ref=CaptureRef.of(found),
        at=to_datetime(found.timestamp),
        redirect_to=found.redirect_to,
        media_type=kind,
        charset=_charset(declared),
        content=content,
        wall=wall_in_headers(head.headers),
        link_header=_link_header(head.headers),
        headers=head.headers,
    )


def _content(
    pieces: Iterable[bytes],
    declared: MediaType | None,
    encoding: str | None,
    context: CrawlContext,
    *,
    length: int,
) -> tuple[str, bytes, bool]:
    """Return the media type, the content to parse, and whether replay cannot decode all of it."""
    decoded = decode(pieces, encoding, limit=context.settings.max_decoded_bytes)
    plausible = max(MAX_RATIO * length, BOMB_BYTES)
    content = bytearray()
    kind, is_cut = "", False
    try:
        for piece in decoded:
            content += piece
            if not kind and len(content) >= SNIFFED_BYTES:
                kind = sniff(declared, bytes(content[:SNIFFED_BYTES]))
                if not _is_readable(kind):
                    return kind, b"", False
            if len(content) > plausible:
                content = content[:BOMB_BYTES]
                break
            if len(content) >= (PDF_BYTES if is_pdf(kind) else PARSED_BYTES):
                break
        for _ in decoded:
            pass  # replay decodes all of it
    except TooLarge:
        is_cut = True
    kind = kind or sniff(declared, bytes(content[:SNIFFED_BYTES]))
    most = PDF_BYTES if is_pdf(kind) else PARSED_BYTES
    return kind, bytes(content[:most]) if _is_readable(kind) else b"", is_cut


def _charset(declared: MediaType | None) -> str:
    return declared.get("charset") if declared else ""


def _link_header(headers: Iterable[tuple[str, str]]) -> str:
    return ", ".join(value for name, value in headers if name == "link")[:MAX_LINK_HEADER]


def _is_readable(kind: str) -> bool:
    return (
        is_html(kind)
        or is_css(kind)
        or is_xml(kind)
        or is_pdf(kind)
        or kind.startswith(SHOWN_AS_TEXT)
    )


def _pieces(body: BinaryIO) -> Iterable[bytes]:
    body.seek(0)
    while piece := body.read(PIECE):
        yield piece
