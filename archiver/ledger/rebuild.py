"""Builds index rows from records: of whole segments, or of tails that were never indexed.

Two passes: captures are indexed as they are met; then statements are told in order of time, each
with its article. ``recovery`` does this for what a killed process left, ``services.fixity`` for a
whole archive. All of it happens in the caller's one transaction: half a tail is never indexed.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from archiver.errors import StoreError
from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.index import captures, outcomes, rebuild_scratch, recording, seeds, segments
from archiver.index.database import AsyncConnection
from archiver.ledger.findings import Findings, chunks
from archiver.ledger.records import NOWHERE, search_words_of
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Capture, HashUrl, Location, RecordId
from archiver.model.seed import RevisedSeed, Seed
from archiver.store.scanning import scan
from archiver.store.segments import SegmentStore
from archiver.urls.parse import host
from archiver.warc.entry_record import EntryRecord, SnapshotRecord, read_entry_record

CHUNK = 500
_Placed = tuple[EntryRecord, Location]


@dataclass(slots=True)
class Rebuilt:
    """What a rebuild has read so far, and what it could not use."""

    records: int = 0
    captures: int = 0
    snapshots: int = 0
    problems: list[tuple[Location, str]] = field(default_factory=list)


async def build(
    conn: AsyncConnection,
    store: SegmentStore,
    tails: Mapping[str, int],
    on_progress: Callable[[Rebuilt], None] = lambda _: None,
) -> Rebuilt:
    """Index segments from a byte on: ``tails`` maps their names to it.

    Raises:
        StoreError: a segment can't be read.
    """
    told = Rebuilt()
    await rebuild_scratch.begin(conn)
    for name in sorted(tails):
        await segments.advance(conn, {name: tails[name]})
        stretches = chunks(scan(store.directory / name, from_offset=tails[name]), CHUNK)
        while findings := await asyncio.to_thread(next, stretches, None):
            await _index(conn, name, findings)
            told.records += findings.records
            told.captures += len(findings.captures)
            told.problems += findings.problems
            on_progress(told)
    await _tell_all(conn, store, told, on_progress)
    return told


async def _index(conn: AsyncConnection, name: str, findings: Findings) -> None:
    await segments.advance(conn, {name: findings.end})
    fresh = [each for each in findings.captures if not each.is_revisit]
    await captures.insert_all(conn, fresh)
    revisits = [each for each in findings.captures if each.is_revisit]
    await captures.insert_all(conn, await _with_lengths(conn, revisits))
    await rebuild_scratch.remember_conversions(conn, findings.conversions)
    await rebuild_scratch.remember_entry_records(conn, findings.entry_records)


async def _with_lengths(conn: AsyncConnection, revisits: list[Capture]) -> list[Capture]:
    """Revisits with the payload length that only the first record of the payload knows."""
    known = await captures.originals(conn, [each.payload_digest for each in revisits])
    return [
        replace(each, payload_length=known[each.payload_digest].payload_length)
        if each.payload_digest in known
        else each
        for each in revisits
    ]


async def _tell_all(
    conn: AsyncConnection,
    store: SegmentStore,
    told: Rebuilt,
    on_progress: Callable[[Rebuilt], None],
) -> None:
    after = 0
    while places := await rebuild_scratch.entry_records(conn, after=after, limit=CHUNK):
        read = await asyncio.to_thread(_read_entry_records, store, places, told)
        for group in _apart(read):
            await _tell(conn, store, group, told)
        after += len(places)
        on_progress(told)


def _read_entry_records(
    store: SegmentStore, places: list[Location], told: Rebuilt
) -> list[tuple[EntryRecord, Location]]:
    found = []
    for place in places:
        try:
            entry_record = read_entry_record(store.read(place).block.read())
        except StoreError as error:
            told.problems.append((place, str(error)))
            continue
        if entry_record:
            found.append((entry_record, place))
    return found


def _apart(read: list[tuple[EntryRecord, Location]]) -> Iterator[list[_Placed]]:
    """Stretches in which no entry is spoken of twice, so that each can be told at once."""
    group: list[_Placed] = []
    seen: set[str] = set()
    for entry_record, place in read:
        if entry_record.hash_url in seen:
            yield group
            group, seen = [], set()
        seen.add(entry_record.hash_url)
        group.append((entry_record, place))
    if group:
        yield group


async def _tell(
    conn: AsyncConnection, store: SegmentStore, group: list[_Placed], told: Rebuilt
) -> None:
    ids = await seeds.restore(conn, [_revised_seed(entry_record) for entry_record, _ in group])
    leases = await rebuild_scratch.open_leases(conn, [*ids.values()])
    rows = await _snapshots(conn, store, [each for each in group if each[0].snapshot], ids, told)
    told.snapshots += await recording.add_snapshots(conn, rows)
    failed = [_failed(entry_record, ids) for entry_record, _ in group if entry_record.failure]
    await recording.add_failures(conn, failed)
    saved = {row.entry_id: row.timestamp for row in rows}
    ends = [
        (lease, saved.get(entry_id), entry_record.failure)
        for entry_record, _ in group
        if (lease := leases.get(entry_id := ids[entry_record.hash_url]))
        and (entry_id in saved or entry_record.failure)
    ]
    await outcomes.end_jobs(conn, ends, datetime.now(UTC))


def _failed(entry_record: EntryRecord, ids: Mapping[HashUrl, int]) -> recording.FailedAttempt:
    if entry_record.failure is None:
        raise ValueError("this attempt brought something")
    return recording.FailedAttempt(
        entry_id=ids[entry_record.hash_url],
        at=entry_record.at,
        failure=entry_record.failure,
        final=True,
        words=entry_record.annotation.title,
    )


async def _snapshots(
    conn: AsyncConnection,
    store: SegmentStore,
    group: list[_Placed],
    ids: Mapping[HashUrl, int],
    told: Rebuilt,
) -> list[recording.NewSnapshot]:
    said = [entry_record.snapshot for entry_record, _ in group if entry_record.snapshot]
    pages = await captures.of_records(
        conn, [(each.capture_url, each.capture_record) for each in said]
    )
    made = await rebuild_scratch.conversions(conn, [each.article for each in said if each.article])
    articles = [await _article(conn, entry_record, made) for entry_record, _ in group]
    texts = await asyncio.to_thread(_texts, store, articles, told)
    rows = []
    for (entry_record, place), article, text in zip(group, articles, texts, strict=True):
        kept = entry_record.snapshot
        found = pages.get(kept.capture_record) if kept else None
        if kept is None or found is None:
            told.problems.append((place, "The capture of this snapshot is in no segment."))
            continue
        entry_id = ids[entry_record.hash_url]
        rows.append(_row(entry_record, kept, entry_id, found, article, place, text))
    return rows


async def _article(
    conn: AsyncConnection, entry_record: EntryRecord, made: Mapping[RecordId, Location]
) -> Location | None:
    kept = entry_record.snapshot
    if kept and kept.article:
        return made.get(kept.article)
    if kept and kept.article_of:
        return await rebuild_scratch.article_of(conn, entry_record.hash_url, kept.article_of)
    return None


def _texts(store: SegmentStore, articles: list[Location | None], told: Rebuilt) -> list[str]:
    texts = []
    for article in articles:
        try:
            texts.append(_article_text(store, article) if article else "")
        except StoreError as error:
            told.problems.append((article or NOWHERE, str(error)))
            texts.append("")
    return texts


def _row(
    entry_record: EntryRecord,
    kept: SnapshotRecord,
    entry_id: int,
    found: tuple[int, Capture],
    article: Location | None,
    place: Location,
    text: str,
) -> recording.NewSnapshot:
    row_id, capture = found
    words = search_words_of(entry_record.annotation, kept.metadata, text)
    return recording.NewSnapshot(
        entry_id=entry_id,
        timestamp=kept.timestamp,
        at=to_datetime(kept.timestamp),
        capture_id=row_id,
        final_url=kept.capture_url,
        status=capture.status,
        media_type=capture.media_type,
        metadata=kept.metadata,
        requisite_count=len(kept.requisites),
        missing_count=sum(each.is_missing for each in kept.requisites),
        article=article,
        extractor=kept.extractor,
        record=place,
        words=None if kept.article_of else words,
    )


def _article_text(store: SegmentStore, article: Location) -> str:
    _, html = read_article_document(store.read(article).block.read())
    return to_text(html)


def _revised_seed(entry_record: EntryRecord) -> RevisedSeed:
    url = entry_record.url
    seed = Seed(entry_record.hash_url, url, host(url), entry_record.annotation)
    return RevisedSeed(seed, entry_record.revision)
