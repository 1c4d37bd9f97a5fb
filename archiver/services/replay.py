"""Replay: finds the capture that an address means, and gives it back as it can be shown.

Disk, decoding and rewriting are done in threads, a piece at a time: the first bytes of a page are
on their way before its last are read, and no page is held whole.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, replace

from archiver.config import Settings
from archiver.errors import NotInArchive, StoreError
from archiver.index import captures
from archiver.index.database import Database
from archiver.memento.links import original, timegate, timemap, write_links
from archiver.memento.timestamps import http_date, pad, to_datetime
from archiver.model.capture import Capture, Timestamp
from archiver.rewrite.address import PREFIX, Modifier, ReplayAddress
from archiver.rewrite.disposition import content_disposition
from archiver.rewrite.headers import rewrite_headers
from archiver.rewrite.url_rewriter import UrlRewriter
from archiver.services.replay_content import PIECE, Content, as_stored, rewritten
from archiver.store.segments import SegmentStore
from archiver.warc.http_block import open_payload
from archiver.warc.reader import StoredRecord
from archiver.wire.coding import decode
from archiver.wire.head import ResponseHead

TIMEGATE = "/timegate/"
TIMEMAP = "/timemap/link/"

_LATEST = Timestamp("99991231235959")
_MOST_CAPTURES = 10_000
_MOST_HOPS = 20


@dataclass(frozen=True, slots=True)
class Replayed:
    """An answer.

    Attributes:
        status: of the archived response.
        headers: to send; ``Content-Length`` is not known.
        body: to be closed by the receiver (``contextlib.aclosing``). Its first piece, like ``open``
            itself, raises ``StoreError`` or ``TooLarge`` where nothing can be shown.
    """

    status: int
    headers: list[tuple[str, str]]
    body: AsyncGenerator[bytes, None]


class Replay:
    """Gives captures back.

    Args:
        db: the index.
        store: the segments.
        settings: ``max_decoded_bytes`` bounds what one answer may decompress to.
    """

    def __init__(self, db: Database, store: SegmentStore, settings: Settings) -> None:
        self._db = db
        self._store = store
        self._most_bytes = settings.max_decoded_bytes

    async def resolve(self, address: ReplayAddress) -> Capture:
        """The capture an address means: the one nearest to its moment, the latest without one.

        A redirect that in this archive would only lead back to itself is passed over for the
        nearest answer that is none; if there is none, it is given without ``redirect_to``.

        Raises:
            NotInArchive: the URL was never captured.
            InputError: the timestamp is none.
        """
        prefix = address.timestamp_prefix
        wanted = pad(prefix) if prefix else _LATEST
        async with self._db.read() as conn:
            found = await captures.nearest(conn, address.url, wanted)
        if found is None:
            raise NotInArchive(address.url)
        if found.redirect_to and await self._leads_back(found):
            return await self._other_than_redirect(found)
        return found

    async def captures_of(self, url: str) -> list[Capture]:
        """Every capture of a URL, newest last; the newest 10,000 where there are more."""
        async with self._db.read() as conn:
            return await captures.of_url(conn, url, limit=_MOST_CAPTURES)

    async def open(
        self,
        capture: Capture,
        modifier: Modifier = Modifier.NONE,
        *,
        prefix: str = PREFIX,
        frame_prefix: str | None = None,
    ) -> Replayed:
        """Open a capture for replay.

        Args:
            capture: from ``resolve``.
            modifier: ``IDENTITY`` gives the payload as it was stored, content codings left on;
                with any other it is decoded, and rewritten if it can point anywhere.
            prefix: path under which rewritten links lie, such as ``/web/~capability``.
            frame_prefix: the same for frames, where that is another.

        Raises:
            StoreError: a record is missing, or is not what it must be.
            TooLarge: it decompresses to more than ``max_decoded_bytes``.
        """
        source = await self._source(capture)
        page = modifier if modifier is Modifier.FRAME else Modifier.NONE
        links = UrlRewriter(
            capture.url, capture.timestamp, page=page, prefix=prefix, frame_prefix=frame_prefix
        )
        return await asyncio.to_thread(self._open, capture, source, modifier, links, prefix)

    async def _leads_back(self, capture: Capture) -> bool:
        """Whether following a redirect from capture to capture comes back to where it was."""
        seen = {capture.url}
        hop: Capture | None = capture
        async with self._db.read() as conn:
            while hop is not None and hop.redirect_to:
                if hop.redirect_to in seen or len(seen) > _MOST_HOPS:
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
        """The capture whose record has the payload."""
        if not capture.is_revisit:
            return capture
        async with self._db.read() as conn:
            source = await captures.original_of(conn, capture.payload_digest)
        if source is None:
            raise StoreError(
                f"The payload of {capture.url} at {capture.timestamp} is missing: no record "
                "holds it. Run `archiver verify`."
            )
        return source

    def _open(
        self, capture: Capture, source: Capture, modifier: Modifier, links: UrlRewriter, prefix: str
    ) -> Replayed:
        """Blocking: read the heads, and the first piece of the body."""
        head, payload = open_payload(self._record(source))
        said = head if source is capture else open_payload(self._record(capture))[0]
        content = self._content(head, payload, modifier, links)
        headers = [
            ("Content-Type", content.content_type or "application/octet-stream"),
            *_memento(capture),
            *_archived(capture, said, modifier, prefix),
        ]
        saved_as = content_disposition(
            said.header("content-disposition"), capture.url, capture.media_type
        )
        if saved_as:
            headers.append(("Content-Disposition", saved_as))
        coding = head.header("content-encoding")
        if modifier is Modifier.IDENTITY and coding:
            headers.append(("Content-Encoding", coding))
        return Replayed(said.status, headers, _flow(*_begin(content.pieces)))

    def _record(self, capture: Capture) -> StoredRecord:
        record = self._store.read(capture.location)
        if record.id != capture.record_id:
            place = f"{capture.location.segment} at byte {capture.location.offset:,}"
            raise StoreError(
                f"The record of {capture.url} is not in {place}. Run `archiver reindex`."
            )
        return record

    def _content(
        self, head: ResponseHead, payload: Iterator[bytes], modifier: Modifier, links: UrlRewriter
    ) -> Content:
        content_type = head.header("content-type")
        if modifier is Modifier.IDENTITY:
            return as_stored(payload, content_type)
        coding = head.header("content-encoding")
        decoded = decode(payload, coding, limit=self._most_bytes)
        return rewritten(decoded, content_type, links, for_style=modifier is Modifier.STYLE)


def _memento(capture: Capture) -> list[tuple[str, str]]:
    """What RFC 7089 §4.2 asks of a memento."""
    links = (
        original(capture.url),
        timegate(TIMEGATE + capture.url),
        timemap(TIMEMAP + capture.url),
    )
    return [
        ("Memento-Datetime", http_date(to_datetime(capture.timestamp))),
        ("Link", write_links(links)),
    ]


def _archived(
    capture: Capture, head: ResponseHead, modifier: Modifier, prefix: str
) -> list[tuple[str, str]]:
    """The response's own fields; what a redirect leads to is asked for as the redirect was."""
    links = UrlRewriter(capture.url, capture.timestamp, page=modifier, prefix=prefix)
    fields = rewrite_headers(head.headers, links)
    if modifier is Modifier.IDENTITY:
        fields = [field for field in fields if field[0] not in {"Link", "Refresh"}]
    if capture.redirect_to is None:
        fields = [field for field in fields if field[0] != "Location"]
    return fields


def _begin(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes] | None]:
    """The first piece, and the rest if there is any: a small page needs no second thread."""
    begun: list[bytes] = []
    length = 0
    for piece in pieces:
        begun.append(piece)
        length += len(piece)
        if length >= PIECE:
            return b"".join(begun), pieces
    return b"".join(begun), None


async def _flow(first: bytes, rest: Iterator[bytes] | None) -> AsyncGenerator[bytes, None]:
    """The pieces, each made in a thread when it is asked for."""
    if first:
        yield first
    while rest is not None and (piece := await asyncio.to_thread(next, rest, None)) is not None:
        if piece:
            yield piece
