"""Fetching of URLs, and reading of stored captures as responses."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from archiver.config import MAX_RETRY_AFTER
from archiver.crawl.context import CrawlContext
from archiver.crawl.record_building import capture_with, payload_of
from archiver.crawl.retry_policy import retry_after_seconds
from archiver.crawl.visit_result import FetchedResponse
from archiver.db import captures
from archiver.errors import FetchError, StoreError, TooLarge
from archiver.http.content_coding import decode
from archiver.http.headers import combined
from archiver.http.media_types import (
    SNIFFED_BYTES,
    MediaType,
    declared_media_type,
    essence_of,
    is_css,
    is_html,
    is_pdf,
    is_xml,
    sniff,
)
from archiver.http.network_errors import pause_too_long
from archiver.http.requests import OutgoingRequest
from archiver.http.timestamps import to_datetime, to_timestamp
from archiver.http.urls import host, redirect_target
from archiver.model.capture import Capture, CaptureRef, Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.pages.page_problems import wall_in_headers
from archiver.pages.references import MAX_LINK_HEADER
from archiver.warc.reader import open_payload
from archiver.warc.records import new_record_id

SHORT_BYTES = 64 << 10
"""Maximum size in bytes of an uncompressed body that is read without starting a thread."""
PARSED_BYTES = 16 << 20
"""Maximum number of bytes that are parsed of a page or style sheet. All its bytes are stored."""
PDF_BYTES = 48 << 20
MAX_RATIO = 50
"""Maximum plausible compression ratio. Typical ratios are 5 for pages and 30 for tables."""
BOMB_BYTES = 1 << 20
"""Number of bytes that are parsed of a response above ``MAX_RATIO``. All its bytes are stored."""
MAX_PAUSE = 2.0
"""Maximum pause in seconds before a page. If the host asks for more, the job is requeued."""
MAX_PAUSE_WITHIN_A_PAGE = 10.0
"""Maximum pause in seconds before a requisite. If the host asks for more, it is not fetched."""
SHOWN_AS_TEXT = ("text/", "application/json", "application/ld+json", "application/feed+json")


async def fetch(
    context: CrawlContext, request: OutgoingRequest, *, is_page: bool = False
) -> FetchedResponse:
    """Send a request politely and record the exchange.

    Args:
        context: the crawl.
        request: the request.
        is_page: whether the request is for a page. Then the delay between requests applies, and
            ``MAX_PAUSE`` is the maximum pause.

    Raises:
        FetchError: there was no response.
    """
    max_pause = MAX_PAUSE if is_page else MAX_PAUSE_WITHIN_A_PAGE
    exchange = await send_politely(context, request, is_delayed=is_page, max_pause=max_pause)
    response = await read(context, exchange, request)
    ref = response.ref
    capture = capture_with(exchange, ref.record_id, ref.media_type)
    await context.recorder.keep(exchange, capture)
    return response


async def send_politely(
    context: CrawlContext, request: OutgoingRequest, *, is_delayed: bool, max_pause: float
) -> Exchange:
    """Send a request politely, and store the pause that the response asks for.

    Args:
        context: the crawl.
        request: the request.
        is_delayed: whether the delay between requests applies.
        max_pause: seconds; the request fails if the host's pause is longer. If a longer pause
            begins while the request waits for its slot, a request with ``is_delayed`` waits until
            it ends, because otherwise the page would lose an attempt.

    Raises:
        FetchError: there was no response.
    """
    name = host(request.url)
    if max_pause > MAX_PAUSE and context.dead.is_dead(name):
        message = f"{name} did not respond several times in a row, so this was skipped."
        raise FetchError(Failure(FailureKind.TIMEOUT, message))
    pause = context.throttle.pause_left(name)
    if pause > max_pause:
        raise pause_too_long(name, pause)
    patience = math.inf if is_delayed else max_pause
    async with context.throttle.slot(name, is_delayed=is_delayed, max_pause=patience) as slot:
        try:
            exchange = await context.fetcher.fetch(request, slot)
        except FetchError as error:
            if error.failure.kind is FailureKind.TIMEOUT:
                context.dead.timed_out(name)
            else:
                context.dead.responded(name)
            raise
        context.dead.responded(name)
    if requested := requested_pause(exchange):
        context.throttle.pause(name, min(requested, MAX_RETRY_AFTER))
    return exchange


async def read(
    context: CrawlContext, exchange: Exchange, request: OutgoingRequest | None = None
) -> FetchedResponse:
    """Return the response of an exchange that is not recorded yet; close its body on failure.

    Args:
        context: the crawl.
        exchange: the exchange.
        request: its request, if responses to requests that it leads to may need its cookies.
    """
    declared = declared_media_type(exchange.headers)
    encoding = combined(exchange.headers, "content-encoding")
    is_short = exchange.payload_length <= SHORT_BYTES and not (exchange.chunked or encoding)
    try:
        if is_short:
            kind, content, is_cut = _read_exchange(exchange, declared, encoding, context)
        else:
            kind, content, is_cut = await asyncio.to_thread(
                _read_exchange, exchange, declared, encoding, context
            )
    except BaseException:
        exchange.body.close()
        raise
    is_empty = _is_readable(kind) and not content
    return FetchedResponse(
        ref=CaptureRef(
            record_id=new_record_id(),
            url=exchange.url,
            timestamp=to_timestamp(exchange.at),
            status=exchange.status,
            media_type=essence_of(declared) if is_empty else kind,
            payload_digest=exchange.payload_digest,
        ),
        at=exchange.at,
        redirect_to=redirect_target(exchange.url, exchange.status, exchange.headers),
        media_type=kind,
        charset=_charset(declared),
        content=content,
        retry_after=requested_pause(exchange),
        is_truncated=exchange.truncated is not None,
        is_cut=is_cut,
        wall=wall_in_headers(exchange.headers),
        link_header=_link_header(exchange.headers),
        headers=exchange.headers,
        initiators=request.initiators if request else frozenset(),
        jar=request.jar if request else None,
    )


def requested_pause(exchange: Exchange) -> float | None:
    """Return the pause in seconds that a response asks for (``Retry-After``); None if none."""
    return retry_after_seconds(exchange.status, exchange.header("retry-after"), datetime.now(UTC))


async def recent_captures(
    context: CrawlContext, urls: Sequence[str], since: datetime
) -> dict[str, Capture]:
    """Return the newest capture of each URL since a time."""
    if not urls:
        return {}
    async with context.db.read() as conn:
        return await captures.recent_of(conn, urls, to_timestamp(since))


async def read_stored(context: CrawlContext, capture: Capture) -> FetchedResponse | None:
    """Read a stored capture as a response; return None if its record can't be read."""
    holder = capture
    if capture.is_revisit:
        async with context.db.read() as conn:
            holder = await captures.original_or_deleted(conn, capture.payload_digest) or capture
    try:
        return await asyncio.to_thread(_read_stored, context, capture, holder)
    except StoreError:
        return None


def _read_exchange(
    exchange: Exchange, declared: MediaType | None, encoding: str | None, context: CrawlContext
) -> tuple[str, bytes, bool]:
    """Call ``_content`` with the body of an exchange; rewind the body."""
    pieces = payload_of(exchange)
    content = _content(pieces, declared, encoding, context, length=exchange.payload_length)
    exchange.body.seek(0)
    return content


def _read_stored(context: CrawlContext, capture: Capture, holder: Capture) -> FetchedResponse:
    """Read the payload of a capture from the record that contains it."""
    head, pieces = open_payload(context.store.read(holder.location))
    if holder is not capture:
        from archiver.replay.response import head_of_revisit

        response = context.store.read(capture.location)
        head = head_of_revisit(open_payload(response)[0] if response.block_length else None, head)
    declared = declared_media_type(head.headers)
    kind, content, is_cut = _content(
        pieces,
        declared,
        head.combined("content-encoding"),
        context,
        length=capture.payload_length,
    )
    return FetchedResponse(
        ref=CaptureRef.of(capture),
        at=to_datetime(capture.timestamp),
        redirect_to=capture.redirect_to,
        media_type=kind,
        charset=_charset(declared),
        content=content,
        is_cut=is_cut,
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
    """Return the media type, the content to parse, and whether the body is too large to replay."""
    decoded = iter(pieces)
    if encoding:
        decoded = decode(pieces, encoding, limit=context.settings.max_decoded_bytes)
    plausible = max(MAX_RATIO * length, BOMB_BYTES)
    content = bytearray()
    kind, is_cut = "", False
    try:
        for piece in decoded:
            content += piece
            if not kind and len(content) >= SNIFFED_BYTES:
                kind = sniff(declared, bytes(content[:SNIFFED_BYTES]))
            if kind and not _is_readable(kind):
                break
            if len(content) > plausible:
                content = content[:BOMB_BYTES]
                break
            if len(content) >= (PDF_BYTES if is_pdf(kind) else PARSED_BYTES):
                break
        if encoding:
            for _ in decoded:
                pass  # Decode the rest, to find out whether it exceeds the limit of replay.
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
