"""Brings entries back from their records: rows of snapshots, failures and the ends of jobs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from archiver.errors import StoreError, StoreUnavailable
from archiver.html.score import score_of
from archiver.index import (
    captures,
    entries,
    failed_attempts,
    outcomes,
    rebuild_scratch,
    recorded_seeds,
    recording,
    snapshots,
)
from archiver.index.database import AsyncConnection
from archiver.index.entries import Revised
from archiver.ledger.article_text import article_text
from archiver.ledger.records import NOWHERE
from archiver.ledger.rows import needs_of
from archiver.ledger.still_valid import Placed, snapshots_of
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Capture, HashUrl, Location, RecordId
from archiver.model.likeness import likenesses_of
from archiver.model.requisite import needed
from archiver.model.seed import RevisedSeed, Seed
from archiver.query.findable import findable, indexed, unvisited
from archiver.store.segments import SegmentReader, SegmentStore
from archiver.urls.parse import host
from archiver.warc.entry_record import EntryRecord, SnapshotRecord

Problem = tuple[Location, str]
"""A place that could not be used, and why."""


async def restore(
    conn: AsyncConnection, store: SegmentStore, group: list[Placed], problems: list[Problem]
) -> int:
    """Bring entries back from their records; how many snapshots of theirs are new.

    Args:
        conn: a writing connection.
        store: where the records lie.
        group: records, of which no two are of one entry.
        problems: gets the places that could not be used, and why.
    """
    ids = await recorded_seeds.restore(
        conn, [_revised_seed(entry_record) for entry_record, _ in group]
    )
    leases = await rebuild_scratch.open_leases(conn, [*ids.values()])
    known = await entries.with_revisions(conn, [*ids.values()])
    revised = {key: known[number] for key, number in ids.items()}
    visited = [each for each in group if each[0].snapshot]
    rows = await _snapshots(conn, store, visited, ids, revised, problems)
    fresh = await recording.add_snapshots(conn, rows)
    failed = [
        _failed(entry_record, ids, revised[entry_record.hash_url])
        for entry_record, _ in group
        if entry_record.failure
    ]
    await failed_attempts.add_failures(conn, failed, once=True)
    saved = {row.entry_id: row.timestamp for row in rows}
    ends = [
        (lease, saved.get(entry_id), entry_record.failure)
        for entry_record, _ in group
        if (lease := leases.get(entry_id := ids[entry_record.hash_url]))
        and (entry_id in saved or entry_record.failure)
    ]
    await outcomes.end_jobs(conn, ends, datetime.now(UTC))
    return fresh


def _failed(
    entry_record: EntryRecord, ids: Mapping[HashUrl, int], known: Revised
) -> failed_attempts.FailedAttempt:
    if entry_record.failure is None:
        raise ValueError("this attempt brought something")
    return failed_attempts.FailedAttempt(
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
    problems: list[Problem],
) -> list[recording.NewSnapshot]:
    kept = await snapshots_of(conn, group)
    pages = await captures.of_records(
        conn, [(each.capture_url, each.capture_record) for each in kept]
    )
    made = await rebuild_scratch.conversions(conn, [one for each in kept for one in each.made])
    articles = [made.get(each.article) if each.article else None for each in kept]
    words = await asyncio.to_thread(_words, store, articles, problems)
    owners = [ids[entry_record.hash_url] for entry_record, _ in group]
    shared = await _shared_articles(conn, [*zip(owners, kept, strict=True)])
    rows = []
    for (entry_record, place), each, article, own_words in zip(
        group, kept, articles, words, strict=True
    ):
        found = _page(pages, each)
        if found is None:
            problems.append((place, "The capture of this snapshot is in no segment."))
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


def _words(
    store: SegmentStore, articles: list[Location | None], problems: list[Problem]
) -> list[str]:
    found, read = [], SegmentReader(store).read
    for article in articles:
        try:
            found.append(indexed(article_text(read, article)) if article else "")
        except StoreUnavailable:
            raise
        except StoreError as error:
            problems.append((article or NOWHERE, str(error)))
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
        limits=kept.appearance.limits,
        needs=needs_of(known.entry.url, kept.capture_url, kept.requisites),
    )


def _revised_seed(entry_record: EntryRecord) -> RevisedSeed:
    url = entry_record.url
    seed = Seed(entry_record.hash_url, url, host(url), entry_record.annotation)
    return RevisedSeed(seed, entry_record.revision, entry_record.is_link)
