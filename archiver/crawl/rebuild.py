"""Builds index rows from records: of whole segments, or of tails that were never indexed.

Two passes: captures are indexed as they are met; then statements are told in order of time, each
with its article. ``recovery`` does this for what a killed process left, ``services.fixity`` for a
whole archive. All of it happens in the caller's one transaction: half a tail is never indexed.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from archiver.crawl.findings import Findings, chunks
from archiver.crawl.records import NOWHERE
from archiver.crawl.rows import is_missing
from archiver.errors import StoreError
from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.index import captures, outcomes, rebuild, results, segments, wishes
from archiver.index.database import AsyncConnection
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Capture, HashUrl, Location, RecordId
from archiver.model.wish import Wish
from archiver.store.recovery import scan
from archiver.store.segments import SegmentStore
from archiver.urls.parse import host
from archiver.warc.statement import SnapshotStatement, Statement, read_statement

CHUNK = 500
_Placed = tuple[Statement, Location]


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
        for group in _apart(read):
            await _tell(conn, store, group, told)
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


def _apart(read: list[tuple[Statement, Location]]) -> Iterator[list[_Placed]]:
    """Stretches in which no entry is spoken of twice, so that each can be told at once."""
    group: list[_Placed] = []
    seen: set[str] = set()
    for statement, place in read:
        if statement.entry.hash_url in seen:
            yield group
            group, seen = [], set()
        seen.add(statement.entry.hash_url)
        group.append((statement, place))
    if group:
        yield group


async def _tell(
    conn: AsyncConnection, store: SegmentStore, group: list[_Placed], told: Rebuilt
) -> None:
    ids = await wishes.restore(conn, [_wish(statement) for statement, _ in group])
    leases = await rebuild.open_leases(conn, [*ids.values()])
    rows = await _snapshots(conn, store, [each for each in group if each[0].snapshot], ids, told)
    told.snapshots += await results.add_snapshots(conn, rows)
    failed = [_failed(statement, ids) for statement, _ in group if statement.failure]
    await results.add_failures(conn, failed)
    saved = {row.entry_id: row.timestamp for row in rows}
    ends = [
        (lease, saved.get(entry_id), statement.failure)
        for statement, _ in group
        if (lease := leases.get(entry_id := ids[statement.entry.hash_url]))
        and (entry_id in saved or statement.failure)
    ]
    await outcomes.end_jobs(conn, ends, datetime.now(UTC))


def _failed(statement: Statement, ids: Mapping[HashUrl, int]) -> results.FailedAttempt:
    if statement.failure is None:
        raise ValueError("this attempt brought something")
    return results.FailedAttempt(
        entry_id=ids[statement.entry.hash_url],
        at=statement.at,
        failure=statement.failure,
        final=True,
        words=statement.entry.title,
    )


async def _snapshots(
    conn: AsyncConnection,
    store: SegmentStore,
    group: list[_Placed],
    ids: Mapping[HashUrl, int],
    told: Rebuilt,
) -> list[results.NewSnapshot]:
    said = [statement.snapshot for statement, _ in group if statement.snapshot]
    pages = await captures.of_records(
        conn, [(each.capture_url, each.capture_record) for each in said]
    )
    made = await rebuild.conversions(conn, [each.article for each in said if each.article])
    articles = [await _article(conn, statement, made) for statement, _ in group]
    texts = await asyncio.to_thread(_texts, store, articles, told)
    rows = []
    for (statement, place), article, text in zip(group, articles, texts, strict=True):
        kept = statement.snapshot
        found = pages.get(kept.capture_record) if kept else None
        if kept is None or found is None:
            told.problems.append((place, "The capture of this snapshot is in no segment."))
            continue
        entry_id = ids[statement.entry.hash_url]
        rows.append(_row(statement, kept, entry_id, found, article, place, text))
    return rows


async def _article(
    conn: AsyncConnection, statement: Statement, made: Mapping[RecordId, Location]
) -> Location | None:
    kept = statement.snapshot
    if kept and kept.article:
        return made.get(kept.article)
    if kept and kept.article_of:
        return await rebuild.article_of(conn, statement.entry.hash_url, kept.article_of)
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
    statement: Statement,
    kept: SnapshotStatement,
    entry_id: int,
    found: tuple[int, Capture],
    article: Location | None,
    place: Location,
    text: str,
) -> results.NewSnapshot:
    row_id, capture = found
    titles = dict.fromkeys((statement.entry.title, kept.metadata.title))
    return results.NewSnapshot(
        entry_id=entry_id,
        timestamp=kept.timestamp,
        at=to_datetime(kept.timestamp),
        capture_id=row_id,
        final_url=kept.capture_url,
        status=capture.status,
        media_type=capture.media_type,
        metadata=kept.metadata,
        requisite_count=len(kept.requisites),
        missing_count=sum(map(is_missing, kept.requisites)),
        article=article,
        extractor=kept.extractor,
        record=place,
        words=None if kept.article_of else (" ".join(filter(None, titles)), text),
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
