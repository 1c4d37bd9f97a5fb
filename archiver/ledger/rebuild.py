"""Builds index rows from records: of whole segments, or of tails that were never indexed.

Two passes: captures are indexed as they are met; then entry records are gone through in order of
time, each with its article. ``recovery`` does this for what a killed process left, in one
transaction, so that half a tail is never indexed; ``services.reindexing`` for a whole archive, in a
new index that takes a stretch at a time and goes on where a kill left it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from archiver.errors import ArchiverError, IndexUnavailable, StoreError
from archiver.html.score import score_of
from archiver.index import (
    captures,
    entries,
    gone,
    import_lookups,
    lists,
    outcomes,
    rebuild_scratch,
    recording,
    seeds,
    segments,
    snapshots,
)
from archiver.index.database import AsyncConnection, Database
from archiver.index.entries import Revised
from archiver.ledger import throwing_away
from archiver.ledger.article_text import article_text
from archiver.ledger.findings import Findings, chunks
from archiver.ledger.in_force import Placed, apart, parted, snapshots_of
from archiver.ledger.late_visit import LateVisit
from archiver.ledger.records import NOWHERE
from archiver.ledger.rows import needs_of
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Capture, HashUrl, Location, RecordId
from archiver.model.likeness import likenesses_of
from archiver.model.requisite import needed
from archiver.model.seed import RevisedSeed, Seed
from archiver.query.findable import findable, indexed, unvisited
from archiver.store.scanning import scan
from archiver.store.segments import SegmentStore
from archiver.urls.parse import hash_url, host, is_kept
from archiver.warc.entry_record import EntryRecord, SnapshotRecord, read_entry_record

CHUNK = 500
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
    problems: list[tuple[Location, str]] = field(default_factory=list)
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
    return await _Rebuild(store, same, lambda _: None).run(tails)


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
    rebuilt = await _Rebuild(store, db.write, on_progress).run(tails)
    async with db.write() as conn:
        await lists.sweep(conn)
    return rebuilt


class _Rebuild:
    """One rebuilding; ``transaction`` opens one, or gives the one that is open."""

    def __init__(
        self, store: SegmentStore, transaction: Transaction, on_progress: OnProgress
    ) -> None:
        self._store = store
        self._transaction = transaction
        self._on_progress = on_progress
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
            await throwing_away.keep_away(conn, after=0 if self._has_deletions else first)
            await throwing_away.sweep_late(conn, self._store, self._late)
            await captures.give_lengths(conn, after=first)
            await rebuild_scratch.end(conn)
        return self._rebuilt

    async def _read_segment(self, name: str, start: int) -> None:
        """Index a segment's captures; one that can't be read keeps no other from being read."""
        async with self._transaction() as conn:
            await segments.advance(conn, {name: start})
        stretches = chunks(scan(self._store.directory / name, from_offset=start), CHUNK)
        try:
            while findings := await asyncio.to_thread(next, stretches, None):
                async with self._transaction() as conn:
                    await _index(conn, name, findings)
                self._has_deletions |= bool(findings.deletions)
                self._rebuilt.records += findings.records
                self._rebuilt.captures += len(findings.captures)
                self._rebuilt.problems += findings.problems
                self._on_progress(self._rebuilt)
        except IndexUnavailable:
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
            kept, late = await parted(conn, read)
            self._late += late
            for group in apart(kept):
                await _restore(conn, self._store, group, self._rebuilt)
            await rebuild_scratch.forget_entry_records(conn, dated[-1])
        return True


async def _index(conn: AsyncConnection, name: str, findings: Findings) -> None:
    await segments.advance(conn, {name: findings.end})
    await captures.insert_all(conn, findings.captures)
    await import_lookups.note_stated_digests(conn, findings.stated_digests)
    await rebuild_scratch.remember_conversions(conn, findings.conversions)
    await rebuild_scratch.remember_entry_records(conn, findings.entry_records)
    await gone.note(conn, findings.deletions)
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


async def _restore(
    conn: AsyncConnection, store: SegmentStore, group: list[Placed], rebuilt: Rebuilt
) -> None:
    ids = await seeds.restore(conn, [_revised_seed(entry_record) for entry_record, _ in group])
    leases = await rebuild_scratch.open_leases(conn, [*ids.values()])
    known = await entries.with_revisions(conn, [*ids.values()])
    said = {key: known[number] for key, number in ids.items()}
    rows = await _snapshots(
        conn, store, [each for each in group if each[0].snapshot], ids, said, rebuilt
    )
    rebuilt.snapshots += await recording.add_snapshots(conn, rows)
    failed = [
        _failed(entry_record, ids, said[entry_record.hash_url])
        for entry_record, _ in group
        if entry_record.failure
    ]
    await recording.add_failures(conn, failed, once=True)
    saved = {row.entry_id: row.timestamp for row in rows}
    ends = [
        (lease, saved.get(entry_id), entry_record.failure)
        for entry_record, _ in group
        if (lease := leases.get(entry_id := ids[entry_record.hash_url]))
        and (entry_id in saved or entry_record.failure)
    ]
    await outcomes.end_jobs(conn, ends, datetime.now(UTC))


def _failed(
    entry_record: EntryRecord, ids: Mapping[HashUrl, int], known: Revised
) -> recording.FailedAttempt:
    if entry_record.failure is None:
        raise ValueError("this attempt brought something")
    return recording.FailedAttempt(
        entry_id=ids[entry_record.hash_url],
        at=entry_record.at,
        failure=entry_record.failure,
        final=True,
        found_by=unvisited(
            known.entry.annotation,
            url=known.entry.url,
            host=known.entry.host,
            revision=known.revision,
        ),
    )


async def _snapshots(
    conn: AsyncConnection,
    store: SegmentStore,
    group: list[Placed],
    ids: Mapping[HashUrl, int],
    known: Mapping[HashUrl, Revised],
    rebuilt: Rebuilt,
) -> list[recording.NewSnapshot]:
    kept = await snapshots_of(conn, group)
    pages = await captures.of_records(
        conn, [(each.capture_url, each.capture_record) for each in kept]
    )
    made = await rebuild_scratch.conversions(conn, [one for each in kept for one in each.made])
    articles = [made.get(each.article) if each.article else None for each in kept]
    words = await asyncio.to_thread(_words, store, articles, rebuilt)
    owners = [ids[entry_record.hash_url] for entry_record, _ in group]
    shared = await _shared_articles(conn, [*zip(owners, kept, strict=True)])
    rows = []
    for (entry_record, place), each, article, own_words in zip(
        group, kept, articles, words, strict=True
    ):
        found = _page(pages, each)
        if found is None:
            problem = "The capture of this snapshot is in no segment."
            rebuilt.problems.append((place, problem))
            continue
        entry_id = ids[entry_record.hash_url]
        of_entry = known[entry_record.hash_url]
        held = article or shared.get(entry_id)
        row = _row(of_entry, each, entry_id, found, held, place, own_words)
        rows.append(replace(row, likenesses=likenesses_of(each.likenesses, made)))
    return rows


async def _shared_articles(
    conn: AsyncConnection, kept: Sequence[tuple[int, SnapshotRecord]]
) -> dict[int, Location]:
    """The articles of earlier snapshots that hold for these, by entry, as they are now.

    An article may be read again later. One that is not there yet is shared in the end.
    """
    wanted = [(number, int(each.article_of)) for number, each in kept if each.article_of]
    there = await snapshots.articles_of(conn, wanted)
    found, missing = {}, []
    for number, each in kept:
        if each.article_of:
            extractor, article = there.get((number, int(each.article_of)), ("", None))
            if article and extractor == each.extractor:
                found[number] = article
            else:
                own = number, int(each.timestamp), int(each.article_of), each.extractor
                missing.append(own)
    await rebuild_scratch.remember_shared_articles(conn, missing)
    return found


def _page(
    pages: Mapping[tuple[str, RecordId], list[tuple[int, Capture]]], kept: SnapshotRecord
) -> tuple[int, Capture] | None:
    """The capture that a snapshot is of; of several that share an id, the one of its moment."""
    found = pages.get((kept.capture_url, kept.capture_record), [])
    same = [each for each in found if each[1].timestamp == kept.capture_timestamp]
    return next(iter((*same, *found)), None)


def _words(store: SegmentStore, articles: list[Location | None], rebuilt: Rebuilt) -> list[str]:
    found = []
    for article in articles:
        try:
            found.append(article_words(store, article) if article else "")
        except StoreError as error:
            rebuilt.problems.append((article or NOWHERE, str(error)))
            found.append("")
    return found


def _row(
    known: Revised,
    kept: SnapshotRecord,
    entry_id: int,
    found: tuple[int, Capture],
    article: Location | None,
    place: Location,
    words: str,
) -> recording.NewSnapshot:
    row_id, capture = found
    found_by = findable(
        known.entry.annotation,
        kept.metadata,
        url=known.entry.url,
        host=known.entry.host,
        media_type=capture.media_type,
        words=words,
        revision=known.revision,
    )
    return recording.NewSnapshot(
        entry_id=entry_id,
        timestamp=kept.timestamp,
        at=to_datetime(kept.timestamp),
        capture_id=row_id,
        final_url=kept.capture_url,
        status=capture.status,
        media_type=capture.media_type,
        metadata=kept.metadata,
        requisite_count=len(needed(kept.requisites)),
        missing_count=sum(each.is_missing for each in kept.requisites),
        article=article,
        extractor=kept.extractor,
        record=place,
        found_by=None if kept.article_of else found_by,
        rendering=kept.rendering,
        look=kept.look,
        score=score_of(kept.rendering, kept.requisites, kept.appearance).hundredths,
        needs=needs_of(known.entry.url, kept.capture_url, kept.requisites),
    )


def article_words(store: SegmentStore, article: Location) -> str:
    """The words of an article that is stored, as the search index keeps them; blocking.

    Raises:
        StoreError: its record can't be read.
    """
    return indexed(article_text(store, article))


def _revised_seed(entry_record: EntryRecord) -> RevisedSeed:
    url = entry_record.url
    seed = Seed(entry_record.hash_url, url, host(url), entry_record.annotation)
    return RevisedSeed(seed, entry_record.revision, entry_record.is_link)
