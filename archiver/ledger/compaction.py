"""What becomes of each record of a segment when what was thrown away is erased; blocking or pure.

``read_seen`` says what a stretch of records is; ``verdict_of`` decides, from what the index says of
it; ``write_edition`` writes the next edition of the segment.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import islice

from archiver.errors import StoreError
from archiver.index.relocation import Moved
from archiver.ledger.payloads import Moves
from archiver.model.capture import Capture, HashUrl, Location, RecordId
from archiver.scratch import spooled_file
from archiver.store.rewriting import NextEdition
from archiver.store.scanning import Damage, Scanned
from archiver.store.segments import SegmentStore
from archiver.urls.parse import hash_url
from archiver.warc import build
from archiver.warc.entry_record import (
    EntryRecord,
    entry_record_uri,
    hash_of_uri,
    read_entry_record,
    write_entry_record,
)
from archiver.warc.http_block import open_payload, read_head
from archiver.warc.reader import StoredRecord
from archiver.warc.record import Record, RecordType, new_record_id
from archiver.warc.restate import as_response, referring_to, with_block
from archiver.wire.head import parse_head

CHUNK = 1000
SPOOLED_BYTES = 8 << 20
MOST_REQUEST_BYTES = 64 << 10
_REFERER = re.compile(rb"(?im)^referer:[ \t]*([^\r\n]*?)[ \t]*\r?\n")
_NONE = RecordId("")
_RESPONSES = frozenset({RecordType.RESPONSE, RecordType.REVISIT})


@dataclass(frozen=True, slots=True)
class Seen:
    """A record in a segment, or a damaged stretch of it, which has no type.

    Attributes:
        offset, length: its bytes there.
        type: of the record.
        id: of the record.
        beside: the record that it names as its other half, or as what it was made of.
        hash_url: of the entry that it is of, if it is of one.
        entry_record: what it says of that entry.
        referer: the entry whose address a request gives as its Referer, if that can be one's.
    """

    offset: int
    length: int
    type: RecordType | None = None
    id: RecordId = _NONE
    beside: RecordId = _NONE
    hash_url: HashUrl | None = None
    entry_record: EntryRecord | None = None
    referer: HashUrl | None = None


class Verdict(Enum):
    """What becomes of a record."""

    KEEP = auto()
    DROP = auto()
    WITHOUT_SNAPSHOT = auto()
    WITHOUT_REFERER = auto()
    WHOLE = auto()
    REFER = auto()


@dataclass(frozen=True, slots=True)
class Known:
    """What the index says of a stretch of records.

    Attributes:
        gone: ids of captures that go.
        generations: up to which entries are gone.
        snapshots: those that are gone, by entry, timestamp and page.
        strangers: entries that are gone, and not there again.
        articles: the bytes where articles start that some snapshot has.
        needed: ids of captures that go once their payload is elsewhere.
    """

    gone: frozenset[str]
    generations: dict[str, int]
    snapshots: frozenset[tuple[str, str, str]]
    strangers: frozenset[str]
    articles: frozenset[int]
    needed: frozenset[str] = frozenset()


@dataclass(slots=True)
class Plan:
    """What becomes of a segment: its records in order, each with its verdict.

    Attributes:
        records: all of them but the first, which names the file.
        freed: bytes of those that go.
        erased: how many those are.
        changed: how many are said anew.
    """

    records: list[tuple[Seen, Verdict]] = field(default_factory=list)
    freed: int = 0
    erased: int = 0
    changed: int = 0

    def add(self, seen: Seen, verdict: Verdict) -> None:
        """Add the next record."""
        if verdict is not Verdict.WITHOUT_SNAPSHOT:
            seen = replace(seen, entry_record=None)
        self.records.append((seen, verdict))
        if verdict is Verdict.DROP:
            self.freed += seen.length
            self.erased += 1
        elif verdict is not Verdict.KEEP:
            self.changed += 1


def read_seen(store: SegmentStore, name: str) -> Iterator[list[Seen]]:
    """The records of a segment behind its first, some at a time.

    Raises:
        StoreError: it can't be read.
    """
    found = store.shelf.scan(name)
    records = (_seen(each) for each in found)
    first = next(records, None)
    if first is not None and first.type is not RecordType.WARCINFO:
        raise StoreError(f"{name} does not begin as a segment does.")
    while some := [*islice(records, CHUNK)]:
        yield some


def _seen(scanned: Scanned | Damage) -> Seen:
    if isinstance(scanned, Damage):
        return Seen(scanned.location.offset, scanned.location.length)
    record, entry_record, referer = scanned.record, None, None
    key = hash_of_uri(record.target_uri or "")
    if record.type is RecordType.METADATA and key:
        try:
            entry_record = read_entry_record(record.block.read())
        except StoreError:
            key = None  # it is no part of what is gone, as far as can be told
    if record.type is RecordType.REQUEST:
        referer = _referer_of(record.block.read(MOST_REQUEST_BYTES))
    beside = record.get("warc-concurrent-to") or record.get("warc-refers-to")
    place = scanned.place()
    return Seen(
        place.offset,
        place.length,
        record.type,
        record.id,
        RecordId(beside.strip("<>")),
        key,
        entry_record,
        referer,
    )


def _referer_of(head: bytes) -> HashUrl | None:
    found = _REFERER.search(head)
    try:
        return hash_url(found[1].decode("ascii")) if found else None
    except ValueError:
        return None


def verdict_of(seen: Seen, known: Known, moves: Moves) -> Verdict:
    """What becomes of a record: pure."""
    if seen.type in _RESPONSES:
        return _of_response(seen, known, moves)
    if seen.type is RecordType.REQUEST:
        if seen.beside in known.gone and seen.beside not in known.needed:
            return Verdict.DROP
        return Verdict.WITHOUT_REFERER if seen.referer in known.strangers else Verdict.KEEP
    if seen.hash_url and seen.entry_record:
        return _of_entry_record(seen.hash_url, seen.entry_record, known)
    if seen.hash_url and seen.type is RecordType.CONVERSION:
        pages = {page for key, _, page in known.snapshots if key == seen.hash_url}
        is_gone = seen.offset not in known.articles and seen.beside in pages
        return Verdict.DROP if is_gone else Verdict.KEEP
    return Verdict.KEEP


def _of_response(seen: Seen, known: Known, moves: Moves) -> Verdict:
    if seen.id in known.gone:
        return Verdict.KEEP if seen.id in known.needed else Verdict.DROP
    if seen.type is RecordType.REVISIT and seen.id in moves.whole:
        return Verdict.WHOLE
    if seen.type is RecordType.REVISIT and seen.id in moves.refer:
        return Verdict.REFER
    return Verdict.KEEP


def _of_entry_record(key: HashUrl, record: EntryRecord, known: Known) -> Verdict:
    if record.generation <= known.generations.get(key, -1):
        return Verdict.DROP
    snapshot = record.snapshot
    if snapshot and (key, snapshot.timestamp, snapshot.capture_record) in known.snapshots:
        return Verdict.WITHOUT_SNAPSHOT
    return Verdict.KEEP


def write_edition(
    store: SegmentStore, edition: NextEdition, name: str, plan: Plan, moves: Moves
) -> list[Moved]:
    """Write the next edition of a segment; where its records are there."""
    moved: list[Moved] = []
    for seen, verdict in plan.records:
        if verdict is Verdict.DROP:
            continue
        if verdict is Verdict.KEEP:
            place = edition.copy(seen.offset, seen.length)
            moved.append(Moved(seen.offset, place.offset, place.length))
            continue
        record, is_chunked = _replacement(store, name, seen, verdict, moves)
        try:
            place = edition.add(record)
        finally:
            if record.body:
                record.body.close()
        is_whole = verdict is Verdict.WHOLE
        moved.append(Moved(seen.offset, place.offset, place.length, is_whole, is_chunked))
    edition.finish()
    return moved


def compare_editions(store: SegmentStore, was: str, to: str) -> list[Moved]:
    """Where the records of a segment are in its next edition, read from both.

    Raises:
        StoreError: one of them can't be read.
    """
    found: dict[RecordId, list[tuple[Seen, bool]]] = {}
    for seen, is_chunked in _all_seen(store, to):
        found.setdefault(seen.id, []).append((seen, is_chunked))
    moved = []
    for seen, _ in _all_seen(store, was):
        if there := found.get(seen.id):
            new, is_chunked = there.pop(0)
            is_whole = new.type is RecordType.RESPONSE and seen.type is RecordType.REVISIT
            moved.append(Moved(seen.offset, new.offset, new.length, is_whole, is_chunked))
    return moved


def _all_seen(store: SegmentStore, name: str) -> Iterator[tuple[Seen, bool]]:
    for scanned in store.shelf.scan(name):
        if isinstance(scanned, Damage) or scanned.record.type is RecordType.WARCINFO:
            continue
        is_chunked = False
        if scanned.record.type is RecordType.RESPONSE:
            is_chunked = parse_head(read_head(scanned.record)).is_chunked
        place = scanned.place()
        record = scanned.record
        yield Seen(place.offset, place.length, record.type, record.id), is_chunked


def _replacement(
    store: SegmentStore, name: str, seen: Seen, verdict: Verdict, moves: Moves
) -> tuple[Record, bool]:
    """A record as it is to be from now on, and whether its body is in chunks."""
    if verdict is Verdict.WITHOUT_SNAPSHOT:
        return _without_snapshot(seen), False
    record = store.read(Location(name, seen.offset, seen.length))
    if verdict is Verdict.WITHOUT_REFERER:
        return with_block(record, _REFERER.sub(b"", record.block.read())), False
    if verdict is Verdict.REFER:
        return referring_to(record, record.block.read(), moves.refer[seen.id]), False
    return _whole(store, record, moves.whole[seen.id])


def _without_snapshot(seen: Seen) -> Record:
    record = seen.entry_record
    if record is None:
        raise ValueError("this is no entry record")
    return build.metadata(
        id=new_record_id(),
        url=entry_record_uri(record.hash_url),
        date=record.at,
        document=write_entry_record(replace(record, snapshot=None)),
    )


def _whole(store: SegmentStore, revisit: StoredRecord, holder: Capture) -> tuple[Record, bool]:
    held = store.read(holder.location)
    if revisit.block_length:
        head = read_head(revisit)
        _, pieces = open_payload(held)
    else:
        head = read_head(held)
        pieces = open_payload(store.read(holder.location))[1]
    is_chunked = parse_head(head).is_chunked
    body = spooled_file(SPOOLED_BYTES)
    for piece in pieces:
        if is_chunked and piece:
            body.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        elif piece:
            body.write(piece)
    if is_chunked:
        body.write(b"0\r\n\r\n")
    made = as_response(revisit, head, body, digest=holder.payload_digest, is_chunked=is_chunked)
    return made, is_chunked
