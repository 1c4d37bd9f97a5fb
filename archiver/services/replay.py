"""Replay of captures.

Reading, decoding and rewriting run in threads, one chunk at a time. Sending starts before the whole
record is read, and a large response is never completely in memory.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from archiver.config import Settings
from archiver.db import captures, screenshots
from archiver.db.engine import Database
from archiver.errors import InvalidRecord, NotInArchive, StoreError, TooLarge
from archiver.http.content_coding import decode
from archiver.http.encoding_detection import MAX_START_BYTES, SAMPLE_BYTES, decode_document
from archiver.http.headers import ResponseHead
from archiver.http.media_types import MediaType, declared_media_type, is_html
from archiver.http.timestamps import middle_of, to_datetime
from archiver.model.capture import Capture, Location, Timestamp
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.content import PIECE_BYTES, byte_range, merge_pieces, rewrite_document
from archiver.replay.response import (
    ReplayRequest,
    Rewriting,
    build_presentation,
    has_start,
    head_of_revisit,
)
from archiver.warc.reader import StoredRecord, open_payload
from archiver.warc.segments import SegmentStore

_LATEST = Timestamp("99991231235959")
_MAX_CAPTURES = 10_000
_MAX_HOPS = 20
_OK = 200
_SVG = "image/svg+xml"
_MAX_SVG_BYTES = 2 << 20
_SVG_SECONDS = 10
"""Timeout of the index query for an SVG file whose elements are copied into a page."""
MAX_COPIES = 10
"""Maximum number of records with the same payload that are tried if a record is damaged."""
_PAGES = frozenset({Modifier.NONE, Modifier.FRAME})
RENDERED_HEAD = ResponseHead("HTTP/1.1", 200, "OK", (("content-type", "text/html; charset=utf-8"),))
"""Response head for a page that was rendered in a browser."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replayed response.

    Attributes:
        status: HTTP status to send.
        headers: headers to send.
        length: length of the body in bytes; None if unknown.
        is_made: whether the body was decoded or rewritten, so it differs from the stored bytes.
        body: the chunks of the body. The caller closes it (``contextlib.aclosing``). Reading the
            first chunk can raise the same errors as ``open``.
    """

    status: int
    headers: list[tuple[str, str]]
    length: int | None
    is_made: bool
    body: AsyncGenerator[bytes, None]


class Replay:
    """Replay of captures.

    Args:
        db: the index.
        store: the segments.
        settings: ``max_decoded_bytes`` limits the decompressed size of a response.
    """

    def __init__(self, db: Database, store: SegmentStore, settings: Settings) -> None:
        self._db = db
        self._store = store
        self._most_bytes = settings.max_decoded_bytes

    async def resolve(self, address: ReplayAddress) -> Capture:
        """Return the capture closest to the requested timestamp; without a timestamp, the latest.

        If that capture is a redirect and the archived redirects form a loop, return the closest
        capture that is not a redirect. If there is none, return the redirect without
        ``redirect_to``.

        Raises:
            NotInArchive: the URL was never captured.
            InputError: the timestamp is invalid.
        """
        prefix = address.timestamp_prefix
        timestamp = middle_of(prefix) if prefix else _LATEST
        async with self._db.read() as conn:
            capture = await captures.nearest(conn, address.url, timestamp)
        if capture is None:
            raise NotInArchive(address.url)
        if capture.redirect_to and await self._leads_back(capture):
            return await self._other_than_redirect(capture)
        return capture

    async def captures_of(self, url: str) -> list[Capture]:
        """Return the captures of a URL, newest last; at most the newest 10,000."""
        async with self._db.read() as conn:
            return await captures.of_url(conn, url, limit=_MAX_CAPTURES)

    async def open(self, capture: Capture, request: ReplayRequest) -> Replayed:
        """Open a capture for replay.

        Args:
            capture: a capture that ``resolve`` returned.
            request: context of the request. With ``IDENTITY`` the payload is returned as stored,
                including content codings. Otherwise it is decoded, and rewritten if its media type
                can contain URLs.

        Raises:
            StoreError: a record is missing or damaged.
            TooLarge: the response decompresses to more than ``max_decoded_bytes``.
        """
        loop = asyncio.get_running_loop()
        request = replace(
            request, read_svg=lambda url: self._read_svg(url, capture.timestamp, loop)
        )
        rendered = await self._rendered_page(capture, request)
        if rendered:
            return await asyncio.to_thread(self._open_rendered, capture, rendered, request)
        source = await self._source(capture)
        try:
            return await asyncio.to_thread(self._open, capture, source, request)
        except InvalidRecord as error:
            return await self._open_copy(capture, source, request, error)

    async def _open_copy(
        self, capture: Capture, source: Capture, request: ReplayRequest, error: InvalidRecord
    ) -> Replayed:
        """Open another record that has the payload of the damaged record.

        Raises:
            InvalidRecord: ``error``, if no other record can be read.
        """
        async with self._db.read() as conn:
            copies = await captures.all_originals(conn, source.payload_digest, limit=MAX_COPIES)
        for each in copies:
            if each.record_id != source.record_id:
                with suppress(InvalidRecord):
                    return await asyncio.to_thread(self._open, capture, each, request)
        raise error

    async def _rendered_page(self, capture: Capture, request: ReplayRequest) -> Location | None:
        """Return the location of the rendered page; None if the original response is shown."""
        is_page = request.modifier in _PAGES and 200 <= capture.status < 300
        if not (is_page and is_html(capture.media_type)):
            return None
        async with self._db.read() as conn:
            return await screenshots.page_of(conn, capture)

    async def _leads_back(self, capture: Capture) -> bool:
        """Return whether the archived redirects from this capture form a loop, or are too many."""
        seen = {capture.url}
        hop: Capture | None = capture
        async with self._db.read() as conn:
            while hop is not None and hop.redirect_to:
                if hop.redirect_to in seen or len(seen) > _MAX_HOPS:
                    return True
                hop = await captures.nearest(conn, hop.redirect_to, capture.timestamp)
                if hop is not None:
                    seen.add(hop.url)
        return False

    async def _other_than_redirect(self, capture: Capture) -> Capture:
        moment = to_datetime(capture.timestamp)
        return min(
            (each for each in await self.captures_of(capture.url) if not each.redirect_to),
            key=lambda each: abs(to_datetime(each.timestamp) - moment),
            default=replace(capture, redirect_to=None),
        )

    async def _source(self, capture: Capture) -> Capture:
        """Return the capture whose record has the payload; for a revisit, an earlier capture."""
        if not capture.is_revisit:
            return capture
        async with self._db.read() as conn:
            source = await captures.original_or_deleted(conn, capture.payload_digest)
        if source is None:
            raise StoreError(
                f"The payload of {capture.url} at {capture.timestamp} is not in any record. Run "
                "`archiver verify`."
            )
        return source

    def _open(self, capture: Capture, source: Capture, request: ReplayRequest) -> Replayed:
        """Read the heads and the first chunk of the body; blocking."""
        head, payload = open_payload(self._record(source))
        if capture.is_revisit:
            head = head_of_revisit(self._own_head(capture), head)
        return self._present((capture, source), head, payload, request)

    def _open_rendered(self, capture: Capture, place: Location, request: ReplayRequest) -> Replayed:
        """Open the rendered page instead of the original response; blocking."""
        pieces = self._store.read(place).block.pieces()
        return self._present((capture, capture), RENDERED_HEAD, pieces, request)

    def _present(
        self,
        resolved: tuple[Capture, Capture],
        head: ResponseHead,
        payload: Iterator[bytes],
        request: ReplayRequest,
    ) -> Replayed:
        """Build the response for a capture.

        ``resolved`` contains the capture to replay, and the capture whose record has the payload.
        They are the same capture unless the first is a revisit or its record is damaged.
        """
        capture, source = resolved
        coding = head.combined("content-encoding")
        if coding and request.modifier is not Modifier.IDENTITY:
            payload = decode(payload, coding, limit=self._most_bytes)
        pieces = merge_pieces(payload, first=SAMPLE_BYTES)
        start, pieces = _peek(pieces, lambda start: has_start(head, start, request))
        if coding and request.modifier is Modifier.IDENTITY:
            start = next(decode([start], coding, limit=self._most_bytes), b"")
        of_payload = replace(
            capture, payload_digest=source.payload_digest, payload_length=source.payload_length
        )
        presentation = build_presentation(of_payload, head, start, request)
        if presentation.rewriting is not Rewriting.NONE:
            links = request.links(capture, presentation.charset.encoding)
            pieces = rewrite_document(pieces, presentation, links)
        if presentation.part is not None:
            pieces = byte_range(pieces, *presentation.part)
        first, remaining = _begin(pieces)
        length = len(first) if remaining is None else presentation.length
        is_made = presentation.length is None
        return Replayed(
            presentation.status, [*presentation.headers], length, is_made, _flow(first, remaining)
        )

    def _read_svg(self, url: str, timestamp: Timestamp, loop: asyncio.AbstractEventLoop) -> str:
        """Return the text of an SVG file, from the capture nearest to ``timestamp``; blocking.

        The text is empty if there is no such capture, or it can't be read.
        """
        finding = asyncio.run_coroutine_threadsafe(self._find_svg(url, timestamp), loop)
        with suppress(StoreError, TooLarge, TimeoutError):
            source = finding.result(_SVG_SECONDS)
            if source is not None:
                head, payload = open_payload(self._record(source))
                coding = head.combined("content-encoding")
                content = b"".join(decode(payload, coding, limit=_MAX_SVG_BYTES))
                media_type = declared_media_type(head.headers) or MediaType(_SVG)
                return decode_document(content, _SVG, media_type.get("charset"), url).text
        return ""

    async def _find_svg(self, url: str, timestamp: Timestamp) -> Capture | None:
        """Follow redirects to an SVG file; return the capture whose record has it, or None."""
        async with self._db.read() as conn:
            for _ in range(_MAX_HOPS):
                capture = await captures.nearest(conn, url, timestamp)
                if capture is None or not capture.redirect_to:
                    break
                url = capture.redirect_to
        is_svg = capture is not None and capture.media_type == _SVG and capture.status == _OK
        return await self._source(capture) if capture is not None and is_svg else None

    def _own_head(self, revisit: Capture) -> ResponseHead | None:
        """Return the head in a revisit's block; None if the block is empty."""
        record = self._record(revisit)
        return open_payload(record)[0] if record.block_length else None

    def _record(self, capture: Capture) -> StoredRecord:
        record = self._store.read(capture.location)
        if record.id != capture.record_id:
            place = f"{capture.location.segment} at byte {capture.location.offset:,}"
            raise StoreError(
                f"The record of {capture.url} is not in {place}. Run `archiver reindex`."
            )
        return record


def _peek(
    pieces: Iterator[bytes], is_enough: Callable[[bytes], bool] = bool
) -> tuple[bytes, Iterator[bytes]]:
    """Read chunks until ``is_enough`` accepts the bytes read, or a maximum size is reached.

    Return these bytes, and an iterator over all chunks that starts with them.
    """
    start = next(pieces, b"")
    while not is_enough(start) and len(start) < MAX_START_BYTES and (more := next(pieces, b"")):
        start += more
    return start, chain((start,), pieces)


def _begin(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes] | None]:
    """Return the first ``PIECE_BYTES`` or more, and the remaining chunks; None if none remain."""
    head: list[bytes] = []
    length = 0
    for piece in pieces:
        head.append(piece)
        length += len(piece)
        if length >= PIECE_BYTES:
            return b"".join(head), pieces
    return b"".join(head), None


async def _flow(first: bytes, remaining: Iterator[bytes] | None) -> AsyncGenerator[bytes, None]:
    """Yield ``first``, then the remaining chunks; each of them is read in a thread on demand."""
    if first:
        yield first
    while (
        remaining is not None
        and (piece := await asyncio.to_thread(next, remaining, None)) is not None
    ):
        if piece:
            yield piece
