"""The rows of a batch: what the index says before its records are made, and what they become."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from archiver.errors import StoreError
from archiver.index import (
    answers,
    captures,
    entries,
    failed_attempts,
    originals,
    outcomes,
    recording,
    segments,
    snapshots,
    tombstones,
    unrecorded,
)
from archiver.index.database import AsyncConnection, Database
from archiver.index.dialect import dialect_of
from archiver.index.entries import Revised
from archiver.index.outcomes import OpenJobs
from archiver.index.recording import NewSnapshot, Place
from archiver.index.snapshots import Held
from archiver.index.standing import Standing, standings
from archiver.ledger import records, rows
from archiver.ledger.batch import Item, Kept, Known, Note, Owed, entry_id_of
from archiver.ledger.capture_rows import CaptureRows
from archiver.ledger.deletions import delete_late_visits
from archiver.ledger.originals import Originals
from archiver.ledger.visit_result import VisitResult
from archiver.model.capture import Capture, HashUrl, Location, RecordId, Timestamp
from archiver.model.exchange import Exchange
from archiver.store.segments import SegmentStore

AT_ONCE = 8
"""So many rows are made before others have a turn at the loop."""
LONG = 20_000
"""Characters of an article whose words the loop does not wait for: of so many, some 4 ms."""


class BatchRows:
    """The index, as the batches of one recorder read it and write to it, one after the other."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._captured = CaptureRows()
        self._written: list[Capture] = []

    def note_written(self, plan: records.Plan) -> None:
        """The records of a plan are on disk: the next batch may refer to them before their rows."""
        self._written = [each for each in plan.captures.values() if not each.is_revisit]

    def forget_written(self) -> None:
        """What was written last never came into the index."""
        self._written = []

    async def look_up(self, batch: Sequence[Item]) -> Known:
        """What the index says that the records of a batch are made from."""
        exchanges = [item.thing.exchange for item in batch if isinstance(item.thing, Kept)]
        ids = [entry_id for item in batch if (entry_id := entry_id_of(item.thing)) is not None]
        async with self._db.read() as conn:
            originals, found, held = await self._found(conn, exchanges, ids)
        facts = {
            number: records.EntryFacts(
                each.entry,
                held[number].snapshot if number in held else None,
                each.revision,
                each.is_unrecorded,
                each.generation,
            )
            for number, each in found.items()
        }
        return Known(originals, facts)

    async def _found(
        self, conn: AsyncConnection, exchanges: Sequence[Exchange], ids: Sequence[int]
    ) -> tuple[Originals, Mapping[int, Revised], Mapping[int, Held]]:
        """What these may be revisits of; these entries, and the newest snapshot of each."""
        originals = await self._originals(conn, exchanges)
        found = await entries.with_revisions(conn, ids)
        saved = [number for number, each in found.items() if each.entry.snapshot_count]
        return originals, found, await snapshots.latest_of(conn, saved) if saved else {}

    async def _originals(self, conn: AsyncConnection, exchanges: Sequence[Exchange]) -> Originals:
        """The records that these may be revisits of."""
        found = Originals()
        if not exchanges:
            return found
        digests = [each.payload_digest for each in exchanges]
        found.add((await originals.originals(conn, digests)).values())
        found.add(self._written)
        if wanted := found.out_of_reach(exchanges):
            found.add((await originals.originals_of_urls(conn, wanted)).values())
        return found

    async def prepared(
        self, batch: Sequence[Item], known: Known, plan: records.Plan, places: Sequence[Location]
    ) -> Mapping[int, NewSnapshot]:
        """What can be made of a batch's rows before its transaction, by its results' ``id``.

        Others wait to write for as long as that lasts, and to put the words of an article together
        takes as long as all else of it.
        """
        words_of = self._db.words.row
        found = {}
        brought = (each.thing for each in batch if isinstance(each.thing, VisitResult))
        for number, each in enumerate(brought):
            facts = known.facts.get(each.entry.id)
            if each.visit and facts:
                made = partial(rows.new_snapshot, each, facts, plan, places, words_of)
                is_long = len(each.visit.article.words) > LONG
                found[id(each)] = await asyncio.to_thread(made) if is_long else made()
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    async def index(
        self,
        batch: Sequence[Item],
        known: Known,
        plan: records.Plan,
        places: Sequence[Location],
        prepared: Mapping[int, NewSnapshot],
    ) -> None:
        """Put the rows of a batch in, in one transaction, once its records are on disk."""
        brought = [item.thing for item in batch if isinstance(item.thing, VisitResult)]
        noted = [item.thing.entry_id for item in batch if isinstance(item.thing, Note)]
        owed = [item.thing.row_id for item in batch if isinstance(item.thing, Owed)]
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
            await unrecorded.mark_recorded(
                conn, rows.now_recorded(visit_results, noted, known.facts)
            )
            await tombstones.settle(conn, owed)
            await delete_late_visits(
                conn, self._store, rows.late(brought, basis.there, basis.given_up)
            )
        self._captured.remember(made)

    async def _begin(
        self,
        brought: Sequence[VisitResult],
        known: Known,
        plan: records.Plan,
        places: Sequence[Location],
        conn: AsyncConnection,
    ) -> tuple[dict[RecordId, int], "_Basis"]:
        """Index what was answered, and learn all that the rest of the batch's rows are made from.

        Nothing of that changes the other: it is one wait.
        """
        ends = {place.segment: place.offset + place.length for place in places}
        await self._advance(conn, ends)
        made = await _insert_responses(conn, plan, places)
        return made, await _basis(conn, brought, known, [*ends])

    async def _advance(self, conn: AsyncConnection, ends: Mapping[str, int]) -> None:
        """Note how far segments are indexed: first of all, since rows name them."""
        if ends:
            await segments.reach(conn, ends, machine=self._db.machine)

    async def _captures_of(
        self,
        conn: AsyncConnection,
        batch: Sequence[Item],
        made: dict[RecordId, int],
        wanted: Sequence[VisitResult],
    ) -> dict[int, int]:
        """The row of the capture that each visit is of, by its result's ``id``.

        A visit whose capture was in a batch that failed is told so, and keeps no other from the
        index.
        """
        found = await self._captured.of(conn, wanted, made)
        lost = {id(each) for each in wanted if each.visit} - found.keys()
        for item in batch:
            if id(item.thing) in lost and item.done and not item.done.done():
                item.done.set_exception(StoreError("The capture of this page was not kept."))
        return found


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a batch's transaction is to know before its visits are indexed.

    Attributes:
        there: how their entries stand, of those that are there.
        given_up: on a server, jobs whose lease is no longer this worker's: it had lost its lock.
        lost: snapshots that were thrown away before.
        place: where snapshots go; None where there are none.
        jobs: those that may be ended.
    """

    there: Mapping[int, Standing]
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
    there = await standings(conn, known.facts)
    lost = await tombstones.snapshots(conn, urls)
    place = await _place_of(conn, keys, segments_)
    open_ = await outcomes.open_jobs(conn, leases, datetime.now(UTC))
    given_up = {each.job_id for each in leases} - open_.held
    is_shared = dialect_of(conn).is_shared
    return _Basis(there, frozenset(given_up if is_shared else ()), lost, place, open_)


async def _place_of(
    conn: AsyncConnection, keys: Collection[tuple[int, int]], segments_: Sequence[str]
) -> Place | None:
    return await recording.place_of(conn, keys, segments_) if keys else None


async def _end_visits(
    conn: AsyncConnection,
    visit_results: Sequence[VisitResult],
    found: Sequence[NewSnapshot],
    known: Known,
    basis: _Basis,
) -> None:
    """Index what visits brought, or why they failed, and end their jobs or put them off."""
    await recording.add_snapshots(conn, found, basis.there, basis.place)
    # An entry may have both.
    await failed_attempts.add_failures(conn, rows.failed_attempts(visit_results, known.facts))
    await outcomes.end_jobs(conn, rows.ends(visit_results), datetime.now(UTC), basis.jobs)
    await outcomes.postpone_jobs(conn, rows.postponed(visit_results), datetime.now(UTC), basis.jobs)


async def _insert_responses(
    conn: AsyncConnection, plan: records.Plan, places: Sequence[Location]
) -> dict[RecordId, int]:
    """Index what was answered; the rows of captures by record id."""
    others = [(record_id, places[n]) for n, record_id in plan.answers.items()]
    kept = [replace(each, location=places[n]) for n, each in plan.captures.items()]
    await answers.insert_all(conn, others)
    return await captures.insert_all(conn, kept)


def _still_wanted(brought: Sequence[VisitResult], basis: _Basis) -> list[VisitResult]:
    """Results whose entries are there, without those that nobody wants any more."""
    here = [each for each in brought if each.entry.id in basis.there]
    here = [each for each in here if not each.lease or each.lease.job_id not in basis.given_up]
    return [
        each
        for each in here
        if not each.visit
        or (each.entry.hash_url, each.visit.timestamp, each.visit.page.record_id) not in basis.lost
    ]
