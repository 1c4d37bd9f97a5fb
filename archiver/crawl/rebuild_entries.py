"""Restoration of entries and snapshots from their WARC records."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from archiver.crawl.batch_rows import failed_attempt, snapshot_row
from archiver.crawl.record_building import NOWHERE
from archiver.crawl.stored_content import article_text
from archiver.crawl.visit_result import UnwantedVisit, replay_urls
from archiver.db import (
    attempts,
    captures,
    entries,
    new_entries,
    queue,
    rebuild_tables,
    tombstones,
    visit_results,
)
from archiver.db import snapshots as db_snapshots
from archiver.db.engine import AsyncConnection
from archiver.db.entries import Revised
from archiver.errors import StoreError, StoreUnavailable
from archiver.http.urls import host
from archiver.model.capture import Capture, HashUrl, Location, RecordId
from archiver.model.rendering import renditions_of
from archiver.model.seed import RevisedSeed, Seed
from archiver.search.search_document import index_words
from archiver.warc.metadata_records import EntryRecord, SnapshotRecord
from archiver.warc.segments import SegmentReader, SegmentStore

StoredEntryRecord = tuple[EntryRecord, Location]


async def split_deleted(
    conn: AsyncConnection, read: list[StoredEntryRecord], *, bin_after: int | None = None
) -> tuple[list[StoredEntryRecord], list[UnwantedVisit]]:
    """Return the entry records to restore, and the visits to delete.

    A visit is deleted if its entry was deleted and its snapshot has no tombstone yet. If only the
    snapshot was deleted, the entry record is returned without the snapshot.

    Args:
        conn: a connection.
        read: entry records.
        bin_after: number of a deletion. Items that later deletions name are restored, and the
            caller moves them to the bin afterwards. If None, no deleted item is restored.
    """
    keys = {entry_record.hash_url for entry_record, _ in read}
    deleted = await tombstones.generations(conn, keys)
    erased = deleted
    if deleted and bin_after is not None:
        erased = await tombstones.generations(conn, keys, before=bin_after)
    snapshots = await tombstones.snapshots(conn, keys)
    unique, late = [], []
    for entry_record, place in read:
        key, snapshot, number = entry_record.hash_url, entry_record.snapshot, None
        if snapshot:
            number = snapshots.get((key, snapshot.timestamp, snapshot.capture_record))
        is_deleted = entry_record.generation <= deleted.get(key, -1)
        if snapshot and is_deleted and number is None:
            late.append(_unwanted_visit(entry_record, snapshot))
        elif entry_record.generation > erased.get(key, -1):
            is_erased = number is not None and (bin_after is None or number <= bin_after)
            bare = replace(entry_record, snapshot=None) if is_erased else entry_record
            unique.append((bare, place))
    return unique, late


def _unwanted_visit(entry_record: EntryRecord, snapshot: SnapshotRecord) -> UnwantedVisit:
    return UnwantedVisit(
        entry_record.hash_url,
        snapshot.timestamp,
        snapshot.capture_record,
        replay_urls(entry_record.url, snapshot.capture_url, snapshot.requisites),
        snapshot.excluded_responses,
    )


async def snapshots_of(
    conn: AsyncConnection, group: Sequence[StoredEntryRecord]
) -> list[SnapshotRecord]:
    """Return the snapshots of entry records.

    If the record of a snapshot refers to the article of a deleted snapshot, the snapshot gets its
    own article record from ``tombstones.own_articles``.
    """
    own_articles = await tombstones.own_articles(
        conn, [entry_record.hash_url for entry_record, _ in group]
    )
    return [
        _with_own_article(each, own_articles.get((entry_record.hash_url, each.timestamp)))
        for entry_record, _ in group
        if (each := entry_record.snapshot)
    ]


def _with_own_article(record: SnapshotRecord, article: RecordId | None) -> SnapshotRecord:
    """Return a snapshot with its own article if its record refers to a deleted snapshot."""
    if article is None or not record.article_of:
        return record
    return replace(record, article=article or None, article_of=None)


def without_repeated_entries(read: list[StoredEntryRecord]) -> Iterator[list[StoredEntryRecord]]:
    """Split records into groups without repeated entries, which can be restored together."""
    group: list[StoredEntryRecord] = []
    seen: set[str] = set()
    for entry_record, place in read:
        if entry_record.hash_url in seen:
            yield group
            group, seen = [], set()
        seen.add(entry_record.hash_url)
        group.append((entry_record, place))
    if group:
        yield group


Problem = tuple[Location, str]
"""Location of an unusable record, and why it is unusable."""


async def restore_entries(
    conn: AsyncConnection,
    store: SegmentStore,
    group: list[StoredEntryRecord],
    problems: list[Problem],
) -> int:
    """Restore entries from their records; return the number of new snapshots.

    Args:
        conn: a writing connection.
        store: the segment store.
        group: records of different entries.
        problems: list to which unusable records are added.
    """
    ids = await new_entries.restore(
        conn, [_revised_seed(entry_record) for entry_record, _ in group]
    )
    leases = await rebuild_tables.open_leases(conn, [*ids.values()])
    rows_by_id = await entries.with_revisions(conn, [*ids.values()])
    revised = {key: rows_by_id[number] for key, number in ids.items()}
    visited = [each for each in group if each[0].snapshot]
    rows = await _snapshots(conn, store, visited, ids, revised, problems)
    fresh = await visit_results.add_snapshots(conn, rows)
    failed = [
        failed_attempt(
            ids[entry_record.hash_url],
            revised[entry_record.hash_url],
            entry_record.at,
            entry_record.failure,
        )
        for entry_record, _ in group
        if entry_record.failure
    ]
    await attempts.add_failures(conn, failed, skip_stored=True)
    saved = {row.entry_id: row.timestamp for row in rows}
    ends = [
        (lease, saved.get(entry_id), entry_record.failure)
        for entry_record, _ in group
        if (lease := leases.get(entry_id := ids[entry_record.hash_url]))
        and (entry_id in saved or entry_record.failure)
    ]
    await queue.end_jobs(conn, ends, datetime.now(UTC))
    return fresh


async def _snapshots(
    conn: AsyncConnection,
    store: SegmentStore,
    group: list[StoredEntryRecord],
    ids: Mapping[HashUrl, int],
    revised: Mapping[HashUrl, Revised],
    problems: list[Problem],
) -> list[visit_results.NewSnapshot]:
    records = await snapshots_of(conn, group)
    pages = await captures.of_records(
        conn, [(each.capture_url, each.capture_record) for each in records]
    )
    conversions = await rebuild_tables.conversions(
        conn, [one for each in records for one in each.conversions]
    )
    articles = [conversions.get(each.article) if each.article else None for each in records]
    words = await asyncio.to_thread(_article_texts, store, articles, problems)
    owners = [ids[entry_record.hash_url] for entry_record, _ in group]
    shared = await _shared_articles(conn, [*zip(owners, records, strict=True)])
    rows = []
    for (entry_record, place), each, article, own_words in zip(
        group, records, articles, words, strict=True
    ):
        page = _page(pages, each)
        if page is None:
            problems.append((place, "No segment contains the capture of this snapshot."))
            continue
        entry_id = ids[entry_record.hash_url]
        of_entry = revised[entry_record.hash_url]
        stored_article = article or shared.get(entry_id)
        row_id, capture = page
        row = snapshot_row(
            entry_id, of_entry, each, capture, place=place, article=stored_article, words=own_words
        )
        renditions = renditions_of(each.renditions, conversions)
        rows.append(replace(row, capture_id=row_id, renditions=renditions))
    return rows


async def _shared_articles(
    conn: AsyncConnection, records: Sequence[tuple[int, SnapshotRecord]]
) -> dict[int, Location]:
    """Return, by entry id, the article that a snapshot shares with an earlier snapshot.

    If the earlier snapshot is not restored yet, or its article is by another extractor version, the
    article is assigned at the end of the rebuild.
    """
    sharing = [(number, int(each.article_of)) for number, each in records if each.article_of]
    stored = await db_snapshots.articles_of(conn, sharing)
    shared, missing = {}, []
    for number, each in records:
        if each.article_of:
            extractor, article = stored.get((number, int(each.article_of)), ("", None))
            if article and extractor == each.extractor:
                shared[number] = article
            else:
                key = number, int(each.timestamp), int(each.article_of), each.extractor
                missing.append(key)
    await rebuild_tables.store_shared_articles(conn, missing)
    return shared


def _page(
    pages: Mapping[tuple[str, RecordId], list[tuple[int, Capture]]], record: SnapshotRecord
) -> tuple[int, Capture] | None:
    """Return (row id, capture) of a snapshot's page, or None.

    If several captures have the record id, the one with the timestamp of the record is preferred.
    """
    candidates = pages.get((record.capture_url, record.capture_record), [])
    same = [each for each in candidates if each[1].timestamp == record.capture_timestamp]
    return next(iter((*same, *candidates)), None)


def _article_texts(
    store: SegmentStore, articles: list[Location | None], problems: list[Problem]
) -> list[str]:
    texts, read = [], SegmentReader(store).read
    for article in articles:
        try:
            texts.append(index_words(article_text(read, article)) if article else "")
        except StoreUnavailable:
            raise
        except StoreError as error:
            problems.append((article or NOWHERE, str(error)))
            texts.append("")
    return texts


def _revised_seed(entry_record: EntryRecord) -> RevisedSeed:
    url = entry_record.url
    seed = Seed(entry_record.hash_url, url, host(url), entry_record.annotation)
    return RevisedSeed(
        seed, entry_record.revision, entry_record.is_link, generation=entry_record.generation
    )
