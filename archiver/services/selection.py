"""What an export holds: which records, in the order they lie on disk, each once."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import asdict, dataclass, field, replace

from archiver.errors import StoreError
from archiver.index import captures, entries, segments, snapshots
from archiver.index.database import AsyncConnection, Database
from archiver.index.snapshots import Held
from archiver.model.capture import Capture, HashUrl, Location, PayloadDigest, RecordId, Timestamp
from archiver.model.entry import Snapshot
from archiver.services.search import MOST_PER_PAGE, ListingQuery, Search
from archiver.store.segments import SegmentStore
from archiver.store.sorting import SortedLines
from archiver.warc.entry_record import read_entry_record
from archiver.warc.record import RecordType

PAGE = 1000
MOST_SNAPSHOTS = 1000
MOST_HOPS = 20


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be exported.

    Attributes:
        query: as for a list; an empty one means everything, the notes of failures included.
        hash_url: one entry, whatever the query says.
    """

    query: ListingQuery = field(default_factory=ListingQuery)
    hash_url: HashUrl | None = None

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self.hash_url is None and self.query == ListingQuery()


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a segment that is copied as it is, and the captures in it."""

    location: Location
    captures: tuple[Capture, ...]


class Selection:
    """Finds the snapshots and the records of an export."""

    def __init__(self, db: Database, store: SegmentStore, search: Search) -> None:
        self._db = db
        self._store = store
        self._search = search

    async def snapshots(self, wanted: Selected) -> AsyncIterator[Held]:
        """Every snapshot that is meant, an entry's newest first."""
        async for hash_url in self._entries(wanted):
            async with self._db.read() as conn:
                found = await entries.by_hash(conn, hash_url)
                held = (
                    await snapshots.of_entry(conn, found[0], limit=MOST_SNAPSHOTS) if found else []
                )
            for each in held:
                yield each

    async def pieces(self, wanted: Selected) -> AsyncGenerator[Piece, None]:
        """What is to be copied, in the order it lies on disk, no record twice."""
        if wanted.is_everything:
            async for piece in self._whole_segments():
                yield piece
            return
        with SortedLines() as places:
            async for held in self.snapshots(wanted):
                lines = await self._lines_of(held)
                await asyncio.to_thread(places.add_all, lines)
            lines_ = await asyncio.to_thread(iter, places)
            while (line := await asyncio.to_thread(next, lines_, None)) is not None:
                yield _read_line(line)

    async def _entries(self, wanted: Selected) -> AsyncIterator[HashUrl]:
        if wanted.hash_url:
            yield wanted.hash_url
            return
        after: str | None = ""
        while after is not None:
            query = replace(wanted.query, after=after, limit=MOST_PER_PAGE)
            page = await self._search.listing(query)
            for listed in page.items:
                yield listed.entry.hash_url
            after = page.after

    async def _whole_segments(self) -> AsyncGenerator[Piece, None]:
        async with self._db.read() as conn:
            indexed = await segments.indexed(conn)
        for name, end in sorted(indexed.items()):
            start = 0
            while start < end:
                async with self._db.read() as conn:
                    found = await captures.in_segment(conn, name, first=start, end=end, limit=PAGE)
                last = found[-1].location if len(found) == PAGE else None
                until = last.offset + last.length if last else end
                yield Piece(Location(name, start, until - start), tuple(found))
                start = until

    async def _lines_of(self, held: Held) -> list[bytes]:
        """The places of all records of a snapshot, as lines that sort as they lie."""
        urls = await asyncio.to_thread(self._urls_of, held)
        async with self._db.read() as conn:
            found = await _captures_of(conn, urls, held.snapshot)
        requests = await asyncio.to_thread(self._requests_of, found)
        places = [held.record, *requests]
        if held.snapshot.article:
            places.append(held.snapshot.article)
        return [*map(_line, found), *(_write_line(place, None) for place in places)]

    def _urls_of(self, held: Held) -> list[str]:
        entry_record = read_entry_record(self._store.read(held.record).block.read())
        if entry_record is None or entry_record.snapshot is None:
            raise StoreError(
                "The record of a snapshot is not what it must be. Run `archiver verify`."
            )
        had = [each.url for each in entry_record.snapshot.requisites if each.status is not None]
        return [held.snapshot.url, held.snapshot.capture.url, *had]

    def _requests_of(self, found: list[Capture]) -> list[Location]:
        """The places of the requests behind captures: each stands right after its response."""
        places = []
        for each in found:
            place = each.location
            try:
                record = self._store.read(replace(place, offset=place.offset + place.length))
                if record.type is not RecordType.REQUEST:
                    continue
                if record.get("warc-concurrent-to").strip("<>") == each.record_id:
                    places.append(Location(place.segment, record.offset, record.finish()))
            except StoreError:
                continue  # the response is the last record of its segment
        return places


async def _captures_of(conn: AsyncConnection, urls: list[str], snapshot: Snapshot) -> list[Capture]:
    """What these URLs replay as at the moment of a snapshot: redirects, answers, originals."""
    found: dict[Location, Capture] = {snapshot.capture.location: snapshot.capture}
    for url in dict.fromkeys(urls):
        step: str | None = url
        for _ in range(MOST_HOPS):
            capture = await captures.nearest(conn, step, snapshot.timestamp) if step else None
            if capture is None:
                break
            found[capture.location] = capture
            step = capture.redirect_to
    for capture in [*found.values()]:
        if capture.is_revisit:
            original = await captures.original_of(conn, capture.payload_digest)
            if original:
                found[original.location] = original
    return [*found.values()]


def _line(capture: Capture) -> bytes:
    return _write_line(capture.location, capture)


def _write_line(place: Location, capture: Capture | None) -> bytes:
    said = json.dumps(asdict(capture)) if capture else ""
    return f"{place.segment}\t{place.offset:016x}\t{place.length:x}\t{said}\n".encode()


def _read_line(line: bytes) -> Piece:
    segment, offset, length, said = line.decode().rstrip("\n").split("\t", 3)
    place = Location(segment, int(offset, 16), int(length, 16))
    if not said:
        return Piece(place, ())
    kept = json.loads(said)
    return Piece(
        place,
        (
            Capture(
                **{
                    **kept,
                    "timestamp": Timestamp(kept["timestamp"]),
                    "payload_digest": PayloadDigest(kept["payload_digest"]),
                    "record_id": RecordId(kept["record_id"]),
                    "location": place,
                }
            ),
        ),
    )
