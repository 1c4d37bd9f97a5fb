"""Rebuilding database rows from records.

Two passes: captures are indexed while segments are read; then entry records are processed in order
of time, each with its article. ``crash_recovery`` does this for the records of a killed process in
one transaction, so that a tail is indexed completely or not at all; ``services.reindex`` does it
for a whole archive in batches, and continues after an interruption.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from archiver.crawl import deletions as crawl_deletions
from archiver.crawl.rebuild_entries import (
    Placed,
    Problem,
    apart,
    restore,
    split_duplicates,
    split_unwanted,
    unused_captures,
)
from archiver.crawl.visit_result import UnwantedVisit
from archiver.db import captures as db_captures
from archiver.db import queue, rebuild_tables, segment_rows, tags_and_lists, tombstones
from archiver.db.dialects import is_postgresql
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
from archiver.logs import get_log
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
from archiver.warc.records import ANSWERS, ORIGINAL_DIGEST, RecordType, digest_of, is_ours
from archiver.warc.segment_inventory import UnusableFile
from archiver.warc.segment_scanning import Damage, Scanned
from archiver.warc.segments import SegmentStore


@dataclass(slots=True)
class Findings:
    """Content of a part of a segment.

    Attributes:
        records: number of records read.
        end: offset after the last of them.
        captures: response and revisit records; the length of a revisit is 0 here.
        answers: ids and locations of responses that are not what a GET of their URL returns.
        conversions: ids and locations of conversion records.
        entry_records: locations and dates of metadata records.
        deletions: deletion records.
        arrangements: lists records.
        stated_digests: original digests of imported payloads.
        problems: unusable records, and why.
    """

    records: int = 0
    end: int = 0
    captures: list[Capture] = field(default_factory=list)
    answers: list[tuple[RecordId, Location]] = field(default_factory=list)
    conversions: list[tuple[RecordId, Location]] = field(default_factory=list)
    entry_records: list[Dated] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)
    arrangements: list[Arrangement] = field(default_factory=list)
    stated_digests: dict[str, PayloadDigest] = field(default_factory=dict)
    problems: list[tuple[Location, str]] = field(default_factory=list)


def read_findings(scanned: Iterable[Scanned | Damage], limit: int) -> Findings:
    """Read up to ``limit`` records from a scan."""
    findings = Findings()
    for each in scanned:
        if isinstance(each, Damage):
            place = each.location
            if each.is_truncated:
                # The record may still be being written, so the next recovery must read it again.
                place = replace(place, length=0)
            else:
                findings.problems.append((each.location, each.problem))
        else:
            place = _read_one(findings, each)
        findings.records += 1
        findings.end = place.offset + place.length
        if findings.records >= limit:
            break
    return findings


def _read_one(findings: Findings, scanned: Scanned) -> Location:
    """Add a record's content to ``findings``; return its location."""
    record, head = scanned.record, None
    start = Location(scanned.segment, record.offset, 0)
    of_no_entry = None
    try:
        if is_capture(record):
            head = capture_of(record, start)
        elif record.type is RecordType.METADATA:
            of_no_entry = _of_no_entry(record)
        place = scanned.place()
    except StoreError as error:
        findings.problems.append((start, str(error)))
        return start
    if head:
        findings.captures.append(replace(head, location=place))
        if stated := record.get(ORIGINAL_DIGEST.lower()):
            findings.stated_digests[stated] = head.payload_digest
    elif record.type in (RecordType.RESPONSE, RecordType.CONVERSION):
        is_answer = record.type is RecordType.RESPONSE
        (findings.answers if is_answer else findings.conversions).append((record.id, place))
    elif isinstance(of_no_entry, Deletion):
        findings.deletions.append(of_no_entry)
    elif of_no_entry:
        findings.arrangements.append(of_no_entry)
    elif record.type is RecordType.METADATA:
        findings.entry_records.append(Dated(int(record.date.timestamp()), place))
    return place


def _of_no_entry(record: StoredRecord) -> Deletion | Arrangement | None:
    """Read a deletion or lists record; None for an entry record."""
    if record.target_uri == DELETION_URI:
        return read_deletion(record.block.read())
    if record.target_uri == LISTS_URI:
        return read_arrangement(record.block.read())
    return None


def is_capture(record: StoredRecord) -> bool:
    """Return whether a record is what a GET of its URL returns, and so has a capture row."""
    is_response = record.type in (RecordType.RESPONSE, RecordType.REVISIT)
    return is_response and not record.get(ANSWERS.lower())


def is_answer(record: StoredRecord) -> bool:
    """Return whether a record is a response that is not what a GET of its URL returns."""
    return record.type is RecordType.RESPONSE and bool(record.get(ANSWERS.lower()))


def capture_of(
    record: StoredRecord,
    location: Location,
    watch: Callable[[Iterator[bytes]], Iterator[bytes]] = lambda pieces: pieces,
) -> Capture:
    """Build the capture row of a response or revisit record; ``watch`` wraps its payload.

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
    """Start of a payload, copied while all of it is read."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def watch(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces unchanged."""
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
    stated = record.get("warc-payload-digest")
    if not is_ours(stated):
        raise InvalidRecord(f"A revisit has an unsupported payload digest: {stated[:80]}")
    return PayloadDigest(stated)


def chunks(scanned: Iterator[Scanned | Damage], size: int) -> Iterator[Findings]:
    """Read a scan in batches of ``size`` records."""
    while (findings := read_findings(scanned, size)).records:
        yield findings


CHUNK = 500
UNHEARD = timedelta(minutes=10)
"""Maximum time a process may continue a job that another process has ended.

With SQLite no process resumes.
"""
Transaction = Callable[[], AbstractAsyncContextManager[AsyncConnection]]


@dataclass(slots=True)
class Rebuilt:
    """Progress and problems of a rebuild.

    Attributes:
        records, captures, snapshots: numbers read so far.
        problems: unusable locations, and why.
        unreadable: segments that could not be read, or not to their end, and why.
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
        tails: segment names and start offsets.
    """

    @asynccontextmanager
    async def same() -> AsyncIterator[AsyncConnection]:
        yield conn

    last = await db_captures.last_row(conn)
    await rebuild_tables.begin(conn, software="", first_capture=last, temporary=True)
    unheard = UNHEARD if is_postgresql(conn) else timedelta(0)
    rebuilt = await _Rebuild(store, same, lambda _: None, unheard=unheard).run(tails)
    await crawl_deletions.delete_unwanted_visits(
        conn, store, await unused_captures(conn, last, unheard=unheard)
    )
    return rebuilt


async def fill_index(
    db: Database,
    store: SegmentStore,
    names: list[str],
    *,
    software: str,
    on_progress: OnProgress = lambda _: None,
) -> Rebuilt:
    """Fill an index from whole segments in batches, or continue an interrupted run.

    Args:
        db: empty, or left by an interrupted run of the same software.
        store: the segment store.
        names: all segments.
        software: name and version of this program.
        on_progress: called after each batch.
    """
    async with db.write() as conn:
        await rebuild_tables.begin(conn, software=software, first_capture=0, temporary=False)
        indexed = await segment_rows.indexed(conn)
    tails = {name: indexed.get(name, 0) for name in names}
    rebuilt = await _Rebuild(store, db.write, on_progress, unheard=timedelta(0)).run(tails)
    async with db.write() as conn:
        await tags_and_lists.delete_outdated_lists(conn)
    return rebuilt


class _Rebuild:
    """One rebuild; ``transaction`` opens a transaction or returns the open one."""

    def __init__(
        self,
        store: SegmentStore,
        transaction: Transaction,
        on_progress: OnProgress,
        *,
        unheard: timedelta,
    ) -> None:
        self._store = store
        self._transaction = transaction
        self._on_progress = on_progress
        self._unheard = unheard
        self._rebuilt = Rebuilt()
        self._late = list[UnwantedVisit]()
        self._has_deletions = False

    async def run(self, tails: Mapping[str, int]) -> Rebuilt:
        for name in sorted(tails):
            await self._read_segment(name, tails[name])
        while await self._next_entry_records():
            self._on_progress(self._rebuilt)
        async with self._transaction() as conn:
            await rebuild_tables.share_articles(conn)
            first = await rebuild_tables.first_capture(conn)
            await crawl_deletions.erase_named(conn, after=0 if self._has_deletions else first)
            await crawl_deletions.delete_unwanted_visits(conn, self._store, self._late)
            await db_captures.give_lengths(conn, after=first)
            await rebuild_tables.end(conn)
        return self._rebuilt

    async def _read_segment(self, name: str, start: int) -> None:
        """Index a segment's captures; an unreadable segment does not stop the others."""
        async with self._transaction() as conn:
            await segment_rows.set_indexed_with_ids(conn, {name: start})
        batches = chunks(self._store.storage.scan(name, from_offset=start), CHUNK)
        try:
            while findings := await asyncio.to_thread(next, batches, None):
                async with self._transaction() as conn:
                    await _index(conn, name, findings)
                self._has_deletions |= bool(findings.deletions)
                self._rebuilt.records += findings.records
                self._rebuilt.captures += len(findings.captures)
                self._rebuilt.problems += findings.problems
                self._on_progress(self._rebuilt)
        except (IndexUnavailable, StoreUnavailable):
            raise
        except StoreError as error:
            self._rebuilt.unreadable[name] = str(error)

    async def _next_entry_records(self) -> bool:
        """Process the next entry records; return whether there were any."""
        async with self._transaction() as conn:
            dated = await rebuild_tables.next_entry_records(conn, limit=CHUNK)
            if not dated:
                return False
            places = [each.location for each in dated]
            read = await asyncio.to_thread(_read_entry_records, self._store, places, self._rebuilt)
            held, late = await split_unwanted(conn, read)
            kept, again = await split_duplicates(conn, held, unheard=self._unheard)
            self._late += [*late, *again]
            for group in apart(kept):
                fresh = await restore(conn, self._store, group, self._rebuilt.problems)
                self._rebuilt.snapshots += fresh
            await rebuild_tables.forget_entry_records(conn, dated[-1])
        return True


async def _index(conn: AsyncConnection, name: str, findings: Findings) -> None:
    await segment_rows.set_indexed_with_ids(conn, {name: findings.end})
    await db_captures.insert_all(conn, findings.captures)
    await db_captures.insert_answers(conn, findings.answers)
    await db_captures.note_stated_digests(conn, findings.stated_digests)
    await rebuild_tables.remember_conversions(conn, findings.conversions)
    await rebuild_tables.remember_entry_records(conn, findings.entry_records)
    await tombstones.note(conn, findings.deletions)
    await tags_and_lists.note(conn, findings.arrangements)


def _read_entry_records(
    store: SegmentStore, places: list[Location], rebuilt: Rebuilt
) -> list[Placed]:
    found = []
    for place in places:
        try:
            entry_record = read_entry_record(store.read(place).block.read())
            if entry_record:
                _check(entry_record)
                found.append((entry_record, place))
        except StoreUnavailable:
            raise
        except (ArchiverError, ValueError, OverflowError) as error:
            rebuilt.problems.append((place, str(error)))
    return found


def _check(entry_record: EntryRecord) -> None:
    """Reject a record whose fields contradict each other, which this program did not write.

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


LOGGED = 20

log = get_log(__name__)


async def take_up(
    db: Database, store: SegmentStore, left: Mapping[str, int], dead: Sequence[str]
) -> list[UnusableFile]:
    """Index records of dead processes and requeue their jobs; return unreadable segments."""
    async with db.write() as conn:
        indexed = await segment_rows.indexed(conn)
        tails = {
            name: indexed.get(name, 0) for name, size in left.items() if size > indexed.get(name, 0)
        }
        rebuilt = await build_within(conn, store, tails)
        for owner in dead:
            held = await queue.leased_by(conn, owner)
            await queue.requeue(conn, held, owner=owner, interrupted=True, now=datetime.now(UTC))
    for place, why in rebuilt.problems[:LOGGED]:
        log.warning(
            ("skipping damaged bytes"), segment=place.segment, offset=place.offset, problem=why
        )
    if dead or rebuilt.captures or rebuilt.snapshots:
        log.info("recovered", segments=len(tails), snapshots=rebuilt.snapshots, processes=len(dead))
    return [UnusableFile(name, why, is_loss=True) for name, why in rebuilt.unreadable.items()]
