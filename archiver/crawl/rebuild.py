"""Builds index rows from records: of whole segments, or of tails that were never indexed.

Two passes: captures are indexed as they are met; then statements are told in order of time, each
with its article. ``recovery`` does this for what a killed process left, ``services.fixity`` for a
whole archive. All of it happens in the caller's one transaction: half a tail is never indexed.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from archiver.crawl.findings import Findings, chunks
from archiver.crawl.rows import is_missing
from archiver.errors import StoreError
from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.index import captures, rebuild, results, segments, wishes
from archiver.index.database import AsyncConnection
from archiver.model.capture import Capture, Location
from archiver.model.wish import Wish
from archiver.store.recovery import scan
from archiver.store.segments import SegmentStore
from archiver.urls.parse import host
from archiver.warc.statement import SnapshotStatement, Statement, read_statement

CHUNK = 500


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
    await rebuild.begin(conn)
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
    await rebuild.remember_conversions(conn, findings.conversions)
    await rebuild.remember_statements(conn, findings.statements)


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
    while places := await rebuild.statements(conn, after=after, limit=CHUNK):
        read = await asyncio.to_thread(_read_statements, store, places, told)
        for statement, place in read:
            await _tell(conn, store, statement, place, told)
        after += len(places)
        on_progress(told)


def _read_statements(
    store: SegmentStore, places: list[Location], told: Rebuilt
) -> list[tuple[Statement, Location]]:
    found = []
    for place in places:
        try:
            statement = read_statement(store.read(place).block.read())
        except StoreError as error:
            told.problems.append((place, str(error)))
            continue
        if statement:
            found.append((statement, place))
    return found


async def _tell(
    conn: AsyncConnection,
    store: SegmentStore,
    statement: Statement,
    place: Location,
    told: Rebuilt,
) -> None:
    entry_id = await wishes.restore(conn, _wish(statement), statement.at)
    snapshot, failure = statement.snapshot, statement.failure
    lease = await rebuild.open_lease(conn, entry_id)
    if snapshot:
        try:
            row = await _snapshot(conn, store, entry_id, statement, snapshot, place)
        except StoreError as error:
            told.problems.append((place, str(error)))
            return
        await results.add_snapshots(conn, [row])
        told.snapshots += 1
    elif failure:
        words = statement.entry.title
        failed = results.FailedAttempt(entry_id, statement.at, failure, final=True, words=words)
        await results.add_failures(conn, [failed])
    if lease and (snapshot or failure):
        timestamp = snapshot.timestamp if snapshot else None
        await results.end_jobs(conn, [(lease, timestamp, failure)], statement.at)


async def _snapshot(
    conn: AsyncConnection,
    store: SegmentStore,
    entry_id: int,
    statement: Statement,
    snapshot: SnapshotStatement,
    place: Location,
) -> results.NewSnapshot:
    row = await captures.find_row(conn, snapshot.capture_url, snapshot.capture_record)
    if row is None:
        raise StoreError(f"The capture of {snapshot.capture_url} is in no segment.")
    capture = await captures.by_row(conn, row)
    article = None
    if snapshot.article:
        article = await rebuild.conversion(conn, snapshot.article)
    elif snapshot.article_of:
        article = await rebuild.article_of(conn, statement.entry.hash_url, snapshot.article_of)
    text = await asyncio.to_thread(_article_text, store, article) if article else ""
    titles = dict.fromkeys((statement.entry.title, snapshot.metadata.title))
    return results.NewSnapshot(
        entry_id=entry_id,
        timestamp=snapshot.timestamp,
        at=statement.at,
        capture_id=row,
        final_url=snapshot.capture_url,
        status=capture.status,
        media_type=capture.media_type,
        metadata=snapshot.metadata,
        requisite_count=len(snapshot.requisites),
        missing_count=sum(map(is_missing, snapshot.requisites)),
        article=article,
        extractor=snapshot.extractor,
        record=place,
        words=None if snapshot.article_of else (" ".join(filter(None, titles)), text),
    )


def _article_text(store: SegmentStore, article: Location) -> str:
    _, html = read_article_document(store.read(article).block.read())
    return to_text(html)


def _wish(statement: Statement) -> Wish:
    said = statement.entry
    return Wish(
        hash_url=said.hash_url,
        url=said.url,
        url_given=said.url_given,
        host=host(said.url),
        added_at=said.added_at,
        title=said.title,
        tags=said.tags,
        note=said.note,
        source=said.source,
    )
