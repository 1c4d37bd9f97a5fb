"""What an export holds: which records, in the order they lie on disk, each once."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, islice

from archiver.errors import StoreError
from archiver.index import answers, attempts, captures, entries, likenesses, originals, snapshots
from archiver.index.database import AsyncConnection, Database
from archiver.index.entries import Revised
from archiver.index.snapshots import Held
from archiver.ledger.records import EntryFacts, entry_note
from archiver.ledger.rows import needs_of
from archiver.ledger.snapshot_records import read_snapshot_record
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp
from archiver.model.entry import Snapshot
from archiver.model.job import Attempt, State
from archiver.model.likeness import Likeness
from archiver.model.requisite import RequisiteOutcome
from archiver.services.manifest import Manifest, Selected, draw_up
from archiver.store.segments import SegmentStore
from archiver.store.sorting import SortedLines
from archiver.warc.record import Record, RecordType

PAGE = 1000
TOGETHER = 50
"""Snapshots whose records are looked for at once."""
MOST_HOPS = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a segment that is copied as it is, and the captures in it."""

    location: Location
    captures: tuple[Capture, ...]


class Selection:
    """Finds the snapshots and the records of an export."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def begin(self, selected: Selected) -> Manifest:
        """What an export that begins now holds.

        Raises:
            InputError: the query is none.
        """
        return await draw_up(self._db, selected)

    async def snapshots(self, manifest: Manifest) -> AsyncIterator[Held]:
        """Every snapshot that is meant; of a choice of entries, each one's newest first."""
        pages = self._all_snapshots if manifest.selected.is_everything else self._chosen_snapshots
        async for some in pages(manifest):
            for held in some:
                yield held

    async def pieces(self, manifest: Manifest) -> AsyncGenerator[Piece, None]:
        """What is to be copied, in the order it lies on disk, no record twice."""
        if manifest.has_whole_segments:
            async for piece in self._whole_segments(manifest):
                yield piece
            return
        with SortedLines() as places:
            async for some in self._chosen_snapshots(manifest):
                for start in range(0, len(some), TOGETHER):
                    await self._put_by(some[start : start + TOGETHER], places)
            lines_ = await asyncio.to_thread(iter, places)
            while stretches := await asyncio.to_thread(_stretches, lines_):
                for piece in stretches:
                    yield piece

    async def notes(self, manifest: Manifest) -> AsyncIterator[Record]:
        """Records of entries that none of the copied ones tells of: waiting, failed or changed."""
        for start in range(0, len(manifest.beyond_records), PAGE):
            ids = manifest.beyond_records[start : start + PAGE]
            async with self._db.read() as conn:
                found = await entries.with_revisions(conn, ids)
                failed = await attempts.of_entries(conn, ids)
            for entry_id, revised in found.items():
                made = failed.get(entry_id, [])
                if manifest.has_whole_segments and revised.entry.state is State.FAILED:
                    made = made[:-1]  # the last is told of where it was written down
                for record in _notes(revised, made):
                    yield record

    async def _all_snapshots(self, manifest: Manifest) -> AsyncIterator[list[Held]]:
        row = 0
        while row < manifest.last_snapshot:
            async with self._db.read() as conn:
                found, row = await snapshots.after(
                    conn, row, last=manifest.last_snapshot, limit=PAGE
                )
            if not found:
                return
            yield found

    async def _chosen_snapshots(self, manifest: Manifest) -> AsyncIterator[list[Held]]:
        for entry_id in manifest.entries:
            before: Timestamp | None = None
            while True:
                async with self._db.read() as conn:
                    found = await snapshots.page_of(
                        conn, entry_id, before=before, last=manifest.last_snapshot, limit=PAGE
                    )
                yield found
                if len(found) < PAGE:
                    break
                before = found[-1].snapshot.timestamp

    async def _whole_segments(self, manifest: Manifest) -> AsyncGenerator[Piece, None]:
        for name, end in sorted(manifest.segments.items()):
            start = 0
            while start < end:
                async with self._db.read() as conn:
                    found = await captures.in_segment(conn, name, first=start, end=end, limit=PAGE)
                last = found[-1].location if len(found) == PAGE else None
                until = last.offset + last.length if last else end
                yield Piece(Location(name, start, until - start), tuple(found))
                start = until

    async def _put_by(self, some: Sequence[Held], places: SortedLines) -> None:
        """Put the places of all records of snapshots by, as lines that sort as they lie."""
        seeds = await asyncio.to_thread(
            lambda: [read_snapshot_record(self._store, held.record) for held in some]
        )
        async with self._db.read() as conn:
            found = [
                await _captures_of(conn, held.snapshot, each.requisites)
                for held, each in zip(some, seeds, strict=True)
            ]
            drawn = await likenesses.of_snapshots(conn, [held.row_id for held in some])
            sent = [await answers.places(conn, each.answers) for each in seeds]
        looked = [drawn.get(held.row_id, ()) for held in some]
        lines = chain.from_iterable(map(self._lines_of, some, found, sent, looked))
        await asyncio.to_thread(places.add_all, lines)

    def _lines_of(
        self,
        held: Held,
        shown: list[Capture],
        sent: Mapping[RecordId, Location],
        looked: Sequence[Likeness],
    ) -> list[bytes]:
        responses = [*((each.record_id, each.location) for each in shown), *sent.items()]
        places = [held.record, *sent.values(), *self._requests_of(responses)]
        places += [each.location for each in looked]
        if held.snapshot.article:
            places.append(held.snapshot.article)
        return [*map(_line, shown), *(_write_line(place, None) for place in places)]

    def _requests_of(self, responses: Sequence[tuple[RecordId, Location]]) -> list[Location]:
        """The places of the requests behind responses: each stands right after its response."""
        places = []
        for record_id, place in responses:
            try:
                record = self._store.read(replace(place, offset=place.offset + place.length))
                if record.type is not RecordType.REQUEST:
                    continue
                if record.get("warc-concurrent-to").strip("<>") == record_id:
                    places.append(Location(place.segment, record.offset, record.finish()))
            except StoreError:
                continue  # the response is the last record of its segment
        return places


def _notes(revised: Revised, failed: Sequence[Attempt]) -> Iterator[Record]:
    """What failed for an entry so far; whether it waits, or what is said of it by now."""
    facts, state = EntryFacts(revised.entry, None, revised.revision), revised.entry.state
    for each in failed if state is not State.SAVED else ():
        yield entry_note(facts, each.at, each.failure)
    if state is not State.FAILED or revised.is_unrecorded:
        now = datetime.now(UTC).replace(microsecond=0)
        yield entry_note(facts, now, is_waiting=state is State.QUEUED)


async def _captures_of(
    conn: AsyncConnection, snapshot: Snapshot, requisites: Iterable[RequisiteOutcome]
) -> list[Capture]:
    """What its URLs replay as at the moment of a snapshot: redirects, responses, originals."""
    found: dict[Location, Capture] = {snapshot.capture.location: snapshot.capture}
    for url in dict.fromkeys(needs_of(snapshot.url, snapshot.capture.url, requisites)):
        step: str | None = url
        for _ in range(MOST_HOPS):
            capture = await captures.nearest(conn, step, snapshot.timestamp) if step else None
            if capture is None:
                break
            found[capture.location] = capture
            step = capture.redirect_to
    for capture in [*found.values()]:
        if capture.is_revisit:
            original = await originals.holder_of(conn, capture.payload_digest)
            if original:
                found[original.location] = original
    return [*found.values()]


def _line(capture: Capture) -> bytes:
    return _write_line(capture.location, capture)


def _write_line(place: Location, capture: Capture | None) -> bytes:
    document = json.dumps(asdict(capture)) if capture else ""
    return f"{place.segment}\t{place.offset:016x}\t{place.length:x}\t{document}\n".encode()


def _stretches(lines: Iterator[bytes]) -> list[Piece]:
    """The next places; records that lie one after another are one piece."""
    found: list[Piece] = []
    for piece in map(_read_line, islice(lines, PAGE)):
        last, here = found[-1].location if found else None, piece.location
        if last and replace(last, offset=last.offset + last.length, length=here.length) == here:
            joined = replace(last, length=last.length + here.length)
            found[-1] = Piece(joined, found[-1].captures + piece.captures)
        else:
            found.append(piece)
    return found


def _read_line(line: bytes) -> Piece:
    segment, offset, length, document = line.decode().rstrip("\n").split("\t", 3)
    place = Location(segment, int(offset, 16), int(length, 16))
    if not document:
        return Piece(place, ())
    kept = json.loads(document)
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
