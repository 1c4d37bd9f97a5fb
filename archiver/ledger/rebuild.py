"""Builds index rows from records: of whole segments, or of tails that were never indexed.

Two passes: captures are indexed as they are met; then entry records are gone through in order of
time, each with its article. ``recovery`` does this for what a killed process left, in one
transaction, so that half a tail is never indexed; ``services.reindexing`` for a whole archive, in a
new index that takes a stretch at a time and goes on where a kill left it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from archiver.errors import ArchiverError, IndexUnavailable, StoreError, StoreUnavailable
from archiver.index import (
    answers,
    captures,
    import_lookups,
    lists,
    rebuild_scratch,
    segments,
    tombstones,
)
from archiver.index.database import AsyncConnection, Database
from archiver.index.dialect import dialect_of
from archiver.ledger import deletions
from archiver.ledger.findings import Findings, chunks
from archiver.ledger.late_visits import LateVisit
from archiver.ledger.restoring import Problem, restore
from archiver.ledger.still_valid import Placed, apart, left_open, once_each, parted
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Location
from archiver.store.segments import SegmentStore
from archiver.urls.parse import hash_url, is_kept
from archiver.warc.entry_record import EntryRecord, read_entry_record

CHUNK = 500
UNHEARD = timedelta(minutes=10)
"""How long a process may have gone on with a job that another one had ended by what it brought when
it came back: until the turn of the job's host came. Where the index is a file, none comes back."""
Transaction = Callable[[], AbstractAsyncContextManager[AsyncConnection]]


@dataclass(slots=True)
class Rebuilt:
    """What a rebuild has read so far, and what it could not use.

    Attributes:
        records, captures, snapshots: how many were read.
        problems: places that could not be used, and why.
        unreadable: segments whose file could not be read, or not to its end, and why.
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
    """Index segments from a byte on, all of it in the caller's transaction.

    Args:
        conn: a writing connection.
        store: where the segments lie.
        tails: their names, and the byte to begin at.
    """

    @asynccontextmanager
    async def same() -> AsyncIterator[AsyncConnection]:
        yield conn

    last = await captures.last_row(conn)
    await rebuild_scratch.begin(conn, software="", first_capture=last, temporary=True)
    unheard = UNHEARD if dialect_of(conn).is_shared else timedelta(0)
    rebuilt = await _Rebuild(store, same, lambda _: None, unheard=unheard).run(tails)
    await deletions.delete_late_visits(conn, store, await left_open(conn, last, unheard=unheard))
    return rebuilt


async def build_anew(
    db: Database,
    store: SegmentStore,
    names: list[str],
    *,
    software: str,
    on_progress: OnProgress = lambda _: None,
) -> Rebuilt:
    """Fill an index from whole segments, or go on with that, a stretch to a transaction.

    Args:
        db: empty, or left by a run of the same software that was broken off.
        store: where the segments lie.
        names: of all segments.
        software: what does it.
        on_progress: told after each stretch.
    """
    async with db.write() as conn:
        await rebuild_scratch.begin(conn, software=software, first_capture=0, temporary=False)
        indexed = await segments.indexed(conn)
    tails = {name: indexed.get(name, 0) for name in names}
    rebuilt = await _Rebuild(store, db.write, on_progress, unheard=timedelta(0)).run(tails)
    async with db.write() as conn:
        await lists.sweep(conn)
    return rebuilt


class _Rebuild:
    """One rebuilding; ``transaction`` opens one, or gives the one that is open."""

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
        self._late = list[LateVisit]()
        self._has_deletions = False

    async def run(self, tails: Mapping[str, int]) -> Rebuilt:
        for name in sorted(tails):
            await self._read_segment(name, tails[name])
        while await self._next_entry_records():
            self._on_progress(self._rebuilt)
        async with self._transaction() as conn:
            await rebuild_scratch.share_articles(conn)
            first = await rebuild_scratch.first_capture(conn)
            await deletions.erase_named(conn, after=0 if self._has_deletions else first)
            await deletions.delete_late_visits(conn, self._store, self._late)
            await captures.give_lengths(conn, after=first)
            await rebuild_scratch.end(conn)
        return self._rebuilt

    async def _read_segment(self, name: str, start: int) -> None:
        """Index a segment's captures; one that can't be read keeps no other from being read."""
        async with self._transaction() as conn:
            await segments.advance(conn, {name: start})
        stretches = chunks(self._store.shelf.scan(name, from_offset=start), CHUNK)
        try:
            while findings := await asyncio.to_thread(next, stretches, None):
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
        """Go through the next entry records; whether there were any."""
        async with self._transaction() as conn:
            dated = await rebuild_scratch.next_entry_records(conn, limit=CHUNK)
            if not dated:
                return False
            places = [each.location for each in dated]
            read = await asyncio.to_thread(_read_entry_records, self._store, places, self._rebuilt)
            held, late = await parted(conn, read)
            kept, again = await once_each(conn, held, unheard=self._unheard)
            self._late += [*late, *again]
            for group in apart(kept):
                fresh = await restore(conn, self._store, group, self._rebuilt.problems)
                self._rebuilt.snapshots += fresh
            await rebuild_scratch.forget_entry_records(conn, dated[-1])
        return True


async def _index(conn: AsyncConnection, name: str, findings: Findings) -> None:
    await segments.advance(conn, {name: findings.end})
    await captures.insert_all(conn, findings.captures)
    await answers.insert_all(conn, findings.answers)
    await import_lookups.note_stated_digests(conn, findings.stated_digests)
    await rebuild_scratch.remember_conversions(conn, findings.conversions)
    await rebuild_scratch.remember_entry_records(conn, findings.entry_records)
    await tombstones.note(conn, findings.deletions)
    await lists.note(conn, findings.arrangements)


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
    """Refuse a record whose parts disagree: whoever else can write into the folder wrote it.

    Raises:
        ArchiverError, ValueError: it can't be of an entry of this archive.
    """
    url = entry_record.url
    if not is_kept(url) or hash_url(url) != entry_record.hash_url:
        raise ValueError("An entry record names another URL than its hash is of.")
    if entry_record.annotation.added_at is None:
        raise ValueError("An entry record does not tell when the entry was saved.")
    if entry_record.snapshot:
        to_datetime(entry_record.snapshot.timestamp)
