"""Compaction: erasing deleted records from segments.

``scan_segment`` lists the records of a segment in batches, ``choose_action`` chooses what happens
to each record, and ``write_version`` writes the next version of the segment.

If the record that holds a payload is deleted, one of its revisits becomes a response with the
payload, and the other revisits refer to the new response. A payload with chunk framing can be
referred to only from its own URL, so a revisit with ``Transfer-Encoding: chunked`` becomes the
response only if there is no other revisit.

A crash can leave two versions of a segment; ``crash_recovery`` removes the one that the index does
not use.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import islice

from archiver.db.record_locations import MovedRecord
from archiver.errors import StoreError
from archiver.helpers import spooled_file
from archiver.http.headers import parse_head
from archiver.http.timestamps import to_datetime
from archiver.http.urls import hash_url
from archiver.model.capture import Capture, HashUrl, Location, PayloadDigest, RecordId
from archiver.warc import writer
from archiver.warc.metadata_records import (
    EntryRecord,
    entry_record_uri,
    hash_of_uri,
    read_entry_record,
    write_entry_record,
)
from archiver.warc.reader import StoredRecord, open_payload, read_head
from archiver.warc.records import Record, RecordType, new_record_id
from archiver.warc.segment_inventory import SegmentFile
from archiver.warc.segment_scanning import Damage, Scanned
from archiver.warc.segment_versions import NextVersion, is_segment_name, serial_of
from archiver.warc.segments import SegmentStore
from archiver.warc.writer import Original, as_response, referring_to, with_block


def why_not_uploadable(
    segment: SegmentFile,
    files: Sequence[SegmentFile],
    indexed: Mapping[str, int],
    store: SegmentStore,
) -> str:
    """Return why a segment may still change; empty if it can be replaced or uploaded.

    Args:
        segment: the segment.
        files: known segments, including all segments of this machine.
        indexed: indexed bytes of each segment.
        store: the store of this process.
    """
    if not is_segment_name(segment.name):
        return "Its name is not that of an archiver segment."
    if indexed.get(segment.name, 0) != segment.size:
        return "It is being written, or contains records that are not indexed."
    if store.lock.is_alive(segment.writer):
        last = max(serial_of(each.name) for each in files if each.writer == segment.writer)
        # An empty file was just created and may not be registered as an open segment yet.
        is_own = segment.size and segment.writer == store.writer and not store.is_open(segment.name)
        if serial_of(segment.name) == last and not is_own:
            return "It is being written by a running process."
    return ""


@dataclass(slots=True)
class RevisitChanges:
    """Changes to revisits whose original is deleted, by record id of the revisit.

    Attributes:
        whole: the capture that holds the payload, for each revisit that becomes a response.
        refer: the new original, for each revisit that must refer to another original.
    """

    whole: dict[RecordId, Capture] = field(default_factory=dict)
    refer: dict[RecordId, Original] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Revisit:
    """Capture without its own payload.

    Attributes:
        capture: the capture in the index.
        refers_to: id of the record that it refers to.
        is_chunked: whether its HTTP head has ``Transfer-Encoding: chunked``.
    """

    capture: Capture
    refers_to: str
    is_chunked: bool


def plan_moves(
    revisits: Sequence[Revisit],
    living: Callable[[PayloadDigest], Iterable[Capture]],
    holder: Callable[[PayloadDigest], Capture | None],
    deleted: frozenset[str],
) -> RevisitChanges:
    """Plan the changes to all revisits of payloads that a deleted record holds.

    Args:
        revisits: all revisits of such payloads.
        living: function that returns the response records of a payload that are not deleted.
        holder: function that returns the deleted response record of a payload.
        deleted: ids of deleted records, which revisits must not refer to.
    """
    moves = RevisitChanges()
    by_payload: dict[PayloadDigest, list[Revisit]] = {}
    for each in revisits:
        by_payload.setdefault(each.capture.payload_digest, []).append(each)
    for digest, records in by_payload.items():
        originals = [*living(digest)]
        source = holder(digest)
        for each in sorted(records, key=lambda each: each.is_chunked):
            original = _original_for(originals, each.capture.url)
            if original is None and source is not None:
                moves.whole[each.capture.record_id] = source
                originals.append(_made_whole(each))
            elif original is not None and each.refers_to in deleted:
                moves.refer[each.capture.record_id] = _original(original)
    return moves


def _original_for(originals: Sequence[Capture], url: str) -> Capture | None:
    """Return a record that a revisit of a URL can refer to, preferably without chunk framing."""
    plain = (each for each in originals if not each.is_chunked)
    same_url = (each for each in originals if each.url == url)
    return next(plain, None) or next(same_url, None)


def _made_whole(revisit: Revisit) -> Capture:
    return replace(revisit.capture, is_revisit=False, is_chunked=revisit.is_chunked)


def _original(capture: Capture) -> Original:
    return Original(capture.record_id, capture.url, to_datetime(capture.timestamp))


BATCH = 1000
"""Number of records per batch of a scan."""
SPOOLED_BYTES = 8 << 20
MAX_REQUEST_BYTES = 64 << 10
_REFERER = re.compile(rb"(?im)^referer:[ \t]*([^\r\n]*?)[ \t]*\r?\n")
_NONE = RecordId("")
_RESPONSES = frozenset({RecordType.RESPONSE, RecordType.REVISIT})


@dataclass(frozen=True, slots=True)
class ScannedRecord:
    """Record of a segment, or a damaged part, which has no type.

    Attributes:
        offset: start in the segment.
        length: length in the segment.
        type: record type.
        id: record id.
        related: record id in ``WARC-Concurrent-To`` or else in ``WARC-Refers-To``.
        hash_url: hash_url of the entry that the record belongs to, if any.
        entry_record: content of an entry record.
        referer: hash_url of the Referer of a request, if it has one.
    """

    offset: int
    length: int
    type: RecordType | None = None
    id: RecordId = _NONE
    related: RecordId = _NONE
    hash_url: HashUrl | None = None
    entry_record: EntryRecord | None = None
    referer: HashUrl | None = None


class RecordAction(Enum):
    """Action for a record when the next version of its segment is written.

    Attributes:
        KEEP: copy the record.
        DROP: leave the record out.
        WITHOUT_SNAPSHOT: keep the metadata of an entry record, without its deleted snapshot.
        WITHOUT_REFERER: remove the Referer of a request, because it is the URL of a deleted entry.
        WHOLE: turn a revisit into a response with the payload.
        REFER: let a revisit refer to another original.
    """

    KEEP = auto()
    DROP = auto()
    WITHOUT_SNAPSHOT = auto()
    WITHOUT_REFERER = auto()
    WHOLE = auto()
    REFER = auto()


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """Data of the index about deletions in a batch of records.

    Attributes:
        captures: ids of deleted captures.
        generations: last deleted generation of each entry, by hash_url.
        snapshots: (hash_url, timestamp, record id of the page) of deleted snapshots.
        entries: hash_urls of deleted entries that were not saved again.
        articles: offsets of articles that snapshots use.
        referenced: offsets of records that the index refers to. Other damaged records are
            dropped.
        payload_holders: ids of deleted captures that stay until their payload is stored elsewhere.
    """

    captures: frozenset[str]
    generations: dict[str, int]
    snapshots: frozenset[tuple[str, str, str]]
    entries: frozenset[str]
    articles: frozenset[int]
    payload_holders: frozenset[str] = frozenset()
    referenced: frozenset[int] = frozenset()


@dataclass(slots=True)
class Plan:
    """Plan for a segment: its records in order, each with an action.

    Attributes:
        records: all records except the warcinfo record.
        freed: bytes of erased records.
        erased: number of erased records.
    """

    records: list[tuple[ScannedRecord, RecordAction]] = field(default_factory=list)
    freed: int = 0
    erased: int = 0

    def add(self, scanned: ScannedRecord, action: RecordAction) -> None:
        """Add the next record."""
        if action is not RecordAction.WITHOUT_SNAPSHOT:
            scanned = replace(scanned, entry_record=None)  # not needed any more
        self.records.append((scanned, action))
        if action is RecordAction.DROP:
            self.freed += scanned.length
            self.erased += 1


def scan_segment(store: SegmentStore, name: str) -> Iterator[list[ScannedRecord]]:
    """Iterate over the records of a segment after the warcinfo record, in batches.

    Raises:
        StoreError: the segment can't be read.
    """
    scanned = store.storage.scan(name)
    records = (_seen(each) for each in scanned)
    first = next(records, None)
    if first is not None and first.type is not RecordType.WARCINFO:
        raise StoreError(f"{name} does not begin like a segment.")
    while batch := [*islice(records, BATCH)]:
        yield batch


def _seen(scanned: Scanned | Damage) -> ScannedRecord:
    if isinstance(scanned, Damage):
        return ScannedRecord(scanned.location.offset, scanned.location.length)
    record, entry_record, referer = scanned.record, None, None
    key = hash_of_uri(record.target_uri or "")
    if record.type is RecordType.METADATA and key:
        try:
            entry_record = read_entry_record(record.block.read())
        except StoreError:
            key = None  # Keep unreadable records: they can't be matched with a deleted entry.
    if record.type is RecordType.REQUEST:
        referer = _referer_of(record.block.read(MAX_REQUEST_BYTES))
    related = record.get("warc-concurrent-to") or record.get("warc-refers-to")
    place = scanned.place()
    return ScannedRecord(
        place.offset,
        place.length,
        record.type,
        record.id,
        RecordId(related.strip("<>")),
        key,
        entry_record,
        referer,
    )


def _referer_of(head: bytes) -> HashUrl | None:
    match = _REFERER.search(head)
    try:
        return hash_url(match[1].decode("ascii")) if match else None
    except ValueError:
        return None


def choose_action(
    scanned: ScannedRecord, deleted: DeletedRecords, moves: RevisitChanges
) -> RecordAction:
    """Return the action for a record."""
    if scanned.type in _RESPONSES:
        return _of_response(scanned, deleted, moves)
    if scanned.type is RecordType.REQUEST:
        if scanned.related in deleted.captures and scanned.related not in deleted.payload_holders:
            return RecordAction.DROP
        return (
            RecordAction.WITHOUT_REFERER
            if scanned.referer in deleted.entries
            else RecordAction.KEEP
        )
    if scanned.hash_url and scanned.entry_record:
        return _of_entry_record(scanned.hash_url, scanned.entry_record, deleted)
    if scanned.hash_url and scanned.type is RecordType.CONVERSION:
        pages = {page for key, _, page in deleted.snapshots if key == scanned.hash_url}
        is_gone = scanned.offset not in deleted.articles and scanned.related in pages
        return RecordAction.DROP if is_gone else RecordAction.KEEP
    is_damaged = scanned.type is None
    return (
        RecordAction.DROP
        if is_damaged and scanned.offset not in deleted.referenced
        else RecordAction.KEEP
    )


def _of_response(
    scanned: ScannedRecord, deleted: DeletedRecords, moves: RevisitChanges
) -> RecordAction:
    if scanned.id in deleted.captures:
        return RecordAction.KEEP if scanned.id in deleted.payload_holders else RecordAction.DROP
    if scanned.type is RecordType.REVISIT and scanned.id in moves.whole:
        return RecordAction.WHOLE
    if scanned.type is RecordType.REVISIT and scanned.id in moves.refer:
        return RecordAction.REFER
    return RecordAction.KEEP


def _of_entry_record(key: HashUrl, record: EntryRecord, deleted: DeletedRecords) -> RecordAction:
    if record.generation <= deleted.generations.get(key, -1):
        return RecordAction.DROP
    snapshot = record.snapshot
    if snapshot and (key, snapshot.timestamp, snapshot.capture_record) in deleted.snapshots:
        return RecordAction.WITHOUT_SNAPSHOT
    return RecordAction.KEEP


def write_version(
    store: SegmentStore, version: NextVersion, name: str, plan: Plan, moves: RevisitChanges
) -> list[MovedRecord]:
    """Write the next version of the segment ``name``; return the new positions of its records."""
    moved: list[MovedRecord] = []
    for scanned, action in plan.records:
        if action is RecordAction.DROP:
            continue
        if action is RecordAction.KEEP:
            place = version.copy(scanned.offset, scanned.length)
            moved.append(MovedRecord(scanned.offset, place.offset, place.length))
            continue
        record, is_chunked = _replacement(store, name, scanned, action, moves)
        try:
            place = version.add(record)
        finally:
            if record.body:
                record.body.close()
        is_whole = action is RecordAction.WHOLE
        moved.append(MovedRecord(scanned.offset, place.offset, place.length, is_whole, is_chunked))
    version.finish()
    return moved


def _replacement(
    store: SegmentStore,
    name: str,
    scanned: ScannedRecord,
    action: RecordAction,
    moves: RevisitChanges,
) -> tuple[Record, bool]:
    """Return a rewritten record, and whether its body has chunk framing."""
    if action is RecordAction.WITHOUT_SNAPSHOT:
        return _snapshotless_record(scanned), False
    record = store.read(Location(name, scanned.offset, scanned.length))
    if action is RecordAction.WITHOUT_REFERER:
        return with_block(record, _REFERER.sub(b"", record.block.read())), False
    if action is RecordAction.REFER:
        return referring_to(record, record.block.read(), moves.refer[scanned.id]), False
    return _to_response(store, record, moves.whole[scanned.id])


def _snapshotless_record(scanned: ScannedRecord) -> Record:
    record = scanned.entry_record
    if record is None:
        raise ValueError("this is not an entry record")
    return writer.metadata(
        id=new_record_id(),
        url=entry_record_uri(record.hash_url),
        date=record.at,
        document=write_entry_record(replace(record, snapshot=None)),
    )


def _to_response(
    store: SegmentStore, revisit: StoredRecord, holder: Capture
) -> tuple[Record, bool]:
    """Convert a revisit to a response with the payload of ``holder``; see ``_replacement``."""
    record = store.read(holder.location)
    if revisit.block_length:
        head = read_head(revisit)
        _, pieces = open_payload(record)
    else:
        head = read_head(record)
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
    response = as_response(revisit, head, body, digest=holder.payload_digest, is_chunked=is_chunked)
    return response, is_chunked
