"""Fixity: every stored record is read, and compared with its digest and with the index."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, islice

from archiver.crawl.crash_recovery import finish_compactions
from archiver.crawl.rebuild import capture_of_record, has_capture_row, is_excluded_response
from archiver.crawl.stored_content import read_snapshot_record
from archiver.db import (
    captures,
    edit_history,
    entries,
    screenshots,
    segment_rows,
    snapshots,
    tombstones,
)
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Revised
from archiver.db.statements import MAX_BATCH, in_batches
from archiver.errors import StoreError
from archiver.http.media_types import is_generic, parse_media_type
from archiver.model.annotation import Annotation, tag_key
from archiver.model.capture import Capture, Location, RecordId
from archiver.model.rendering import Rendering, Rendition
from archiver.warc import segment_scanning
from archiver.warc.metadata_records import (
    EntryRecord,
    SnapshotRecord,
    hash_of_uri,
    read_entry_record,
)
from archiver.warc.reader import Verification
from archiver.warc.records import RecordType
from archiver.warc.segment_inventory import SegmentFile, Survey, UnusableFile
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segments import SegmentStore

CHUNK = 200
_NO_ROW = "The index has no row for it."
_UNREAD = (
    "The index does not cover all of it yet. It will be indexed when its machine is started "
    "again, or by `archiver reindex`."
)
_NO_SUCH_RECORD = "The index refers to a record that is not there."
_REPLACED = "It was compacted during this check. Verify again to read its replacement."
_REINDEX = "`archiver reindex` restores it from the record."
_DIFFERS = "Its {names} in the index differ from its record at {where}. " + _REINDEX
_OLDER = "The index has an older version of it than the record at {where}. " + _REINDEX
_NO_ENTRY = "The index lacks this entry, which has a record at {where}. " + _REINDEX
_NO_SNAPSHOT = "The index lacks this snapshot, which has a record at {where}. " + _REINDEX
_NO_RECORD = (
    "No intact record has its title, tags and note as the index shows them. `archiver reindex` "
    "keeps them and writes a new record."
)
TRUNCATED = "An incomplete record of a process that was killed; not part of the archive:"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a verification.

    Attributes:
        where: file, byte offset or snapshot.
        problem: sentence that describes the problem.
        is_wrong: whether it is an error; otherwise it is a note.
    """

    where: str
    problem: str
    is_wrong: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a verification."""

    records: int
    bytes_read: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class _Checked:
    """A verified record.

    Attributes:
        location: location of the record.
        capture: the capture that the record contains, if any.
        findings: problems of the record.
        excluded_id: id of the record, if it is a response that is not a capture: a partial one, or
            the response to a request other than GET, which scripts make. None for other records.
        entry_record: the parsed record, if it is an intact entry record.
    """

    location: Location
    capture: Capture | None
    findings: tuple[Finding, ...]
    excluded_id: RecordId | None = None
    entry_record: EntryRecord | None = None


@dataclass(frozen=True, slots=True)
class _Batch:
    """Records of a segment between two byte offsets, inclusive."""

    checked: list[_Checked]
    first: int
    last: int


class Fixity:
    """Verification of the archive."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def verify(
        self, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> AsyncIterator[Finding]:
        """Read every stored record, and compare it with its digest and with the index.

        Records added by running processes during the check are skipped.
        """
        await finish_compactions(self._db, self._store)
        async with self._db.read() as conn:
            indexed = await segment_rows.indexed_sizes(conn)
        survey = await asyncio.to_thread(self._store.storage.survey)
        for finding in _check_other_files(survey, indexed):
            yield finding
        compared = _EntryComparison(self._db)
        total, done, records = sum(each.size for each in survey.segments), 0, 0
        for each in survey.segments:
            end = indexed.get(each.name, 0)
            async for batch in self._batches(each, end):
                records += len(batch.checked)
                on_progress(Progress(records, done + batch.last + 1, total))
                findings = [one for checked in batch.checked for one in checked.findings]
                findings += await self._compare(each.name, batch, end)
                await compared.compare([one for one in batch.checked if one.location.offset < end])
                if findings and each.name in indexed and await self._is_replaced(each.name):
                    yield Finding(each.name, _REPLACED, is_wrong=False)
                    break
                for finding in findings:
                    yield finding
            done += each.size
            if each.size < end:
                yield Finding(each.name, "The file is shorter than the part that was indexed.")
        async for finding in self._verify_snapshots():
            yield finding
        for finding in await self._without_record(compared, indexed):
            yield finding
        for finding in await self._unread(survey, indexed):
            yield finding

    @property
    def unusable_files(self) -> tuple[UnusableFile, ...]:
        """Files among the segments that could not be used in the last survey."""
        return self._store.storage.unusable_files

    async def _is_replaced(self, name: str) -> bool:
        """Return whether an indexed segment was compacted in the meantime."""
        async with self._db.read() as conn:
            return not await segment_rows.indexed_of(conn, [name])

    async def _unread(self, survey: Survey, before: Mapping[str, int]) -> list[Finding]:
        """Return findings for unindexed bytes of segments without a live writer."""
        async with self._db.read() as conn:
            indexed = await segment_rows.indexed_sizes(conn)
        replaced = {*survey.superseded.values(), *(before.keys() - indexed.keys())}
        unread = [
            each
            for each in survey.segments
            if indexed.get(each.name, 0) < each.size and each.name not in replaced
        ]
        alive = self._store.lock.is_alive
        return [
            Finding(each.name, _UNREAD, is_wrong=False)
            for each in unread
            if not await asyncio.to_thread(alive, each.writer)
        ]

    async def _batches(self, file: SegmentFile, end: int) -> AsyncIterator[_Batch]:
        """Yield the records of a segment in batches.

        While the writer of the segment is alive, records from the offset ``end`` on may be
        incomplete, so they are not read. If the last record is intact, a batch without records
        follows for the bytes after it, so that index rows that refer to these bytes are found.
        """
        is_written = await asyncio.to_thread(self._store.lock.is_alive, file.writer)
        records = _check_records(self._store.storage, file.name, end if is_written else None)
        first, is_whole = 0, True
        while checked := await asyncio.to_thread(lambda: list(islice(records, CHUNK))):
            last = checked[-1].location.offset
            yield _Batch(checked, first, last)
            first, is_whole = last + 1, not checked[-1].findings
        if is_whole:
            yield _Batch([], first, min(end, file.size) - 1)

    async def _compare(self, name: str, batch: _Batch, end: int) -> list[Finding]:
        """Compare the index rows of a batch with its records.

        Records from the offset ``end`` on need not have an index row yet.
        """
        first, last = batch.first, batch.last
        async with self._db.read() as conn:
            rows = await captures.between(conn, name, first, last)
            sent = await captures.excluded_responses_between(conn, name, first, last)
        findings = [*_unmatched_excluded(name, sent, batch.checked)]
        for checked in batch.checked:
            if checked.capture is None:
                continue
            row = rows.pop(checked.location.offset, None)
            if row is None:
                if checked.location.offset < end:
                    findings.append(Finding(_where(checked.location), _NO_ROW))
            elif _comparable(row) != _comparable(checked.capture, row):
                findings.append(
                    Finding(_where(checked.location), ("It does not match its index row."))
                )
        findings += [Finding(_where(row.location), _NO_SUCH_RECORD) for row in rows.values()]
        return findings

    async def _without_record(
        self, compared: "_EntryComparison", before: Mapping[str, int]
    ) -> list[Finding]:
        """Return findings for entries that differ from their records or have none."""
        async with self._db.read() as conn:
            unmatched = await compared.unmatched(conn)
            indexed = await segment_rows.indexed_sizes(conn) if unmatched else {}
        for name, end in indexed.items():
            if unmatched and end > before.get(name, 0):  # recorded during this check
                more = _check_records(self._store.storage, name, end, before.get(name, 0))
                while checked := await asyncio.to_thread(lambda: list(islice(more, CHUNK))):  # noqa: B023
                    await compared.compare(checked)
        return compared.findings(unmatched)

    async def _verify_snapshots(self) -> AsyncIterator[Finding]:
        """Check that the records referenced by each snapshot exist and have the right type."""
        async for rows in in_batches(self._db, snapshots.after, most=CHUNK):
            async with self._db.read() as conn:
                drawn = await screenshots.of_snapshots(conn, [each.row_id for each in rows])
            for finding in await asyncio.to_thread(self._missing_records, rows, drawn):
                yield finding
            for finding in await self._missing_excluded(rows):
                yield finding

    def _missing_records(
        self, rows: list[snapshots.SnapshotRow], drawn: Mapping[int, tuple[Rendition, ...]]
    ) -> list[Finding]:
        findings = []
        for each in rows:
            referenced = [(each.record, RecordType.METADATA)]
            if each.snapshot.article:
                referenced.append((each.snapshot.article, RecordType.CONVERSION))
            looked = drawn.get(each.row_id, ())
            referenced += [(one.location, RecordType.CONVERSION) for one in looked]
            for location, kind in referenced:
                problem = self._problem_of(location, kind)
                if problem:
                    findings.append(
                        Finding(f"{each.snapshot.url} {each.snapshot.timestamp}", problem)
                    )
            if problem := self._snapshot_differs(each):
                findings.append(Finding(f"{each.snapshot.url} {each.snapshot.timestamp}", problem))
        return findings

    def _snapshot_differs(self, row: snapshots.SnapshotRow) -> str:
        """Return the problem if the index row of a snapshot differs from its record; else empty."""
        try:
            record = read_snapshot_record(self._store, row.record)
        except StoreError:
            return ""  # reported already
        snapshot = row.snapshot
        if (
            snapshot.timestamp,
            snapshot.final_url,
            snapshot.capture.record_id,
            snapshot.metadata,
        ) == (*(record.timestamp, record.capture_url, record.capture_record, record.metadata),):
            return ""
        return _DIFFERS.format(names="page, title or summary", where=_where(row.record))

    async def _missing_excluded(self, rows: list[snapshots.SnapshotRow]) -> list[Finding]:
        """Return findings for missing responses that a snapshot's scripts requested."""
        rendered = [each for each in rows if each.snapshot.rendering is Rendering.DONE]
        named = await asyncio.to_thread(lambda: [self._named(each) for each in rendered])
        async with self._db.read() as conn:
            located = await captures.excluded_response_locations(conn, chain.from_iterable(named))
        return [
            Finding(
                f"{each.snapshot.url} {each.snapshot.timestamp}",
                "Responses to its scripts are not where the index says.",
            )
            for each, ids in zip(rendered, named, strict=True)
            if set(ids) - located.keys()
        ]

    def _named(self, row: snapshots.SnapshotRow) -> tuple[RecordId, ...]:
        try:
            return read_snapshot_record(self._store, row.record).excluded_responses
        except StoreError:
            return ()  # reported already

    def _problem_of(self, location: Location, kind: RecordType) -> str:
        try:
            record = self._store.read(location)
        except StoreError as error:
            return f"Cannot read its {kind} record at {_where(location)}: {error}"
        return "" if record.type is kind else f"There is no {kind} record at {_where(location)}."


def _check_other_files(survey: Survey, indexed: Mapping[str, int]) -> Iterator[Finding]:
    """Yield findings for unusable files, missing files of indexed segments, and truncated tails."""
    names = {each.name for each in survey.segments}
    for each in survey.unusable_files:
        names.add(each.name)
        yield Finding(each.name, each.problem, is_wrong=each.has_lost_data or each.name in indexed)
    for name in sorted(indexed.keys() - names - survey.superseded.keys()):
        yield Finding(name, "The index refers to this segment, but its file is missing.")
    for tail in survey.truncated:
        yield Finding(tail.name, f"{TRUNCATED} {tail.size:,} bytes.", is_wrong=False)


def _unmatched_excluded(
    name: str, rows: Mapping[int, RecordId], batch: list[_Checked]
) -> Iterator[Finding]:
    """Yield findings for index rows of script responses that match no record of a batch."""
    expected = {each.location.offset: each.excluded_id for each in batch}
    for offset, record_id in rows.items():
        if expected.get(offset) != record_id:
            yield Finding(_where(Location(name, offset, 0)), _NO_SUCH_RECORD)


def _check_records(
    storage: SegmentStorage, name: str, until: int | None, from_offset: int = 0
) -> Iterator[_Checked]:
    """Read and check the records of a segment one by one; damaged parts become findings.

    Args:
        storage: segment storage.
        name: name of the segment.
        until: byte offset to stop at; None to read all records.
        from_offset: byte offset of the first record.
    """
    place = Location(name, from_offset, 0)
    try:
        for each in storage.scan(name, from_offset=from_offset):
            if until is not None and each.offset >= until:
                return
            if isinstance(each, segment_scanning.Damage):
                place = each.location
                yield _Checked(place, None, (Finding(_where(place), each.problem),))
            else:
                checked = _check(each, name)
                place = checked.location
                yield checked
    except StoreError as error:
        yield _Checked(place, None, (Finding(name, str(error)),))


def _check(scanned: segment_scanning.Scanned, name: str) -> _Checked:
    record, capture, entry_record = scanned.record, None, None
    place = Location(name, record.offset, 0)
    verification = Verification(record)
    try:
        if has_capture_row(record):
            capture = capture_of_record(record, place, verification.payload)
        elif record.type is RecordType.METADATA and hash_of_uri(record.target_uri or ""):
            entry_record = read_entry_record(record.block.read())
        problems = verification.problems()
        place = scanned.place()
    except StoreError as error:
        problems = [str(error)]
    if capture:
        capture = replace(capture, location=place)
    findings = tuple(Finding(_where(place), each) for each in problems)
    excluded_id = record.id if is_excluded_response(record) else None
    return _Checked(place, capture, findings, excluded_id, None if problems else entry_record)


class _EntryComparison:
    """Comparison of the entries in the index with their records."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._matched = set[int]()
        self._differing = dict[int, Finding]()
        self._lacking = dict[str, Finding]()

    async def compare(self, checked: Sequence[_Checked]) -> None:
        """Compare a batch of entry records with the index.

        An older record need not match the metadata of its entry. Several records can have the
        current revision of an entry; at least one of them must match.
        """
        records = [(each.entry_record, each.location) for each in checked if each.entry_record]
        keys = {each.hash_url for each, _ in records}
        async with self._db.read() as conn:
            generations = await tombstones.generations(conn, keys)
            deleted = await tombstones.snapshots(conn, keys)
            ids = await entries.rows_of(conn, [*keys])
            indexed = await entries.with_revisions(conn, [*ids.values()])
            snapshots_of_records = [
                (each.hash_url, each.snapshot) for each, _ in records if each.snapshot
            ]
            recorded = [
                (ids[key], int(each.timestamp)) for key, each in snapshots_of_records if key in ids
            ]
            expected = await snapshots.articles_of(conn, recorded)
        lacking = []
        for each, place in records:
            row_id, snapshot = ids.get(each.hash_url), each.snapshot
            if each.generation <= generations.get(each.hash_url, -1):
                continue
            if row_id is None:
                self._lacking[each.url] = _finding(each.url, _NO_ENTRY, place)
                continue
            if (
                snapshot
                and (row_id, int(snapshot.timestamp)) not in expected
                and (each.hash_url, snapshot.timestamp, snapshot.capture_record) not in deleted
            ):
                lacking.append((f"{each.url} {snapshot.timestamp}", snapshot, place))
            self._compare_metadata(row_id, indexed[row_id], each, place)
        if lacking:
            await self._report_lacking(lacking)

    async def _report_lacking(
        self, lacking: Sequence[tuple[str, SnapshotRecord, Location]]
    ) -> None:
        """Report snapshots that the index lacks, if the response of their page is still stored."""
        keys = [(each.capture_url, each.capture_record) for _, each, _ in lacking]
        async with self._db.read() as conn:
            rows = await captures.of_records(conn, keys)
            digests = {
                key: rows_of_entry[0][1].payload_digest for key, rows_of_entry in rows.items()
            }
            stored = await captures.originals(conn, [*{*digests.values()}])
        for key, (where, _, place) in zip(keys, lacking, strict=True):
            if digests.get(key) in stored:
                self._lacking[where] = _finding(where, _NO_SNAPSHOT, place)

    def _compare_metadata(
        self, row_id: int, revised: Revised, record: EntryRecord, place: Location
    ) -> None:
        if record.revision > revised.revision:
            self._differing[row_id] = _finding(record.url, _OLDER, place)
        elif record.revision == revised.revision:
            names = _differences(revised.entry.annotation, record.annotation)
            if names:
                problem = _DIFFERS.format(names=", ".join(names), where="{where}")
                self._differing.setdefault(row_id, _finding(record.url, problem, place))
            else:
                self._matched.add(row_id)

    async def unmatched(self, conn: AsyncConnection) -> dict[int, str]:
        """Return the URLs of entries that match no record, by row id.

        Entries whose current metadata still waits to be written to a record are left out.
        """
        unmatched, after = dict[int, str](), 0
        while True:
            batch, after = await entries.summaries_after(conn, after, limit=MAX_BATCH)
            if not batch:
                return unmatched
            ids = [each.row_id for each in batch if each.row_id not in self._matched]
            pending = {*await edit_history.not_in_snapshot_records(conn, ids, whole_segments=True)}
            indexed = await entries.with_revisions(
                conn, [each for each in ids if each not in pending]
            )
            unmatched |= {row_id: each.entry.url for row_id, each in indexed.items()}

    def findings(self, unmatched: Mapping[int, str]) -> list[Finding]:
        """Return all findings; ``unmatched`` is the result of the method ``unmatched``."""
        findings = [
            self._differing.get(row_id, Finding(url, _NO_RECORD))
            for row_id, url in unmatched.items()
            if row_id not in self._matched
        ]
        return [*self._lacking.values(), *findings]


def _finding(where: str, problem: str, place: Location) -> Finding:
    return Finding(where, problem.format(where=_where(place)))


_NOT_COMPARED = frozenset({"url_given", "source", "places", "source_record"})
_COMPARED = {each.name: each.name for each in fields(Annotation) if each.name not in _NOT_COMPARED}
_COMPARED |= {"added_at": "date", "folders": "lists", "is_read": "read", "is_starred": "starred"}
"""Compared fields of an annotation, with their names in messages."""


def _differences(indexed: Annotation, recorded: Annotation) -> list[str]:
    before, after = (
        replace(
            each, tags=tuple(sorted({*map(tag_key, each.tags)})), folders=(*sorted(each.folders),)
        )
        for each in (indexed, recorded)
    )
    return [
        name for field, name in _COMPARED.items() if getattr(before, field) != getattr(after, field)
    ]


def _comparable(capture: Capture, row: Capture | None = None) -> Capture:
    """Return a copy of a capture, in which fields that need not agree have fixed values.

    It is used to compare a record with its index row. The payload length of a revisit is 0, because
    its record lacks it. ``is_chunked`` is False, because rows from before index revision 0005 lack
    it. The media type is taken from ``row`` if the record has none, or if ``row`` has a generic
    type from a version that did not sniff such types.
    """
    if row and (not capture.media_type or _is_unsniffed(row.media_type)):
        capture = replace(capture, media_type=row.media_type)
    length = 0 if capture.is_revisit else capture.payload_length
    return replace(capture, payload_length=length, is_chunked=False)


def _is_unsniffed(media_type: str) -> bool:
    return media_type != "text/plain" and is_generic(parse_media_type(media_type))


def _where(location: Location) -> str:
    return f"{location.segment} at byte {location.offset:,}"
