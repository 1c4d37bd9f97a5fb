"""Finds the payloads that revisits of others share, by digest; what can't be found is a gap.

An original is looked for among the payloads that have the digest which the revisit states, whatever
their URL. Where that digest was never met, what the revisit refers to and the captures of its URL
are read back and digested. Without any digest, only what it refers to by name is taken.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO

from archiver.crawl.context import CrawlContext
from archiver.errors import StoreError
from archiver.index import captures, import_lookups, originals
from archiver.index.database import AsyncConnection
from archiver.ingest.exchanges import SPOOLED_BYTES, ForeignCapture, Unusable
from archiver.ingest.revisits import ForeignRevisit, Payload, exchange_of
from archiver.model.capture import Capture, PayloadDigest, RecordId, Timestamp
from archiver.scratch import scratch_file
from archiver.store.segments import SegmentStore
from archiver.warc.digest import digest_by, digest_of, is_ours
from archiver.warc.http_block import open_payload, read_head
from archiver.wire.head import parse_head

OK = 200
NOT_MODIFIED = 304
MOST_CANDIDATES = 8
MOST_HISTORY = 1000
REMEMBERED = 4096
EMPTY = digest_of(())[0]
_EMPTY_STATED = frozenset(
    {
        str(EMPTY),
        "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "md5:d41d8cd98f00b204e9800998ecf8427e",
    }
)


class RevisitResolver:
    """Gives revisits their payloads, of those that are in the archive by now."""

    def __init__(self, context: CrawlContext) -> None:
        self._db = context.db
        self._store = context.store
        self._read_back: OrderedDict[tuple[PayloadDigest, str], frozenset[str]] = OrderedDict()

    async def resolve(self, revisits: Sequence[ForeignRevisit]) -> list[ForeignCapture | Unusable]:
        """The captures that revisits are; for one whose payload is not here, why it is none."""
        digests = await self._by_stated({each.digest for each in revisits if each.digest})
        found: list[ForeignCapture | Unusable] = []
        for each in revisits:
            digest = digests.get(each.digest) or await self._search(each)
            try:
                found.append(await self._capture(each, digest) if digest else _gap(each))
            except StoreError as error:
                found.append(Unusable(each.url, f"It is a revisit, and {error}"))
        return found

    async def _by_stated(self, stated: set[str]) -> dict[str, PayloadDigest]:
        """The payloads that are here, of those that have these digests."""
        async with self._db.read() as conn:
            known = await import_lookups.by_stated_digest(conn, sorted(stated))
            known |= {each: PayloadDigest(each) for each in stated if is_ours(each)}
            here = await originals.originals(conn, [*{*known.values()}])
        found = {each: ours for each, ours in known.items() if ours in here}
        return found | dict.fromkeys(stated & _EMPTY_STATED, EMPTY)

    async def _search(self, revisit: ForeignRevisit) -> PayloadDigest | None:
        """The payload of a revisit, among what it refers to and the captures of its URL."""
        async with self._db.read() as conn:
            named = await _named(conn, revisit)
            others = await _others(conn, revisit)
        if not revisit.digest:
            candidates = named or (others if revisit.is_not_modified else [])
            return next((each.payload_digest for each in candidates), None)
        for digest in dict.fromkeys(each.payload_digest for each in (*named, *others)):
            if await self._is_same(digest, revisit.digest):
                async with self._db.write() as conn:
                    await import_lookups.note_stated_digests(conn, {revisit.digest: digest})
                return digest
        return None

    async def _is_same(self, digest: PayloadDigest, stated: str) -> bool:
        """Whether the payload of one digest has the other too; it is read back for that."""
        key = digest, stated.partition(":")[0]
        if key not in self._read_back:
            async with self._db.read() as conn:
                original = await originals.original_of(conn, digest)
            self._read_back[key] = (
                await asyncio.to_thread(_digests, self._store, original, key[1])
                if original
                else frozenset()
            )
            while len(self._read_back) > REMEMBERED:
                self._read_back.popitem(last=False)
        return stated in self._read_back.get(key, frozenset())

    async def _capture(self, revisit: ForeignRevisit, digest: PayloadDigest) -> ForeignCapture:
        """The capture that a revisit is; it holds the payload itself where nobody could find it."""
        if digest == EMPTY:
            return _captured(revisit, Payload(EMPTY, 0))
        async with self._db.read() as conn:
            original = (await originals.originals(conn, [digest]))[digest]
            here = {}
            if original.is_chunked and original.url != revisit.url:
                here = await originals.originals_of_urls(conn, [(revisit.url, digest)])
        is_near = not original.is_chunked or original.url == revisit.url or bool(here)
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


def _gap(revisit: ForeignRevisit) -> Unusable:
    what = f"with the digest {revisit.digest}" if revisit.digest else "that it refers to"
    return Unusable(
        f"{revisit.url} at {revisit.timestamp}",
        f"It is a revisit, and the payload {what} is neither here nor in the file.",
    )


async def _named(conn: AsyncConnection, revisit: ForeignRevisit) -> list[Capture]:
    """The captures that a revisit refers to by record id, or by URL and moment."""
    urls = [each for each in (revisit.refers_to_url, revisit.url) if each]
    found: list[Capture] = []
    if revisit.refers_to_id:
        asked = [(url, RecordId(revisit.refers_to_id)) for url in urls]
        rows = await captures.of_records(conn, asked)
        found += [each for held in rows.values() for _, each in held]
    if revisit.refers_to_date:
        moment = Timestamp(revisit.refers_to_date)
        rows_then = await captures.at_moments(conn, urls[:1], [moment])
        found += [each for each in rows_then if each.url == urls[0]]
    return found


async def _others(conn: AsyncConnection, revisit: ForeignRevisit) -> list[Capture]:
    """Earlier captures of a revisit's URL, or of that it refers to, the nearest first."""
    found = await captures.of_url(conn, revisit.refers_to_url or revisit.url, limit=MOST_HISTORY)
    earlier = [
        each
        for each in found
        if each.timestamp <= revisit.timestamp and each.status == OK and each.payload_length
    ]
    return earlier[: -MOST_CANDIDATES - 1 : -1]


def _digests(store: SegmentStore, original: Capture, algorithm: str) -> frozenset[str]:
    """The digests of a payload, with its chunk framing too if it has any; none if unreadable."""
    try:
        head, payload = open_payload(store.read(original.location))
        found = {digest_by(algorithm, payload)}
        if head.is_chunked:
            record = store.read(original.location)
            read_head(record)
            found.add(digest_by(algorithm, record.block.pieces()))
    except StoreError:
        return frozenset()
    return frozenset(found)


def _read_payload(store: SegmentStore, original: Capture, with_body: bool) -> Payload:
    """What an original's record says; blocking."""
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
