"""Batches of records and rows."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from archiver.crawl import record_building, row_building
from archiver.crawl.deletions import delete_unwanted_visits
from archiver.crawl.record_building import Originals
from archiver.crawl.visit_result import VisitResult
from archiver.db import (
    attempts,
    captures,
    edit_history,
    entries,
    queue,
    segment_rows,
    snapshots,
    tombstones,
)
from archiver.db import visit_results as db_visit_results
from archiver.db.dialects import is_postgresql
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import EntryState, Revised, entry_states
from archiver.db.queue import OpenJobs
from archiver.db.snapshots import SnapshotRow
from archiver.db.visit_results import NewSnapshot, Place
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.model.capture import Capture, Exchange, HashUrl, Location, RecordId, Timestamp
from archiver.model.entry import Snapshot
from archiver.model.failure import Failure, FailureKind
from archiver.model.page import UNREAD
from archiver.warc.segment_storage import UploadingStorage
from archiver.warc.segments import SegmentStore

REMEMBERED = 8192


class CaptureRows:
    """LRU cache of the rows of recent captures, by record id."""

    def __init__(self) -> None:
        self._rows: OrderedDict[RecordId, int] = OrderedDict()

    async def of(
        self,
        conn: AsyncConnection,
        visit_results: Sequence[VisitResult],
        made: Mapping[RecordId, int],
    ) -> dict[int, int]:
        """Return the capture row of each visit, by the ``id()`` of its result, if the row exists.

        Args:
            conn: a connection.
            visit_results: visit results; those without a visit are ignored.
            made: rows inserted in this transaction.
        """
        found: dict[int, int] = {}
        for each in visit_results:
            if each.visit:
                page = each.visit.page
                row = made.get(page.record_id) or self._rows.pop(page.record_id, None)
                row = row or await captures.find_row(conn, page.url, page.record_id)
                found[id(each)] = row or 0
        fresh = {*made.values()}
        there = fresh | await captures.existing_rows(conn, {*found.values()} - fresh)
        return {key: row for key, row in found.items() if row in there}

    def remember(self, made: Mapping[RecordId, int]) -> None:
        """Add rows whose transaction was committed."""
        self._rows.update(made)
        while len(self._rows) > REMEMBERED:
            self._rows.popitem(last=False)


UNWRITABLE = Failure(
    FailureKind.INTERNAL, "The result of this visit cannot be stored. The log has the reason."
)

log = get_log(__name__)


@dataclass(slots=True)
class Item:
    """Item on its way to disk; ``weight`` is the memory in bytes that it uses until then."""

    thing: "ExchangeItem | VisitResult | EntryEdit | PendingRecord | Marker"
    weight: int
    done: asyncio.Future[VisitResult | None] | None = None


@dataclass(frozen=True, slots=True)
class ExchangeItem:
    """Exchange and its capture, which has no location yet."""

    exchange: Exchange
    capture: Capture


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """Entry whose metadata changed without a visit."""

    entry_id: int


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """Pending deletion or lists record: its row id and its JSON."""

    row_id: int
    document: str


@dataclass(frozen=True, slots=True)
class Marker:
    """Marker without content, used to wait for all items before it.

    ``ends_segment``: items after it go to another segment.
    """

    ends_segment: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """Index data needed to build the records of a batch."""

    originals: Originals
    facts: dict[int, record_building.EntryFacts]


def plan_all(batch: Sequence[Item], known: Known) -> record_building.Plan:
    """Plan the records of a batch.

    A visit that can't be recorded becomes a failure. Retrying it would block thousands of other
    visits again and again.
    """
    plan = record_building.Plan()
    for item in batch:
        try:
            _plan(plan, item, known)
        except Exception:
            if not isinstance(item.thing, VisitResult) or item.thing.visit is None:
                raise
            log.exception("visit result cannot be stored", url=item.thing.entry.url)
            item.thing = replace(item.thing, visit=None, failure=UNWRITABLE)
            _plan(plan, item, known)
    return plan


def _plan(plan: record_building.Plan, item: Item, known: Known) -> None:
    thing = item.thing
    if isinstance(thing, ExchangeItem):
        record_building.plan_exchange(plan, thing.exchange, thing.capture, known.originals)
    elif isinstance(thing, PendingRecord):
        record_building.plan_pending(plan, json.loads(thing.document))
    elif (facts := known.facts.get(entry_id_of(thing) or 0)) is None:
        return  # a marker, or the entry has been deleted
    elif isinstance(thing, EntryEdit):
        record_building.plan_note(plan, facts)
    elif isinstance(thing, VisitResult) and thing.retry_at is None:
        record_building.plan_visit_result(plan, thing, facts)


def entry_id_of(
    thing: "ExchangeItem | VisitResult | EntryEdit | PendingRecord | Marker",
) -> int | None:
    """Return the entry id of an item, or None."""
    if isinstance(thing, ExchangeItem | PendingRecord | Marker):
        return None
    return thing.entry_id if isinstance(thing, EntryEdit) else thing.entry.id


def resolve(batch: Sequence[Item], error: StoreError | None) -> None:
    """Resolve the futures of a batch."""
    for item in batch:
        if item.done is None or item.done.done():
            continue
        if error is None:
            item.done.set_result(item.thing if isinstance(item.thing, VisitResult) else None)
        else:
            item.done.set_exception(error)


AT_ONCE = 8
"""Number of rows that are built before the event loop runs other tasks."""
LONG = 20_000
"""Characters of an article from which its search row is built in a thread: about 4 ms of work."""


MAX_COPIES = 10
"""Records with the same payload that are tried when one is damaged."""


class IntactRecords:
    """Check of stored records before new ones refer to them.

    Records in an object store are not checked: the store keeps digests, and each would be
    downloaded.
    """

    def __init__(self, store: SegmentStore) -> None:
        self._store = store
        self._checked: OrderedDict[Location, bool] = OrderedDict()

    async def originals(self, conn: AsyncConnection, found: Iterable[Capture]) -> list[Capture]:
        """Replace damaged records by intact ones with the same payload; leave out the others."""
        intact = []
        for each in found:
            copies = [each]
            if not await self._is_intact(each.location):
                copies = await captures.holders_of(conn, each.payload_digest, limit=MAX_COPIES)
            for one in copies:
                if await self._is_intact(one.location):
                    intact.append(one)
                    break
        return intact

    async def articles(
        self, batch: Sequence[Item], held: Mapping[int, SnapshotRow]
    ) -> dict[int, Snapshot]:
        """Return the previous snapshots; those with a damaged article are unread."""
        visited = {
            item.thing.entry.id: item.thing.visit.page.payload_digest
            for item in batch
            if isinstance(item.thing, VisitResult) and item.thing.visit
        }
        found = {}
        for number, each in held.items():
            known = each.snapshot
            is_same = visited.get(number) == known.capture.payload_digest
            if is_same and known.article and not await self._is_intact(known.article):
                known = replace(known, extractor=UNREAD)
            found[number] = known
        return found

    async def _is_intact(self, place: Location) -> bool:
        if isinstance(self._store.storage, UploadingStorage):
            return True
        known = self._checked.pop(place, None)
        if known is None:
            known = await asyncio.to_thread(self._can_be_read, place)
        self._checked[place] = known
        while len(self._checked) > REMEMBERED:
            self._checked.popitem(last=False)
        return known

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
        self._captured = CaptureRows()
        self._intact = IntactRecords(store)
        self._written: list[Capture] = []

    def note_written(self, plan: record_building.Plan) -> None:
        """Remember a plan's written records, so the next batch can refer to them without rows."""
        self._written = [each for each in plan.captures.values() if not each.is_revisit]

    def forget_written(self) -> None:
        """Forget the records written last, because they were not indexed."""
        self._written = []

    async def look_up(self, batch: Sequence[Item]) -> Known:
        """Read the index data that is needed to build a batch's records."""
        exchanges = [item.thing.exchange for item in batch if isinstance(item.thing, ExchangeItem)]
        ids = [entry_id for item in batch if (entry_id := entry_id_of(item.thing)) is not None]
        async with self._db.read() as conn:
            originals, found, held = await self._found(conn, exchanges, ids)
        previous = await self._intact.articles(batch, held)
        facts = {
            number: record_building.EntryFacts(
                each.entry,
                previous.get(number),
                each.revision,
                each.is_unrecorded,
                each.generation,
            )
            for number, each in found.items()
        }
        return Known(originals, facts)

    async def _found(
        self, conn: AsyncConnection, exchanges: Sequence[Exchange], ids: Sequence[int]
    ) -> tuple[Originals, Mapping[int, Revised], Mapping[int, SnapshotRow]]:
        """Return the possible originals, the entries, and the newest snapshot of each entry."""
        originals = await self._originals(conn, exchanges)
        found = await entries.with_revisions(conn, ids)
        saved = [number for number, each in found.items() if each.entry.snapshot_count]
        return originals, found, await snapshots.latest_of(conn, saved) if saved else {}

    async def _originals(self, conn: AsyncConnection, exchanges: Sequence[Exchange]) -> Originals:
        """Return the records that the exchanges may be revisits of."""
        found = Originals()
        if not exchanges:
            return found
        digests = [each.payload_digest for each in exchanges]
        known = await captures.originals(conn, digests)
        found.add(await self._intact.originals(conn, known.values()))
        found.add(self._written)
        if wanted := found.payloads_of_other_urls(exchanges):
            at_urls = await captures.originals_of_urls(conn, wanted)
            found.add(await self._intact.originals(conn, at_urls.values()))
        return found

    async def prepared(
        self,
        batch: Sequence[Item],
        known: Known,
        plan: record_building.Plan,
        places: Sequence[Location],
    ) -> Mapping[int, NewSnapshot]:
        """Build rows before the transaction, by the ``id()`` of their results.

        This keeps the write lock short: the search row of an article costs as much as all other
        rows.
        """
        words_of = self._db.words.row
        found = {}
        brought = (each.thing for each in batch if isinstance(each.thing, VisitResult))
        for number, each in enumerate(brought):
            facts = known.facts.get(each.entry.id)
            if each.visit and facts:
                made = partial(row_building.new_snapshot, each, facts, plan, places, words_of)
                is_long = len(each.visit.article.words) > LONG
                found[id(each)] = await asyncio.to_thread(made) if is_long else made()
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    async def index(
        self,
        batch: Sequence[Item],
        known: Known,
        plan: record_building.Plan,
        places: Sequence[Location],
        prepared: Mapping[int, NewSnapshot],
    ) -> None:
        """Insert the rows of a batch in one transaction; its records are on disk."""
        brought = [item.thing for item in batch if isinstance(item.thing, VisitResult)]
        noted = [item.thing.entry_id for item in batch if isinstance(item.thing, EntryEdit)]
        owed = [item.thing.row_id for item in batch if isinstance(item.thing, PendingRecord)]
        async with self._db.write() as conn:
            made, basis = await self._begin(brought, known, plan, places, conn)
            wanted = _still_wanted(brought, basis)
            rows_of = await self._captures_of(conn, batch, made, wanted)
            visit_results = [each for each in wanted if not each.visit or id(each) in rows_of]
            found = [
                replace(prepared[id(each)], capture_id=rows_of[id(each)])
                for each in visit_results
                if each.visit
            ]
            await _end_visits(conn, visit_results, found, known, basis)
            noted = [each for each in noted if each in basis.there]
            await edit_history.mark_recorded(
                conn, row_building.now_recorded(visit_results, noted, known.facts)
            )
            await tombstones.remove_pending(conn, owed)
            await delete_unwanted_visits(
                conn,
                self._store,
                row_building.unwanted_visits(brought, basis.there, basis.given_up),
            )
        self._captured.remember(made)

    async def _begin(
        self,
        brought: Sequence[VisitResult],
        known: Known,
        plan: record_building.Plan,
        places: Sequence[Location],
        conn: AsyncConnection,
    ) -> tuple[dict[RecordId, int], "_Basis"]:
        """Insert capture rows and read the data that the other rows are built from.

        The statements are independent, so they share one round trip.
        """
        ended_jobs = {place.segment: place.offset + place.length for place in places}
        await self._advance(conn, ended_jobs)
        made = await _insert_responses(conn, plan, places)
        return made, await _basis(conn, brought, known, [*ended_jobs])

    async def _advance(self, conn: AsyncConnection, ended_jobs: Mapping[str, int]) -> None:
        """Store the indexed sizes of segments first, because other rows refer to segments."""
        if ended_jobs:
            await segment_rows.set_indexed(conn, ended_jobs, machine=self._db.machine)

    async def _captures_of(
        self,
        conn: AsyncConnection,
        batch: Sequence[Item],
        made: dict[RecordId, int],
        wanted: Sequence[VisitResult],
    ) -> dict[int, int]:
        """Return the capture row of each visit, by the ``id()`` of its result.

        A visit whose capture was in a failed batch gets an error; the others are indexed.
        """
        found = await self._captured.of(conn, wanted, made)
        lost = {id(each) for each in wanted if each.visit} - found.keys()
        for item in batch:
            if id(item.thing) in lost and item.done and not item.done.done():
                item.done.set_exception(StoreError("The capture of this page was not stored."))
        return found


@dataclass(frozen=True, slots=True)
class _Basis:
    """State read in a batch's transaction before its visits are indexed.

    Attributes:
        there: states of the batch's entries that exist.
        given_up: on a server, jobs whose lease this worker lost with its lock.
        lost: deleted snapshots.
        place: insert positions for snapshots; None if there are no snapshots.
        jobs: jobs that may be ended.
    """

    there: Mapping[int, EntryState]
    given_up: frozenset[int]
    lost: set[tuple[HashUrl, Timestamp, RecordId]]
    place: Place | None
    jobs: OpenJobs


async def _basis(
    conn: AsyncConnection, brought: Sequence[VisitResult], known: Known, segments_: Sequence[str]
) -> _Basis:
    keys = {(each.entry.id, int(each.visit.timestamp)) for each in brought if each.visit}
    leases = [each.lease for each in brought if each.lease]
    urls = {each.entry.hash_url for each in brought if each.visit}
    there = await entry_states(conn, known.facts)
    lost = await tombstones.snapshots(conn, urls)
    place = await _place_of(conn, keys, segments_)
    open_ = await queue.open_jobs(conn, leases, datetime.now(UTC))
    given_up = {each.job_id for each in leases} - open_.held
    is_shared = is_postgresql(conn)
    return _Basis(there, frozenset(given_up if is_shared else ()), lost, place, open_)


async def _place_of(
    conn: AsyncConnection, keys: Collection[tuple[int, int]], segments_: Sequence[str]
) -> Place | None:
    return await db_visit_results.place_of(conn, keys, segments_) if keys else None


async def _end_visits(
    conn: AsyncConnection,
    visit_results: Sequence[VisitResult],
    found: Sequence[NewSnapshot],
    known: Known,
    basis: _Basis,
) -> None:
    """Index the snapshots and failures of visits, and end or postpone their jobs."""
    await db_visit_results.add_snapshots(conn, found, basis.there, basis.place)
    # An entry may have a snapshot and a failure in one batch.
    await attempts.add_failures(conn, row_building.failed_attempts(visit_results, known.facts))
    await queue.end_jobs(
        conn, row_building.ended_jobs(visit_results), datetime.now(UTC), basis.jobs
    )
    await queue.postpone_jobs(
        conn, row_building.postponed(visit_results), datetime.now(UTC), basis.jobs
    )


async def _insert_responses(
    conn: AsyncConnection, plan: record_building.Plan, places: Sequence[Location]
) -> dict[RecordId, int]:
    """Insert responses; return the rows of captures by record id."""
    others = [(record_id, places[n]) for n, record_id in plan.answers.items()]
    kept = [replace(each, location=places[n]) for n, each in plan.captures.items()]
    await captures.insert_answers(conn, others)
    return await captures.insert_all(conn, kept)


def _still_wanted(brought: Sequence[VisitResult], basis: _Basis) -> list[VisitResult]:
    """Return results whose entry exists and whose job and snapshot are still wanted."""
    here = [each for each in brought if each.entry.id in basis.there]
    here = [each for each in here if not each.lease or each.lease.job_id not in basis.given_up]
    return [
        each
        for each in here
        if not each.visit
        or (each.entry.hash_url, each.visit.timestamp, each.visit.page.record_id) not in basis.lost
    ]
