"""Index rows of the recorder's batches: lookups before a batch is written, inserts afterwards."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.crawl.deletions import delete_unwanted_visits
from archiver.crawl.record_building import (
    EntryEdit,
    ExchangeItem,
    IndexedData,
    Item,
    Originals,
    PendingRecord,
    Plan,
    PlannedSnapshot,
    entry_id_of,
)
from archiver.crawl.visit_result import UnwantedVisit, Visit, VisitResult, replay_urls
from archiver.db import (
    attempts,
    captures,
    edit_history,
    entries,
    queue,
    segment_rows,
    snapshots,
    tombstones,
    visit_results,
)
from archiver.db.dialects import is_postgresql
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Revised
from archiver.db.full_text import IndexRow
from archiver.db.queue import LAST
from archiver.db.snapshots import SnapshotRow
from archiver.db.visit_results import NewSnapshot
from archiver.errors import StoreError
from archiver.helpers import RecentItems
from archiver.http.timestamps import to_datetime
from archiver.model.capture import (
    Capture,
    CaptureRef,
    Exchange,
    HashUrl,
    Location,
    RecordId,
    Timestamp,
)
from archiver.model.entry import Snapshot
from archiver.model.failure import Failure
from archiver.model.listing import SearchDocument
from archiver.model.page import UNREAD
from archiver.model.rendering import Rendition
from archiver.pages.capture_quality import needed, score_of
from archiver.search.search_document import link_document, page_document
from archiver.warc.metadata_records import SnapshotRecord
from archiver.warc.segments import SegmentStore

MAX_COPIES = 10
"""Maximum number of records with the same payload that are tried if one is damaged."""
MAX_CHECKED = 8192
"""Number of records whose check result is cached."""


class IntactRecords:
    """Check of stored records, so that new records refer only to readable ones.

    Records in an object store are not checked: the store keeps digests, and each record would have
    to be downloaded.
    """

    def __init__(self, store: SegmentStore) -> None:
        self._store = store
        self._checked = RecentItems[Location, bool](MAX_CHECKED)

    async def originals(self, conn: AsyncConnection, stored: Iterable[Capture]) -> list[Capture]:
        """Replace damaged records by intact ones with the same payload.

        A damaged record without an intact copy is left out.
        """
        intact = []
        for each in stored:
            copies = [each]
            if not await self._is_intact(each.location):
                copies = await captures.all_originals(conn, each.payload_digest, limit=MAX_COPIES)
            for copy in copies:
                if await self._is_intact(copy.location):
                    intact.append(copy)
                    break
        return intact

    async def articles(
        self, batch: Sequence[Item], latest: Mapping[int, SnapshotRow]
    ) -> dict[int, Snapshot]:
        """Return the newest snapshots by entry id; a damaged article counts as not extracted.

        Only articles that the visits of the batch would reuse are checked.
        """
        visited = {
            item.content.entry.id: item.content.visit.page.payload_digest
            for item in batch
            if isinstance(item.content, VisitResult) and item.content.visit
        }
        usable = {}
        for entry_id, row in latest.items():
            snapshot = row.snapshot
            is_same = visited.get(entry_id) == snapshot.capture.payload_digest
            if is_same and snapshot.article and not await self._is_intact(snapshot.article):
                snapshot = replace(snapshot, extractor=UNREAD)
            usable[entry_id] = snapshot
        return usable

    async def _is_intact(self, place: Location) -> bool:
        if self._store.storage.is_uploaded:
            return True
        if place not in self._checked:
            self._checked[place] = await asyncio.to_thread(self._can_be_read, place)
        return self._checked[place]

    def _can_be_read(self, place: Location) -> bool:
        try:
            self._store.read(place).finish()
        except StoreError:
            return False
        return True


class BatchRows:
    """Index reads and writes of one recorder's batches, which run in order."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._intact = IntactRecords(store)

    async def look_up(self, batch: Sequence[Item]) -> IndexedData:
        """Read the index data that is needed to build a batch's records."""
        exchanges = [
            item.content.exchange for item in batch if isinstance(item.content, ExchangeItem)
        ]
        ids = [number for item in batch if (number := entry_id_of(item.content)) is not None]
        async with self._db.read() as conn:
            originals = await self._originals(conn, exchanges)
            rows_by_id = await entries.with_revisions(conn, ids)
            saved = [number for number, each in rows_by_id.items() if each.entry.snapshot_count]
            latest = await snapshots.latest_of(conn, saved) if saved else {}
        return IndexedData(originals, rows_by_id, await self._intact.articles(batch, latest))

    async def _originals(self, conn: AsyncConnection, exchanges: Sequence[Exchange]) -> Originals:
        """Return the records that the exchanges may be revisits of."""
        originals = Originals()
        if not exchanges:
            return originals
        digests = [each.payload_digest for each in exchanges]
        stored = await captures.originals(conn, digests)
        originals.add(await self._intact.originals(conn, stored.values()))
        if chunked := originals.payloads_of_other_urls(exchanges):
            at_urls = await captures.originals_of_urls(conn, chunked)
            originals.add(await self._intact.originals(conn, at_urls.values()))
        return originals

    def _snapshots(
        self, batch: Sequence[Item], indexed: IndexedData, plan: Plan, places: Sequence[Location]
    ) -> dict[int, NewSnapshot]:
        """Build the rows of snapshots; return them by the ``id()`` of the visit's result."""
        words_of = self._db.words.row
        built = {}
        results = (each.content for each in batch if isinstance(each.content, VisitResult))
        for each in results:
            entry = indexed.entries.get(each.entry.id)
            if each.visit and entry:
                planned = plan.snapshots[each.entry.hash_url, each.visit.timestamp]
                built[id(each)] = _new_snapshot(each, each.visit, entry, planned, places, words_of)
        return built

    async def index(
        self, batch: Sequence[Item], indexed: IndexedData, plan: Plan, places: Sequence[Location]
    ) -> None:
        """Insert the rows of a batch, whose records are on disk already, in one transaction."""
        # Building the search row of an article takes long, so the write lock is not held for it.
        prepared = await asyncio.to_thread(self._snapshots, batch, indexed, plan, places)
        results = [item.content for item in batch if isinstance(item.content, VisitResult)]
        edited = [item.content.entry_id for item in batch if isinstance(item.content, EntryEdit)]
        pending = [item.content.row_id for item in batch if isinstance(item.content, PendingRecord)]
        ends = {place.segment: place.offset + place.length for place in places}
        async with self._db.write() as conn:
            if ends:  # first, because other rows refer to segments
                await segment_rows.set_indexed(conn, ends)
            inserted = await _insert_responses(conn, plan, places)
            state = await _read_state(conn, results, indexed)
            insertable = _still_wanted(results, state)
            rows = await _capture_rows(conn, insertable, inserted)
            _report_lost_captures(batch, insertable, rows)
            done = [each for each in insertable if not each.visit or id(each) in rows]
            new = []
            for each in done:
                if each.visit:
                    new.append(snapshot := prepared[id(each)])
                    snapshot.capture_id = rows[id(each)]
            await visit_results.add_snapshots(conn, new)
            # A batch may have both a snapshot and a failure of one entry.
            failed = [
                failed_attempt(
                    each.entry.id,
                    indexed.entries[each.entry.id],
                    each.at,
                    each.failure,
                    final=each.retry_at is None,
                )
                for each in done
                if each.failure
            ]
            await attempts.add_failures(conn, failed)
            await _end_jobs(conn, done)
            edited = [each for each in edited if each in state.entries]
            recorded = _recorded_revisions(done, edited, indexed.entries)
            await edit_history.mark_recorded(conn, recorded)
            await tombstones.remove_pending(conn, pending)
            await delete_unwanted_visits(conn, _unwanted_visits(results, state))


@dataclass(frozen=True, slots=True)
class _State:
    """State of the index when the visits of a batch are inserted, read in the same transaction.

    Attributes:
        entries: ids of the batch's entries; deleted entries are missing.
        lost_jobs: with PostgreSQL, ids of jobs whose lease this worker has lost.
        deleted: (hash_url, timestamp, capture record id) of deleted snapshots.
    """

    entries: Collection[int]
    lost_jobs: frozenset[int]
    deleted: Collection[tuple[HashUrl, Timestamp, RecordId]]


async def _read_state(
    conn: AsyncConnection,
    results: Sequence[VisitResult],
    indexed: IndexedData,
) -> _State:
    lost: set[int] = set()
    if is_postgresql(conn):
        leases = [each.lease for each in results if each.lease]
        open_jobs = await queue.open_jobs(conn, leases, datetime.now(UTC))
        lost = {each.job_id for each in leases} - open_jobs.leased
    return _State(
        entries=await entries.existing_rows(conn, indexed.entries),
        lost_jobs=frozenset(lost),
        deleted=await tombstones.snapshots(
            conn, {each.entry.hash_url for each in results if each.visit}
        ),
    )


async def _insert_responses(
    conn: AsyncConnection, plan: Plan, places: Sequence[Location]
) -> dict[RecordId, int]:
    """Insert responses; return the row ids of captures by record id."""
    excluded = [(record_id, places[n]) for n, record_id in plan.excluded_responses.items()]
    placed = [replace(each, location=places[n]) for n, each in plan.captures.items()]
    await captures.insert_excluded_responses(conn, excluded)
    return await captures.insert_all(conn, placed)


async def _capture_rows(
    conn: AsyncConnection, results: Sequence[VisitResult], inserted: Mapping[RecordId, int]
) -> dict[int, int]:
    """Return the row id of each visit's page capture, by the ``id()`` of the visit's result.

    Visits whose capture has no row are left out. ``inserted`` has the row ids that this transaction
    inserted, by record id.
    """
    pages = {id(each): each.visit.page for each in results if each.visit}
    earlier = {
        (each.url, each.record_id) for each in pages.values() if each.record_id not in inserted
    }
    rows = dict(inserted)
    if earlier:
        stored = await captures.of_records(conn, earlier)
        rows |= {record_id: row_ids[0][0] for (_, record_id), row_ids in stored.items()}
    return {key: rows[page.record_id] for key, page in pages.items() if page.record_id in rows}


def _report_lost_captures(
    batch: Sequence[Item], results: Sequence[VisitResult], rows: Mapping[int, int]
) -> None:
    """Report an error for each visit without a capture row.

    The capture of such a visit belonged to an earlier batch, which could not be stored.
    """
    lost = {id(each) for each in results if each.visit} - rows.keys()
    for item in batch:
        if id(item.content) in lost and item.done and not item.done.done():
            item.done.set_exception(StoreError("The capture of this page was not stored."))


def _still_wanted(results: Sequence[VisitResult], state: _State) -> list[VisitResult]:
    """Return the results that can be inserted.

    Their entry exists, their lease was not lost, and their snapshot was not deleted.
    """
    return [
        each
        for each in results
        if each.entry.id in state.entries
        and not (each.lease and each.lease.job_id in state.lost_jobs)
        and not (
            each.visit
            and (each.entry.hash_url, each.visit.timestamp, each.visit.page.record_id)
            in state.deleted
        )
    ]


def _unwanted_visits(results: Sequence[VisitResult], state: _State) -> list[UnwantedVisit]:
    """Return visits whose entry no longer exists, or whose lease was lost."""
    return [
        UnwantedVisit(
            each.entry.hash_url,
            each.visit.timestamp,
            each.visit.page.record_id,
            replay_urls(each.entry.url, each.visit.page.url, each.visit.requisites),
            each.visit.excluded_responses,
        )
        for each in results
        if each.visit
        and (
            each.entry.id not in state.entries
            or (each.lease and each.lease.job_id in state.lost_jobs)
        )
    ]


def _new_snapshot(
    result: VisitResult,
    visit: Visit,
    revised: Revised,
    planned: PlannedSnapshot,
    places: Sequence[Location],
    words_of: Callable[[SearchDocument], IndexRow],
) -> NewSnapshot:
    """Build the rows of a visit; the transaction that inserts them sets the capture row id."""
    article = planned.reused.article if planned.reused else None
    if planned.article is not None:
        article = places[planned.article]
    row = snapshot_row(
        result.entry.id,
        revised,
        planned.record,
        visit.page,
        place=places[planned.entry_record],
        article=article,
        words=visit.article.words,
    )
    row.words = words_of(row.search_document) if row.search_document else None
    row.renditions = tuple(
        Rendition(rendition.kind, rendition.media_type, places[n], rendition.digest)
        for rendition, n in planned.renditions
    )
    return row


def snapshot_row(
    entry_id: int,
    revised: Revised,
    record: SnapshotRecord,
    page: Capture | CaptureRef,
    *,
    place: Location,
    article: Location | None,
    words: str,
) -> NewSnapshot:
    """Build the rows of a snapshot from its record, without capture row id and screenshots.

    Args:
        entry_id: row id of the entry.
        revised: the entry.
        record: the snapshot's record.
        page: the capture of the page.
        place: location of the record.
        article: location of the article.
        words: words of the article that are indexed.
    """
    document = None
    if not record.article_of:
        document = page_document(
            revised.entry.annotation,
            record.metadata,
            urls=(revised.entry.url, record.capture_url),
            host=revised.entry.host,
            media_type=page.media_type,
            words=words,
            revision=revised.revision,
        )
    return NewSnapshot(
        entry_id=entry_id,
        timestamp=record.timestamp,
        at=to_datetime(record.timestamp),
        capture_id=0,
        final_url=record.capture_url,
        status=page.status,
        media_type=page.media_type,
        metadata=record.metadata,
        requisite_count=len(needed(record.requisites)),
        missing_count=sum(each.is_missing for each in record.requisites),
        article=article,
        extractor=record.extractor,
        record=place,
        search_document=document,
        rendering=record.rendering,
        score=score_of(record.rendering, record.requisites, record.appearance).hundredths,
        limits=record.appearance.limits,
        needs=replay_urls(revised.entry.url, record.capture_url, record.requisites),
    )


def failed_attempt(
    entry_id: int, revised: Revised, at: datetime, failure: Failure, *, final: bool = True
) -> attempts.FailedAttempt:
    """Build the row of a failed attempt; ``final`` means that there is no further attempt."""
    entry = revised.entry
    document = link_document(
        entry.annotation, url=entry.url, host=entry.host, revision=revised.revision
    )
    return attempts.FailedAttempt(
        entry_id=entry_id, at=at, failure=failure, final=final, search_document=document
    )


async def _end_jobs(conn: AsyncConnection, results: Sequence[VisitResult]) -> None:
    """End the jobs of final results, and postpone those that are tried again."""
    now = datetime.now(UTC)
    ended = [
        (each.lease, each.visit.timestamp if each.visit else None, each.failure)
        for each in results
        if each.retry_at is None and each.lease
    ]
    await queue.end_jobs(conn, ended, now)
    postponed = [
        (
            replace(each.lease, priority=LAST) if each.is_moved_to_end else each.lease,
            each.failure,
            each.retry_at,
        )
        for each in results
        if each.failure and each.retry_at and each.lease
    ]
    await queue.postpone_jobs(conn, postponed, now)


def _recorded_revisions(
    results: Sequence[VisitResult], edited: Collection[int], revised: Mapping[int, Revised]
) -> dict[int, int]:
    """Return the annotation revision that the batch recorded, by entry id."""
    final = [each.entry.id for each in results if each.retry_at is None]
    return {
        number: revised[number].revision
        for number in (*final, *edited)
        if revised[number].is_unrecorded
    }
