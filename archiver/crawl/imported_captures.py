"""Captures imported from other programs' archives.

A revisit usually states the digest of its payload. If a payload with that digest is stored, it is
used. If the digest is unknown, for example because it is a SHA-1, the record that the revisit
refers to and earlier captures of its URL are read to compute their digests.

A revisit without a digest gets the first of these payloads that is stored:

- the payload of the record that it refers to;
- for a 304 response: the payload of the nearest earlier capture of its URL;
- for a revisit that refers only to a URL: the payload of the earlier captures of that URL, if all
  of them have the same payload.

The recorder writes imported captures like those of a crawl: captures with known payloads become
revisits, and a killed import leaves no partial records. A record keeps its id unless the id is
already used.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO
from uuid import UUID

from archiver.crawl.context import CrawlContext
from archiver.crawl.record_building import capture_with, make_capture
from archiver.db import captures as db_captures
from archiver.db.engine import AsyncConnection
from archiver.errors import StoreError
from archiver.formats.archive_records import (
    SPOOLED_BYTES,
    ForeignCapture,
    ForeignRevisit,
    Payload,
    Unusable,
    exchange_of,
)
from archiver.helpers import RecentItems, scratch_file
from archiver.http.headers import parse_head
from archiver.http.timestamps import to_timestamp
from archiver.model.capture import Capture, Exchange, PayloadDigest, RecordId, Timestamp
from archiver.warc.reader import open_payload, read_head
from archiver.warc.records import (
    ORIGINAL_ID,
    digest_of,
    digest_with,
    is_sha256_field,
    new_record_id,
    one_line,
)
from archiver.warc.segments import SegmentStore

OK = 200
NOT_MODIFIED = 304
MAX_CANDIDATES = 8
MAX_HISTORY = 1000
MAX_DIGESTS = 4096
"""Maximum number of payloads whose digests by other algorithms are cached."""
EMPTY = digest_of(())[0]
_EMPTY_STATED = frozenset(
    {
        str(EMPTY),
        "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "md5:d41d8cd98f00b204e9800998ecf8427e",
    }
)


class RevisitResolver:
    """Lookup of the payloads that imported revisits refer to."""

    def __init__(self, context: CrawlContext) -> None:
        self._db = context.db
        self._store = context.store
        self._digests = RecentItems[tuple[PayloadDigest, str], frozenset[str]](MAX_DIGESTS)

    async def resolve(
        self, revisits: Sequence[ForeignRevisit]
    ) -> list[ForeignCapture | ForeignRevisit | Unusable]:
        """Turn revisits into captures; return those without a stored payload unchanged."""
        digests = await self._by_stated_digest({each.digest for each in revisits if each.digest})
        revisits = await self._with_urls(revisits, digests.keys())
        async with self._db.read() as conn:
            urls = {url for each in revisits for url in (each.url, each.refers_to_url) if url}
            archived = await db_captures.archived_among(conn, urls)
        resolved: list[ForeignCapture | ForeignRevisit | Unusable] = []
        for each in revisits:
            digest = digests.get(each.digest)
            if not digest and not archived.isdisjoint((each.url, each.refers_to_url)):
                digest = await self._search(each)
            try:
                resolved.append(await self._capture(each, digest) if digest else each)
            except StoreError as error:
                resolved.append(Unusable(each.url, f"It is a revisit, and {error}"))
        return resolved

    async def _with_urls(
        self, revisits: Sequence[ForeignRevisit], known: Collection[str]
    ) -> list[ForeignRevisit]:
        """Fill in the URL of each original that is named only by its record id.

        Revisits with a known digest are left as they are.
        """
        ids = {
            RecordId(each.refers_to_id)
            for each in revisits
            if each.refers_to_id and not each.refers_to_url and each.digest not in known
        }
        if not ids:
            return [*revisits]
        is_more = True
        while is_more:
            async with self._db.write() as conn:
                is_more = await db_captures.register_record_ids(conn)
        async with self._db.read() as conn:
            urls = await db_captures.urls_of_records(conn, sorted(ids))
        return [
            replace(each, refers_to_url=each.refers_to_url or urls.get(each.refers_to_id, ""))
            for each in revisits
        ]

    async def _by_stated_digest(self, expected: set[str]) -> dict[str, PayloadDigest]:
        """Map stated digests to the stored payloads that have them; leave out unknown digests."""
        async with self._db.read() as conn:
            digests = await db_captures.by_stated_digest(conn, sorted(expected))
            digests |= {each: PayloadDigest(each) for each in expected if is_sha256_field(each)}
            local = await db_captures.originals(conn, [*{*digests.values()}])
        stored = {each: ours for each, ours in digests.items() if ours in local}
        return stored | dict.fromkeys(expected & _EMPTY_STATED, EMPTY)

    async def _search(self, revisit: ForeignRevisit) -> PayloadDigest | None:
        """Search the captures that may contain a revisit's payload; return its digest or None."""
        async with self._db.read() as conn:
            named = await _referred_to(conn, revisit)
            earlier = await _earlier_captures(conn, revisit)
        if not revisit.digest:
            is_clear = len({each.payload_digest for each in earlier}) == 1
            names_url = revisit.refers_to_url and not revisit.refers_to_date
            uses_others = revisit.is_not_modified or (names_url and is_clear)
            candidates = named or (earlier if uses_others else [])
            return next((each.payload_digest for each in candidates), None)
        for digest in dict.fromkeys(each.payload_digest for each in (*named, *earlier)):
            if await self._has_digest(digest, revisit.digest):
                async with self._db.write() as conn:
                    await db_captures.register_stated_digests(conn, {revisit.digest: digest})
                return digest
        return None

    async def _has_digest(self, digest: PayloadDigest, expected: str) -> bool:
        """Read a payload; return whether it also has the ``expected`` digest."""
        key = digest, expected.partition(":")[0]
        if key not in self._digests:
            async with self._db.read() as conn:
                original = await db_captures.original_of(conn, digest)
            self._digests[key] = (
                await asyncio.to_thread(_digests, self._store, original, key[1])
                if original
                else frozenset()
            )
        return expected in self._digests[key]

    async def _capture(self, revisit: ForeignRevisit, digest: PayloadDigest) -> ForeignCapture:
        """Build the capture of a revisit.

        If the original is chunked and all its captures have other URLs, the payload is copied into
        the capture. Other programs could not find the original, because a chunked record has no
        payload digest.
        """
        if digest == EMPTY:
            return _captured(revisit, Payload(EMPTY, 0))
        async with self._db.read() as conn:
            original = (await db_captures.originals(conn, [digest]))[digest]
            local = {}
            if original.is_chunked and original.url != revisit.url:
                local = await db_captures.originals_of_urls(conn, [(revisit.url, digest)])
        is_near = not original.is_chunked or original.url == revisit.url or bool(local)
        if is_near and revisit.head:
            return _captured(revisit, Payload(digest, original.payload_length))
        if not is_near and revisit.head and parse_head(revisit.head).status == NOT_MODIFIED:
            revisit = replace(revisit, head=b"", is_not_modified=False)
        payload = await asyncio.to_thread(_read_payload, self._store, original, not is_near)
        return _captured(revisit, payload)


def _captured(revisit: ForeignRevisit, payload: Payload) -> ForeignCapture:
    return ForeignCapture(
        exchange_of(revisit, payload), revisit.given_id, is_framed=revisit.is_framed
    )


def missing_payload(revisit: ForeignRevisit) -> Unusable:
    """Return the report of a revisit without a stored payload."""
    which = f"with the digest {revisit.digest}" if revisit.digest else "that it refers to"
    return Unusable(
        f"{revisit.url} at {revisit.timestamp}",
        f"It is a revisit, and the payload {which} is neither in the archive nor in the file. "
        "It waits until a file with that payload is imported.",
    )


async def _referred_to(conn: AsyncConnection, revisit: ForeignRevisit) -> list[Capture]:
    """Return the captures that a revisit refers to by record id, or by URL and timestamp."""
    urls = [each for each in (revisit.refers_to_url, revisit.url) if each]
    originals: list[Capture] = []
    if revisit.refers_to_id:
        pairs = [(url, RecordId(revisit.refers_to_id)) for url in urls]
        rows = await db_captures.of_records(conn, pairs)
        originals += [each for values in rows.values() for _, each in values]
    if revisit.refers_to_date:
        moment = Timestamp(revisit.refers_to_date)
        rows_then = await db_captures.at_moments(conn, urls[:1], [moment])
        originals += [each for each in rows_then if each.url == urls[0]]
    return originals


async def _earlier_captures(conn: AsyncConnection, revisit: ForeignRevisit) -> list[Capture]:
    """Return earlier captures of the URL that a revisit refers to, nearest first."""
    same_url = await db_captures.of_url(
        conn, revisit.refers_to_url or revisit.url, limit=MAX_HISTORY
    )
    earlier = [
        each
        for each in same_url
        if each.timestamp <= revisit.timestamp and each.status == OK and each.payload_length
    ]
    return earlier[: -MAX_CANDIDATES - 1 : -1]


def _digests(store: SegmentStore, original: Capture, algorithm: str) -> frozenset[str]:
    """Return the digests of a payload, with and without chunked coding; empty if unreadable."""
    try:
        head, payload = open_payload(store.read(original.location))
        digests = {digest_with(algorithm, payload)}
        if head.is_chunked:
            record = store.read(original.location)
            read_head(record)
            digests.add(digest_with(algorithm, record.block.pieces()))
    except StoreError:
        return frozenset()
    return frozenset(digests)


def _read_payload(store: SegmentStore, original: Capture, with_body: bool) -> Payload:
    """Read the head of an original's record and, with ``with_body``, its body. Blocking."""
    head = read_head(store.read(original.location))
    body: BinaryIO | None = None
    if with_body:
        _, pieces = open_payload(store.read(original.location))
        body = BytesIO()
        if original.payload_length > SPOOLED_BYTES:
            body = scratch_file()
        for piece in pieces:
            body.write(piece)
    return Payload(original.payload_digest, original.payload_length, head, body)


MAX_RECENT = 20_000
"""Size of the caches of captures and ids that the recorder may not have indexed yet."""
_Identity = tuple[str, str, PayloadDigest, int, str | None]
"""URL, timestamp, payload, status and redirect target; all are equal in duplicate captures."""


class CaptureImporter:
    """Import of captures. The recorder of ``context`` must be running."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._recent = RecentItems[_Identity, None](MAX_RECENT)
        self._recent_ids = RecentItems[RecordId, None](MAX_RECENT)

    async def captures(self, records: Sequence[ForeignCapture]) -> int:
        """Import captures and close their bodies; return how many are new."""
        stored = await self._stored(records)
        fresh = []
        for each in records:
            identity = _identity_of(each.exchange)
            if identity in stored or identity in self._recent:
                each.exchange.body.close()
                continue
            self._recent[identity] = None
            fresh.append(each)
        used_ids = await self._look_up(records, fresh)
        for each in fresh:
            exchange, record_id = self._identified(each, used_ids)
            capture = await make_capture(exchange, record_id)
            await self._context.recorder.keep(exchange, capture)
        return len(fresh)

    async def _stored(self, records: Sequence[ForeignCapture]) -> set[_Identity]:
        """Return the identities of stored captures that have the URLs and times of ``records``."""
        urls = [each.exchange.url for each in records]
        moments = [to_timestamp(each.exchange.at) for each in records]
        async with self._context.db.read() as conn:
            rows = await db_captures.at_moments(conn, urls, moments)
        return {_identity(each) for each in rows}

    async def _look_up(
        self, records: Sequence[ForeignCapture], fresh: Sequence[ForeignCapture]
    ) -> set[RecordId]:
        """Store the stated digests of payloads; return the record ids that are already used."""
        digests = {
            each.stated_digest: each.exchange.payload_digest
            for each in records
            if each.stated_digest
        }
        ids = [record_id for each in fresh if (record_id := _uuid(each.given_id))]
        async with self._context.db.write() as conn:
            await db_captures.register_stated_digests(conn, digests)
            is_more = await db_captures.register_record_ids(conn)
        while is_more:
            async with self._context.db.write() as conn:
                is_more = await db_captures.register_record_ids(conn)
        async with self._context.db.read() as conn:
            return await db_captures.used_record_ids(conn, ids)

    def _identified(
        self, capture: ForeignCapture, used_ids: set[RecordId]
    ) -> tuple[Exchange, RecordId]:
        """Return the exchange and record id of a capture; the id is new if its own is in use."""
        exchange, record_id = capture.exchange, _uuid(capture.given_id)
        if record_id is None or record_id in used_ids or record_id in self._recent_ids:
            record_id = new_record_id()
            if capture.given_id:
                field = ORIGINAL_ID, f"<{one_line(capture.given_id)}>"
                exchange = replace(exchange, fields=(field, *exchange.fields))
        self._recent_ids[record_id] = None
        return exchange, record_id


def _identity_of(exchange: Exchange) -> _Identity:
    return _identity(capture_with(exchange, RecordId(""), ""))


def _identity(capture: Capture) -> _Identity:
    """Return the identifying fields of a capture."""
    return (
        capture.url,
        capture.timestamp,
        capture.payload_digest,
        capture.status,
        capture.redirect_to,
    )


def _uuid(text: str) -> RecordId | None:
    try:
        return RecordId(f"urn:uuid:{UUID(text.removeprefix('urn:uuid:'))}")
    except ValueError:
        return None
