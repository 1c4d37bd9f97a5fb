"""Exports as WARC and WACZ."""

import asyncio
import hashlib
import json
import zipfile
from array import array
from bisect import bisect_right
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from itertools import chain, islice
from operator import itemgetter
from typing import IO, Any, cast

from archiver import __version__
from archiver.crawl.rebuild import capture_of_record, is_excluded_response
from archiver.crawl.record_building import entry_note, snapshot_note
from archiver.crawl.stored_content import read_snapshot_record, record_from_index
from archiver.crawl.visit_result import replay_urls
from archiver.db import attempts, entries, screenshots
from archiver.db import captures as db_captures
from archiver.db import snapshots as db_snapshots
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Revised
from archiver.db.snapshots import SnapshotRow
from archiver.db.statements import in_batches
from archiver.errors import InvalidRecord, StoreError, StoreUnavailable, TruncatedRecord
from archiver.model.capture import Capture, Location, RecordId, Timestamp
from archiver.model.entry import Snapshot
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Attempt, State
from archiver.model.rendering import Rendition
from archiver.model.requisite import RequisiteOutcome
from archiver.services.export_selection import Manifest, Report
from archiver.warc import wacz as warc_wacz
from archiver.warc.records import Record, RecordType, new_record_id
from archiver.warc.request_queries import RequestQuery, query_of_request
from archiver.warc.segment_scanning import Damage, Scanned
from archiver.warc.segments import SegmentStore
from archiver.warc.temporary_lines import SortedLines
from archiver.warc.wacz import META, cdxj_line, index_blocks
from archiver.warc.writer import warcinfo, write_record

PAGE = 1000
TOGETHER = 50
"""Number of snapshots whose records are located in one query."""
MAX_HOPS = 20
MAX_CHECKED_BYTES = 8 << 20
"""Maximum size of a range of records that are checked before they are copied."""
MAX_REQUEST_BYTES = 1 << 20
MAX_LISTED = 10_000
DAMAGE_URI = "urn:archiver:left-out"
"""WARC-Target-URI of the metadata record that lists the damaged parts an export leaves out."""
_PAGE_LOST = Failure(
    FailureKind.LOST, "Its page was damaged when the archive was exported. Save it again."
)
_LEFT_OUT = (
    "{} damaged parts of the archive are left out. The last record of archive/data.warc.gz lists "
    "them."
)


@dataclass(frozen=True, slots=True)
class ScriptResponse:
    """Response to a request other than GET, and the query that represents the request.

    The index of a WACZ file lists the response under its URL with this query.
    """

    response: Capture
    query: RequestQuery


@dataclass(frozen=True, slots=True)
class Piece:
    """A byte range of a segment that is copied unchanged, with the captures in it.

    Attributes:
        location: the byte range.
        captures: captures in the range.
        excluded_responses: responses in the range that are not replayed.
    """

    location: Location
    captures: tuple[Capture, ...]
    excluded_responses: tuple[ScriptResponse, ...] = ()


class _Places:
    """Byte ranges of segments; ``in`` tests whether a record starts in one of them."""

    def __init__(self, places: Iterable[Location]) -> None:
        self._ranges: dict[str, list[tuple[int, int]]] = {}
        for each in places:
            span = each.offset, each.offset + each.length
            self._ranges.setdefault(each.segment, []).append(span)
        for ranges in self._ranges.values():
            ranges.sort()

    def __contains__(self, place: Location) -> bool:
        ranges = self._ranges.get(place.segment, [])
        at = bisect_right(ranges, place.offset, key=itemgetter(0)) - 1
        return at >= 0 and place.offset < ranges[at][1]


class Selection:
    """Finder of snapshots and records for an export."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def snapshots(self, manifest: Manifest) -> AsyncGenerator[SnapshotRow, None]:
        """Yield the selected snapshots; for selected entries, entry by entry, newest first."""
        if manifest.selected.is_everything:
            read_after = partial(db_snapshots.after, last=manifest.last_snapshot)
            batches = in_batches(self._db, read_after, most=PAGE)
        else:
            batches = self._chosen_snapshots(manifest)
        async for batch in batches:
            for row in batch:
                yield row

    async def pieces(self, manifest: Manifest) -> AsyncGenerator[Piece, None]:
        """Yield the byte ranges to copy in their order on disk; no record is in two ranges."""
        if manifest.has_whole_segments:
            async for piece in self._whole_segments(manifest):
                yield piece
            return
        with SortedLines() as places:
            async for snapshots in self._chosen_snapshots(manifest):
                for start in range(0, len(snapshots), TOGETHER):
                    await self._collect_positions(snapshots[start : start + TOGETHER], places)
            lines_ = await asyncio.to_thread(iter, places)
            while batch := await asyncio.to_thread(_byte_ranges, lines_):
                for piece in batch:
                    yield piece

    async def notes(self, manifest: Manifest, damaged: Sequence[Damage]) -> AsyncIterator[Record]:
        """Yield new records of queued, failed or changed entries that no copied record describes.

        A snapshot whose record is damaged gets a new record too, which is built from the index. If
        the page of each snapshot of an entry is damaged, a record keeps the entry as a failed one.
        """
        record_ids = array("q", manifest.beyond_records)
        async with aclosing(self._replacements(manifest, damaged, record_ids)) as replacements:
            async for record in replacements:
                yield record
        for start in range(0, len(record_ids), PAGE):
            ids = record_ids[start : start + PAGE]
            async with self._db.read() as conn:
                by_id = await entries.with_revisions(conn, ids)
                failed = await attempts.of_entries(conn, ids)
            for entry_id, revised in by_id.items():
                failures = failed.get(entry_id, [])
                if manifest.has_whole_segments and revised.entry.state is State.FAILED:
                    failures = failures[:-1]  # the last attempt has a record already
                for record in _notes(revised, failures):
                    yield record

    async def _replacements(
        self, manifest: Manifest, damaged: Sequence[Damage], record_ids: "array[int]"
    ) -> AsyncGenerator[Record, None]:
        """Yield new records for the snapshots in damaged parts.

        Entries of which only the metadata must be written are added to ``record_ids``.
        """
        affected: dict[int, dict[int, SnapshotRow]] = {}
        lost_pages = _Places(each.location for each in damaged)
        for part in damaged:
            async with self._db.read() as conn:
                rows = await db_snapshots.with_records_in(conn, part.location)
            for row in rows:
                affected.setdefault(row.entry_id, {})[row.row_id] = row
        ids = [each for each in affected if each in {*manifest.entries}]
        for start in range(0, len(ids), PAGE):
            async with self._db.read() as conn:
                revised_entries = await entries.with_revisions(conn, ids[start : start + PAGE])
            for entry_id, revised in revised_entries.items():
                notes = affected[entry_id].values()
                readable = [
                    each for each in notes if each.snapshot.capture.location not in lost_pages
                ]
                for each in readable:
                    entry = replace(revised, generation=0)
                    yield snapshot_note(entry, record_from_index(each.snapshot))
                if len(notes) == revised.entry.snapshot_count and not readable:
                    yield entry_note(replace(revised, generation=0), datetime.now(UTC), _PAGE_LOST)
                elif not readable and entry_id not in record_ids:
                    record_ids.append(entry_id)

    async def _chosen_snapshots(self, manifest: Manifest) -> AsyncIterator[list[SnapshotRow]]:
        for entry_id in manifest.entries:
            before: Timestamp | None = None
            while True:
                async with self._db.read() as conn:
                    page = await db_snapshots.of_entry(
                        conn, entry_id, before=before, last=manifest.last_snapshot, limit=PAGE
                    )
                yield page
                if len(page) < PAGE:
                    break
                before = page[-1].snapshot.timestamp

    async def _whole_segments(self, manifest: Manifest) -> AsyncGenerator[Piece, None]:
        for name, end in sorted(manifest.segments.items()):
            start = 0
            while start < end:
                async with self._db.read() as conn:
                    page = await db_captures.in_segment(
                        conn, name, first=start, end=end, limit=PAGE
                    )
                last = page[-1].location if len(page) == PAGE else None
                until = last.offset + last.length if last else end
                yield Piece(Location(name, start, until - start), tuple(page))
                start = until

    async def _collect_positions(self, rows: Sequence[SnapshotRow], places: SortedLines) -> None:
        """Collect the positions of all records of snapshots, as sortable lines."""
        seeds = await asyncio.to_thread(lambda: [_needed(self._store, row.record) for row in rows])
        async with self._db.read() as conn:
            positions = [
                await _captures_of(conn, row.snapshot, requisites)
                for row, (requisites, _) in zip(rows, seeds, strict=True)
            ]
            drawn = await screenshots.of_snapshots(conn, [row.row_id for row in rows])
            sent = [
                await db_captures.excluded_response_locations(conn, excluded)
                for _, excluded in seeds
            ]
        renditions = [drawn.get(row.row_id, ()) for row in rows]
        lines = chain.from_iterable(map(self._lines_of, rows, positions, sent, renditions))
        await asyncio.to_thread(places.add_all, lines)

    def _lines_of(
        self,
        row: SnapshotRow,
        captures: list[Capture],
        sent: Mapping[RecordId, Location],
        renditions: Sequence[Rendition],
    ) -> list[bytes]:
        responses = [*((each.record_id, each.location) for each in captures), *sent.items()]
        places = [row.record, *sent.values(), *self._requests_of(responses)]
        places += [each.location for each in renditions]
        if row.snapshot.article:
            places.append(row.snapshot.article)
        return [
            *(_write_line(each.location, each) for each in captures),
            *(_write_line(place, None) for place in places),
        ]

    def _requests_of(self, responses: Sequence[tuple[RecordId, Location]]) -> list[Location]:
        """Return the positions of the requests of responses.

        A request record immediately follows the record of its response.
        """
        places = []
        for record_id, place in responses:
            following = replace(place, offset=place.offset + place.length)
            try:
                record = self._store.read(following)
                if record.type is not RecordType.REQUEST:
                    continue
                if record.get("warc-concurrent-to").strip("<>") == record_id:
                    places.append(Location(place.segment, record.offset, record.finish()))
            except StoreError:
                places += self._damage_at(following)
        return places

    def _damage_at(self, place: Location) -> list[Location]:
        """Return the location of a damaged record; empty at the end of the segment."""
        try:
            records = self._store.storage.scan(place.segment, from_offset=place.offset)
            return [each.location for each in islice(records, 1) if isinstance(each, Damage)]
        except StoreError:
            return []  # the export reports the damage of the response


def _needed(
    store: SegmentStore, place: Location
) -> tuple[tuple[RequisiteOutcome, ...], tuple[RecordId, ...]]:
    """Return the requisites and excluded responses of a snapshot.

    Both are empty if the record of the snapshot is damaged.
    """
    try:
        record = read_snapshot_record(store, place)
    except StoreError:
        return (), ()  # the export reports the damage when it copies the record
    return record.requisites, record.excluded_responses


def _notes(revised: Revised, failed: Sequence[Attempt]) -> Iterator[Record]:
    """Yield records of failed attempts, queue state and user metadata."""
    # The generation counts deletions in this archive. It means nothing to another archive.
    revised, state = replace(revised, generation=0), revised.entry.state
    for each in failed if state is not State.SAVED else ():
        yield entry_note(revised, each.at, each.failure)
    if state is not State.FAILED or revised.is_unrecorded:
        now = datetime.now(UTC).replace(microsecond=0)
        yield entry_note(revised, now, is_waiting=state is State.QUEUED)


async def _captures_of(
    conn: AsyncConnection, snapshot: Snapshot, requisites: Iterable[RequisiteOutcome]
) -> list[Capture]:
    """Return the captures that replay needs: redirects, responses and originals of revisits."""
    by_location: dict[Location, Capture] = {snapshot.capture.location: snapshot.capture}
    for url in dict.fromkeys(replay_urls(snapshot.url, snapshot.capture.url, requisites)):
        step: str | None = url
        for _ in range(MAX_HOPS):
            capture = await db_captures.nearest(conn, step, snapshot.timestamp) if step else None
            if capture is None:
                break
            by_location[capture.location] = capture
            step = capture.redirect_to
    for capture in [*by_location.values()]:
        if capture.is_revisit:
            original = await db_captures.original_or_deleted(conn, capture.payload_digest)
            if original:
                by_location[original.location] = original
    return [*by_location.values()]


def _write_line(place: Location, capture: Capture | None) -> bytes:
    document = json.dumps(asdict(capture)) if capture else ""
    return f"{place.segment}\t{place.offset:016x}\t{place.length:x}\t{document}\n".encode()


def _byte_ranges(lines: Iterator[bytes]) -> list[Piece]:
    """Return the byte ranges of the next ``PAGE`` records; adjacent records form one range."""
    pieces: list[Piece] = []
    for piece in map(_read_line, islice(lines, PAGE)):
        last, current = pieces[-1].location if pieces else None, piece.location
        if (
            last
            and replace(last, offset=last.offset + last.length, length=current.length) == current
        ):
            joined = replace(last, length=last.length + current.length)
            pieces[-1] = Piece(joined, pieces[-1].captures + piece.captures)
        else:
            pieces.append(piece)
    return pieces


def _read_line(line: bytes) -> Piece:
    segment, offset, length, document = line.decode().rstrip("\n").split("\t", 3)
    place = Location(segment, int(offset, 16), int(length, 16))
    if not document:
        return Piece(place, ())
    return Piece(place, (Capture(**json.loads(document) | {"location": place}),))


SOFTWARE = f"archiver/{__version__}"


class Packages:
    """Exports as one WARC or WACZ file."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._selection = Selection(db, store)

    async def warc(
        self, manifest: Manifest, *, name: str, report: Report
    ) -> AsyncGenerator[bytes, None]:
        """Yield a WARC file: a warcinfo record, then the copied records.

        Damaged records are left out, and a metadata record at the end lists them. Entries without
        copied records get new records.

        Args:
            manifest: contents of the export.
            name: name of the file, for its warcinfo record.
            report: report to which damaged parts are added.
        """
        yield _warcinfo_bytes(name)
        contents = self._contents(manifest, report, lambda _: None)
        async with aclosing(contents):
            async for data in contents:
                yield data

    async def wacz(
        self, manifest: Manifest, *, title: str, report: Report
    ) -> AsyncGenerator[bytes, None]:
        """Yield a WACZ file (1.1.1): a WARC file, its index, a list of its pages, and digests."""
        zip_ = _Zip()
        with SortedLines() as lines:
            zip_.open(warc_wacz.DATA)
            zip_.write(_warcinfo_bytes("data.warc.gz"))
            index = partial(_collect_index_lines, zip_, lines)
            async with aclosing(self._contents(manifest, report, index)) as contents:
                async for data in contents:
                    await asyncio.to_thread(zip_.write, data)
                    yield zip_.take()
            zip_.close()
            yield await asyncio.to_thread(_add_index, zip_, lines)
        first = None
        async with aclosing(self._selection.snapshots(manifest)) as snapshots:
            zip_.open(warc_wacz.PAGES)
            zip_.write(f"{warc_wacz.PAGES_HEAD}\n".encode())
            async for row in snapshots:
                first = first or row.snapshot
                zip_.write(warc_wacz.page_line(row.snapshot).encode("utf-8", "replace"))
                yield zip_.take()
            zip_.close()
        main_page = first if manifest.selected.hash_url else None
        yield await asyncio.to_thread(_finish, zip_, title, main_page, len(report.damaged))

    async def _contents(
        self, manifest: Manifest, report: Report, on_piece: Callable[[Piece], None]
    ) -> AsyncGenerator[bytes, None]:
        """Yield the copied records, then new records of entries without copied ones.

        Args:
            manifest: contents of the export.
            report: report to which damaged parts are added. A last record lists them.
            on_piece: called in a thread before the bytes of each copied range.
        """
        damaged: list[Damage] = []
        async with aclosing(self._undamaged(manifest, damaged)) as pieces:
            async for piece in pieces:
                await asyncio.to_thread(on_piece, piece)
                copied = self._store.copy(piece.location)
                while (data := await asyncio.to_thread(next, copied, None)) is not None:
                    yield data
        async for record in self._selection.notes(manifest, damaged):
            yield await asyncio.to_thread(_packed, record)
        if damaged:
            yield await asyncio.to_thread(_packed, _damage_record(damaged))
        for each in damaged:
            report.leave_out(str(each))

    async def _undamaged(
        self, manifest: Manifest, damaged: list[Damage]
    ) -> AsyncGenerator[Piece, None]:
        """Yield the ranges of readable records; collect the damaged ones."""
        async with aclosing(self._selection.pieces(manifest)) as pieces:
            async for piece in pieces:
                checked = _checked(self._store, piece)
                while (each := await asyncio.to_thread(next, checked, None)) is not None:
                    if isinstance(each, Damage):
                        damaged.append(each)
                    else:
                        yield each


class _Zip:
    """Zip file that is written sequentially; ``take`` returns the bytes written so far.

    Members are stored without compression: their contents are compressed already, and readers fetch
    byte ranges of them.
    """

    def __init__(self) -> None:
        self._sink = Sink()
        self._zip = zipfile.ZipFile(cast("IO[bytes]", self._sink), "w", zipfile.ZIP_STORED)
        self._member: IO[bytes] | None = None
        self._digest = hashlib.sha256()
        self._path = ""
        self.written = 0
        self.resources: list[warc_wacz.Resource] = []

    def open(self, path: str) -> None:
        """Start a member."""
        self._path, self._digest, self.written = path, hashlib.sha256(), 0
        # The default date of ZipInfo (1980) is used, so that the same pages give the same bytes.
        self._member = self._zip.open(zipfile.ZipInfo(path), "w", force_zip64=True)

    def write(self, data: bytes) -> None:
        """Append data to the member."""
        if self._member is None:
            raise ValueError("no member is open")
        self._member.write(data)
        self._digest.update(data)
        self.written += len(data)

    def close(self) -> None:
        """End the member."""
        if self._member:
            self._member.close()
            digest = self._digest.hexdigest()
            self.resources.append(warc_wacz.Resource(self._path, self.written, digest))

    def add(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a whole member."""
        self.open(path)
        for piece in pieces:
            self.write(piece)
        self.close()

    def take(self) -> bytes:
        """Return and clear the pending bytes."""
        return self._sink.take()

    def finish(self) -> bytes:
        """Return the end of the file."""
        self._zip.close()
        return self.take()


class Sink:
    """Write-only file object; written bytes are buffered until they are taken."""

    def __init__(self) -> None:
        self._ready = bytearray()

    def write(self, data: bytes, /) -> int:
        """Append bytes."""
        self._ready += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: ``take`` returns everything."""

    def take(self) -> bytes:
        """Return and clear the written bytes."""
        ready, self._ready = bytes(self._ready), bytearray()
        return ready


def _warcinfo_bytes(name: str) -> bytes:
    created = datetime.now(UTC).replace(microsecond=0)
    return _packed(warcinfo(filename=name, software=SOFTWARE, date=created))


def _damage_record(damaged: Sequence[Damage]) -> Record:
    """Return a metadata record that lists the damaged parts that an export leaves out."""
    lines = [f"left-out: {each}" for each in damaged[:MAX_LISTED]]
    lines.insert(0, f"left-out-count: {len(damaged)}")
    block = "".join(f"{' '.join(line.split())}\r\n" for line in lines).encode()
    now = datetime.now(UTC).replace(microsecond=0)
    return Record(
        RecordType.METADATA, new_record_id(), now, DAMAGE_URI, "application/warc-fields", block
    )


def _packed(record: Record) -> bytes:
    sink = BytesIO()
    write_record(record, sink)
    return sink.getvalue()


def _checked(store: SegmentStore, piece: Piece) -> Iterator[Piece | Damage]:
    """Decompress the records of a range; yield ranges of intact records, and damaged parts.

    Raises:
        StoreUnavailable: the object store can't be reached.
    """
    captures = {each.location.offset: each for each in piece.captures}
    place, end = piece.location, piece.location.offset + piece.location.length
    expected, problem = _Range(place.segment, place.offset), "The segment is too short."
    try:
        for each in store.storage.scan(place.segment, from_offset=place.offset):
            if each.offset >= end:
                break
            if isinstance(each, Damage):
                yield from expected.pieces()
                length = min(each.location.length, end - each.offset)
                yield replace(each, location=replace(each.location, length=length))
                expected = _Range(place.segment, each.offset + length)
                continue
            try:
                expected.add(each, captures)
            except (InvalidRecord, TruncatedRecord):
                continue  # the scan yields the damage next
            if expected.length >= MAX_CHECKED_BYTES:
                yield from expected.pieces()
                expected = _Range(place.segment, expected.start + expected.length)
    except StoreUnavailable:
        raise
    except StoreError as error:
        problem = str(error)
    yield from expected.pieces()
    if (start := expected.start + expected.length) < end:
        yield Damage(Location(place.segment, start, end - start), problem)


class _Range:
    """Range of adjacent intact records."""

    def __init__(self, segment: str, start: int) -> None:
        self._segment = segment
        self.start = start
        self.length = 0
        self._captures: list[Capture] = []
        self._script_responses: list[ScriptResponse] = []
        self._awaiting_request: Capture | None = None

    def add(self, scanned: Scanned, captures: Mapping[int, Capture]) -> None:
        """Read a record and add it.

        Raises:
            InvalidRecord, TruncatedRecord: the record is damaged.
        """
        record, place = scanned.record, Location(self._segment, scanned.offset, 0)
        excluded = capture_of_record(record, place) if is_excluded_response(record) else None
        is_request = record.type is RecordType.REQUEST and self._awaiting_request is not None
        request = record.block.read(MAX_REQUEST_BYTES) if is_request else b""
        location = scanned.place()
        if self._awaiting_request and (query := query_of_request(request)):
            self._script_responses.append(ScriptResponse(self._awaiting_request, query))
        self._awaiting_request = replace(excluded, location=location) if excluded else None
        if capture := captures.get(location.offset):
            self._captures.append(capture)
        self.length += location.length

    def pieces(self) -> Iterator[Piece]:
        """Yield the range, unless it is empty."""
        if self.length:
            location = Location(self._segment, self.start, self.length)
            yield Piece(location, tuple(self._captures), tuple(self._script_responses))


def _collect_index_lines(zip_: _Zip, lines: SortedLines, piece: Piece) -> None:
    """Collect the index lines of a range that is written to the open zip member next."""
    base = zip_.written

    def place(capture: Capture) -> dict[str, Any]:
        offset = base + capture.location.offset - piece.location.offset
        return {"filename": "data.warc.gz", "offset": offset}

    for each in piece.captures:
        lines.add(cdxj_line(each, **place(each)).encode())
    for excluded in piece.excluded_responses:
        response = excluded.response
        lines.add(cdxj_line(response, query=excluded.query, **place(response)).encode())


def _add_index(zip_: _Zip, lines: SortedLines) -> bytes:
    """Add the index of a package; its blocks come first, because pointers contain their offsets."""
    pointers = [META]

    def blocks() -> Iterator[bytes]:
        for block in index_blocks(lines):
            pointers.append(block.pointer)
            yield block.packed

    zip_.add(warc_wacz.BLOCKS, blocks())
    zip_.add(warc_wacz.POINTERS, (line.encode() for line in pointers))
    return zip_.take()


def _finish(zip_: _Zip, title: str, main_page: Snapshot | None, damaged: int) -> bytes:
    described = warc_wacz.data_package(
        zip_.resources,
        title=title,
        software=SOFTWARE,
        created=datetime.now(UTC),
        main_page=main_page,
        description=_LEFT_OUT.format(damaged) if damaged else "",
    )
    zip_.add(warc_wacz.PACKAGE, [described])
    zip_.add(warc_wacz.DIGEST, [warc_wacz.package_digest(described)])
    return zip_.finish()
