"""Rebuilding database rows from records.

Captures are indexed while the segments are read. Then entry records are processed in order of time.
``crash_recovery`` does both in one transaction for the records of a killed process, which are
indexed completely or not at all. ``services.reindex`` does so for a whole archive in batches, and
continues after an interruption.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace

from archiver.crawl import deletions as crawl_deletions
from archiver.crawl.rebuild_entries import (
    Problem,
    StoredEntryRecord,
    restore_entries,
    split_deleted,
    without_repeated_entries,
)
from archiver.crawl.visit_result import UnwantedVisit
from archiver.db import captures as db_captures
from archiver.db import rebuild_tables, segment_rows, tags_and_lists, tombstones
from archiver.db.engine import AsyncConnection, Database
from archiver.db.rebuild_tables import Dated
from archiver.errors import (
    ArchiverError,
    IndexUnavailable,
    InvalidRecord,
    StoreError,
    StoreUnavailable,
)
from archiver.http.content_coding import PIECE, payload_media_type
from archiver.http.media_types import declared_media_type, essence_of
from archiver.http.timestamps import to_datetime, to_timestamp
from archiver.http.urls import hash_url, is_archivable, redirect_target
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId
from archiver.model.deletion import Deletion
from archiver.model.entry_list import Arrangement
from archiver.warc.metadata_records import (
    DELETION_URI,
    LISTS_URI,
    EntryRecord,
    read_arrangement,
    read_deletion,
    read_entry_record,
)
from archiver.warc.reader import StoredRecord, open_payload
from archiver.warc.records import (
    NOT_REPLAYED,
    ORIGINAL_DIGEST,
    RecordType,
    digest_of,
    is_sha256_field,
)
from archiver.warc.segment_scanning import Damage, Scanned
from archiver.warc.segments import SegmentStore


@dataclass(slots=True)
class ReadRecords:
    """Content of consecutive records of a segment.

    Attributes:
        records: number of records.
        end: offset after the last of them.
        captures: response and revisit records; the payload length of a revisit is 0 here.
        excluded_responses: ids and locations of partial responses and of responses to requests
            other than GET.
        conversions: ids and locations of conversion records.
        entry_records: locations and dates of entry records.
        deletions: deletion records.
        arrangements: content of lists records (``LISTS_URI``).
        stated_digests: payload digests of imported records, by the digest that the record had
            originally. The original digest has another form, such as SHA-1.
        problems: locations of unusable records, and why.
    """

    records: int = 0
    end: int = 0
    captures: list[Capture] = field(default_factory=list)
    excluded_responses: list[tuple[RecordId, Location]] = field(default_factory=list)
    conversions: list[tuple[RecordId, Location]] = field(default_factory=list)
    entry_records: list[Dated] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)
    arrangements: list[Arrangement] = field(default_factory=list)
    stated_digests: dict[str, PayloadDigest] = field(default_factory=dict)
    problems: list[tuple[Location, str]] = field(default_factory=list)


def read_records(scanned: Iterable[Scanned | Damage], limit: int) -> ReadRecords:
    """Read up to ``limit`` records from a scan."""
    batch = ReadRecords()
    for each in scanned:
        if isinstance(each, Damage):
            place = each.location
            if each.is_truncated:
                # Another process may still be writing the record; the next recovery reads it again.
                place = replace(place, length=0)
            else:
                batch.problems.append((each.location, each.problem))
        else:
            place = _read_one(batch, each)
        batch.records += 1
        batch.end = place.offset + place.length
        if batch.records >= limit:
            break
    return batch


def _read_one(batch: ReadRecords, scanned: Scanned) -> Location:
    """Add a record's content to ``batch``; return its location."""
    record, head = scanned.record, None
    start = Location(scanned.segment, record.offset, 0)
    of_no_entry = None
    try:
        if has_capture_row(record):
            head = capture_of_record(record, start)
        elif record.type is RecordType.METADATA:
            of_no_entry = _read_list_or_deletion(record)
        place = scanned.place()
    except StoreError as error:
        batch.problems.append((start, str(error)))
        return start
    if head:
        batch.captures.append(replace(head, location=place))
        if digest := record.get(ORIGINAL_DIGEST.lower()):
            batch.stated_digests[digest] = head.payload_digest
    elif record.type in (RecordType.RESPONSE, RecordType.CONVERSION):
        is_excluded_response = record.type is RecordType.RESPONSE
        (batch.excluded_responses if is_excluded_response else batch.conversions).append(
            (record.id, place)
        )
    elif isinstance(of_no_entry, Deletion):
        batch.deletions.append(of_no_entry)
    elif of_no_entry:
        batch.arrangements.append(of_no_entry)
    elif record.type is RecordType.METADATA:
        batch.entry_records.append(Dated(int(record.date.timestamp()), place))
    return place


def _read_list_or_deletion(record: StoredRecord) -> Deletion | Arrangement | None:
    """Read a deletion or lists record; None for an entry record."""
    if record.target_uri == DELETION_URI:
        return read_deletion(record.block.read())
    if record.target_uri == LISTS_URI:
        return read_arrangement(record.block.read())
    return None


def has_capture_row(record: StoredRecord) -> bool:
    """Return whether a record has a capture row: a complete response to GET, or a revisit."""
    is_response = record.type in (RecordType.RESPONSE, RecordType.REVISIT)
    return is_response and not record.get(NOT_REPLAYED.lower())


def is_excluded_response(record: StoredRecord) -> bool:
    """Return whether a record is a partial response, or one to a request other than GET."""
    return record.type is RecordType.RESPONSE and bool(record.get(NOT_REPLAYED.lower()))


def capture_of_record(
    record: StoredRecord,
    location: Location,
    watch: Callable[[Iterator[bytes]], Iterator[bytes]] = lambda pieces: pieces,
) -> Capture:
    """Build the capture row of a response or revisit record.

    ``watch`` gets the pieces of a response's payload and must yield them unchanged.

    Raises:
        InvalidRecord: the block is not an HTTP response.
    """
    is_revisit = record.type is RecordType.REVISIT
    head, payload = open_payload(record)
    if is_revisit:
        digest, length = _stated_digest(record), 0
        media_type = essence_of(declared_media_type(head.headers))
    else:
        start = _Start()
        digest, length = digest_of(start.watch(watch(payload)))
        media_type = payload_media_type(head.headers, start.pieces)
    url = record.target_uri or ""
    return Capture(
        url=url,
        timestamp=to_timestamp(record.date),
        status=head.status,
        media_type=media_type,
        payload_digest=digest,
        payload_length=length,
        record_id=record.id,
        location=location,
        is_revisit=is_revisit,
        redirect_to=redirect_target(url, head.status, head.headers),
        ip=record.get("warc-ip-address"),
        is_chunked=head.is_chunked and not is_revisit,
    )


class _Start:
    """Copy of the first bytes of a payload, made while the whole payload is read."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def watch(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces unchanged, and copy the first ones."""
        length = 0
        for piece in pieces:
            if length < PIECE:
                self.pieces.append(piece)
                length += len(piece)
            yield piece


def _stated_digest(record: StoredRecord) -> PayloadDigest:
    """Return the payload digest that a revisit states.

    Raises:
        InvalidRecord: there is none, or it has another form.
    """
    digest = record.get("warc-payload-digest")
    if not is_sha256_field(digest):
        raise InvalidRecord(f"A revisit has an unsupported payload digest: {digest[:80]}")
    return PayloadDigest(digest)


def read_batches(scanned: Iterator[Scanned | Damage], size: int) -> Iterator[ReadRecords]:
    """Read a scan in batches of ``size`` records."""
    while (batch := read_records(scanned, size)).records:
        yield batch


BATCH = 500
Transaction = Callable[[], AbstractAsyncContextManager[AsyncConnection]]
"""Function that opens a write transaction."""


@dataclass(slots=True)
class Rebuilt:
    """Progress and problems of a rebuild.

    Attributes:
        records: number of records read so far.
        captures: number of captures among them.
        snapshots: number of snapshots restored so far.
        problems: locations of unusable records, and why.
        unreadable: names of segments that could not be read to their end, and why.
    """

    records: int = 0
    captures: int = 0
    snapshots: int = 0
    problems: list[Problem] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


OnProgress = Callable[[Rebuilt], None]


async def build_within(
    conn: AsyncConnection, store: SegmentStore, tails: Mapping[str, int]
) -> Rebuilt:
    """Index the tails of segments in the caller's transaction.

    Args:
        conn: a writing connection.
        store: the segment store.
        tails: start offsets by segment name.
    """
    last = await db_captures.last_row(conn)
    rebuild = _Rebuild(store, lambda: nullcontext(conn), lambda _: None, last_capture=last)
    return await rebuild.run(tails)


async def fill_index(
    db: Database,
    store: SegmentStore,
    names: list[str],
    *,
    bin_after: int | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Rebuilt:
    """Fill an index from whole segments in batches.

    Args:
        db: empty.
        store: the segment store.
        names: all segments.
        bin_after: number of a deletion. Items that later deletions name go to the bin, and other
            deleted items are erased. If None, all deleted items are erased.
        on_progress: called after each batch.
    """
    rebuild = _Rebuild(store, db.write, on_progress, bin_after=bin_after)
    rebuilt = await rebuild.run(dict.fromkeys(names, 0))
    async with db.write() as conn:
        await tags_and_lists.delete_outdated_lists(conn)
    return rebuilt


class _Rebuild:
    """One rebuild.

    ``transaction`` opens a transaction, or yields the caller's connection. ``last_capture`` is the
    row id of the last capture before the rebuild.
    """

    def __init__(
        self,
        store: SegmentStore,
        transaction: Transaction,
        on_progress: OnProgress,
        *,
        last_capture: int = 0,
        bin_after: int | None = None,
    ) -> None:
        self._store = store
        self._transaction = transaction
        self._on_progress = on_progress
        self._last_capture = last_capture
        self._bin_after = bin_after
        self._rebuilt = Rebuilt()
        self._unwanted = list[UnwantedVisit]()
        self._has_deletions = False

    async def run(self, tails: Mapping[str, int]) -> Rebuilt:
        async with self._transaction() as conn:
            await rebuild_tables.begin(conn)
        for name in sorted(tails):
            await self._read_segment(name, tails[name])
        while await self._next_entry_records():
            self._on_progress(self._rebuilt)
        async with self._transaction() as conn:
            await rebuild_tables.share_articles(conn)
            await crawl_deletions.delete_named(
                conn,
                after=0 if self._has_deletions else self._last_capture,
                bin_after=self._bin_after,
            )
            await crawl_deletions.delete_unwanted_visits(conn, self._unwanted)
            await db_captures.fill_lengths_of_revisits(conn, after=self._last_capture)
            await rebuild_tables.end(conn)
        return self._rebuilt

    async def _read_segment(self, name: str, start: int) -> None:
        """Index a segment's records. If it is unreadable, the rebuild continues with the others."""
        async with self._transaction() as conn:
            await segment_rows.set_indexed_with_ids(conn, {name: start})
        batches = read_batches(self._store.storage.scan(name, from_offset=start), BATCH)
        try:
            while batch := await asyncio.to_thread(next, batches, None):
                async with self._transaction() as conn:
                    await _index(conn, name, batch)
                self._has_deletions |= bool(batch.deletions)
                self._rebuilt.records += batch.records
                self._rebuilt.captures += len(batch.captures)
                self._rebuilt.problems += batch.problems
                self._on_progress(self._rebuilt)
        except (IndexUnavailable, StoreUnavailable):
            raise
        except StoreError as error:
            self._rebuilt.unreadable[name] = str(error)

    async def _next_entry_records(self) -> bool:
        """Process the next entry records; return whether there were any."""
        async with self._transaction() as conn:
            dated = await rebuild_tables.next_entry_records(conn, limit=BATCH)
            if not dated:
                return False
            places = [each.location for each in dated]
            read = await asyncio.to_thread(_read_entry_records, self._store, places, self._rebuilt)
            wanted, late = await split_deleted(conn, read, bin_after=self._bin_after)
            self._unwanted += late
            for group in without_repeated_entries(wanted):
                if self._bin_after is not None:
                    generations = {each.hash_url: each.generation for each, _ in group}
                    await crawl_deletions.move_earlier_to_bin(conn, generations)
                fresh = await restore_entries(conn, self._store, group, self._rebuilt.problems)
                self._rebuilt.snapshots += fresh
            await rebuild_tables.delete_entry_records(conn, dated[-1])
        return True


async def _index(conn: AsyncConnection, name: str, batch: ReadRecords) -> None:
    await segment_rows.set_indexed_with_ids(conn, {name: batch.end})
    await db_captures.insert_all(conn, batch.captures)
    await db_captures.insert_excluded_responses(conn, batch.excluded_responses)
    await db_captures.register_stated_digests(conn, batch.stated_digests)
    await rebuild_tables.store_conversions(conn, batch.conversions)
    await rebuild_tables.store_entry_records(conn, batch.entry_records)
    await tombstones.store(conn, batch.deletions)
    await tags_and_lists.apply_records(conn, batch.arrangements)


def _read_entry_records(
    store: SegmentStore, places: list[Location], rebuilt: Rebuilt
) -> list[StoredEntryRecord]:
    records = []
    for place in places:
        try:
            entry_record = read_entry_record(store.read(place).block.read())
            if entry_record:
                _check(entry_record)
                records.append((entry_record, place))
        except StoreUnavailable:
            raise
        except (ArchiverError, ValueError, OverflowError) as error:
            rebuilt.problems.append((place, str(error)))
    return records


def _check(entry_record: EntryRecord) -> None:
    """Reject an entry record that this program cannot have written.

    Raises:
        ArchiverError, ValueError: it can't belong to an entry of this archive.
    """
    url = entry_record.url
    if not is_archivable(url) or hash_url(url) != entry_record.hash_url:
        raise ValueError("An entry record has a hash that does not match its URL.")
    if entry_record.annotation.added_at is None:
        raise ValueError("An entry record has no saved date.")
    if entry_record.snapshot:
        to_datetime(entry_record.snapshot.timestamp)
