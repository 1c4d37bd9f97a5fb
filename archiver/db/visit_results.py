"""Insertion of new snapshots, and updates of their entries."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import (
    counters,
    screenshots,
    search_documents,
    segment_rows,
    snapshot_resources,
    snapshots,
)
from archiver.db.counters import next_id
from archiver.db.dialects import among
from archiver.db.entries import entry_states
from archiver.db.full_text import IndexRow
from archiver.db.schema import Number, attempt, entry, entry_table, snapshot, snapshot_table
from archiver.db.search_documents import NewDocument
from archiver.db.statements import execute_rows, insert_rows
from archiver.model.capture import Location, Timestamp
from archiver.model.job import State
from archiver.model.listing import SearchDocument
from archiver.model.page import PageMetadata, supersedes
from archiver.model.rendering import WHOLE, Limit, Rendering, Rendition

_EXISTING = select(
    snapshot.c.entry_id, snapshot.c.timestamp, snapshot.c.id, snapshot.c.extractor
).where(
    snapshot.c.entry_id.in_(among(bindparam("entries"))),
    snapshot.c.timestamp.in_(among(bindparam("moments"))),
)
_METADATA = [each.name for each in fields(PageMetadata)]
_IS_THIS = entry_table.c.id == bindparam("entry_id")
_NEWEST = bindparam("newest", type_=Number)
_SORT_AT = bindparam("new_sort_at", type_=Number)
_MORE = entry_table.c.snapshot_count + bindparam("more", type_=Number)
_DOCUMENT = func.coalesce(bindparam("new_document", type_=Number), entry_table.c.document_id)
_FAILED_SINCE = exists().where(attempt.c.entry_id == entry_table.c.id, attempt.c.at > _SORT_AT)

UPDATE_SAVED = (
    update(entry_table)
    .values(
        page_title=bindparam("new_title"),
        latest=_NEWEST,
        status=bindparam("new_status"),
        snapshot_count=_MORE,
        media_type=bindparam("new_media_type"),
        state=State.SAVED,
        rendering=bindparam("new_rendering"),
        score=bindparam("new_score"),
        failure=case((_FAILED_SINCE, entry_table.c.failure)),
        sort_at=_SORT_AT,
        document_id=_DOCUMENT,
    )
    .where(_IS_THIS, func.coalesce(entry_table.c.latest, 0) <= _NEWEST)
)
"""Update of an entry for which the inserted snapshot is now the newest."""

UPDATE_OLDER = (
    update(entry_table)
    .values(snapshot_count=_MORE, state=State.SAVED)
    .where(_IS_THIS, entry_table.c.latest > _NEWEST)
)
"""Update of an entry whose newest snapshot is newer than all inserted snapshots."""

UPDATE_ARTICLE = update(snapshot_table).where(snapshot_table.c.id == bindparam("snapshot_id"))
"""Update of a snapshot whose article was extracted again."""

UPDATE_TITLE = (
    update(entry_table)
    .values(page_title=bindparam("new_title"), document_id=_DOCUMENT)
    .where(_IS_THIS)
)
"""Update of an entry's title and search document after its article was extracted again."""


@dataclass(slots=True)
class NewSnapshot:
    """New snapshot whose records are on disk.

    Attributes:
        entry_id: row id of the entry.
        timestamp, at: time when the entry's URL was requested.
        capture_id: row id of the capture of the final response.
        final_url, status, media_type: URL, HTTP status and media type of the final response.
        metadata: metadata of the page.
        requisite_count: number of requisites.
        missing_count: number of requisites that could not be fetched.
        article: location of the conversion record; None if the page has no article.
        extractor: version of the extractor that made the article.
        record: location of the snapshot's metadata record.
        search_document: new search document of the entry; None if the current one stays valid.
        words: row of the search document for the full-text index, if it was computed before the
            transaction; else None.
        rendering: whether a browser rendered the page, or should have rendered it.
        needs: URLs that replay needs: those of the entry, the page and its requisites.
        renditions: screenshots and other renditions of the page.
        score: quality score in percent.
        limits: reasons why a browser did not render all of the page.
    """

    entry_id: int
    timestamp: Timestamp
    at: datetime
    capture_id: int
    final_url: str
    status: int
    media_type: str
    metadata: PageMetadata
    requisite_count: int
    missing_count: int
    article: Location | None
    extractor: str
    record: Location
    search_document: SearchDocument | None
    rendering: Rendering = Rendering.NONE
    needs: tuple[str, ...] = ()
    renditions: tuple[Rendition, ...] = ()
    score: int = WHOLE
    limits: tuple[Limit, ...] = ()
    words: IndexRow | None = None


async def add_snapshots(conn: AsyncConnection, new: Sequence[NewSnapshot]) -> int:
    """Insert snapshots, oldest first, and update their entries; return how many are new.

    If a visit was recorded twice, a snapshot with the same entry and timestamp exists already. This
    row is kept, and gets the new article if a newer extractor version made it.
    """
    if not new:
        return 0
    new = _deduplicated(new)
    existing = await _existing(conn, [*map(_key, new)])
    segments = await segment_rows.ids(conn, [*_segment_names(new)])
    recorded = [(each, *existing[key]) for each in new if (key := _key(each)) in existing]
    replaced = [
        (each, row_id)
        for each, row_id, extractor in recorded
        if supersedes(each.extractor, extractor)
    ]
    await _replace_articles(conn, replaced, segments)
    new = [each for each in new if _key(each) not in existing]
    if not new:
        return 0
    first = await next_id(conn, snapshot_table.c.id)
    ids = {id(each): first + n for n, each in enumerate(new)}
    await _insert_snapshots(conn, new, ids, segments)
    newest = await search_documents.insert_all(conn, _documents(new, ids))
    await _update_entries(conn, new, newest)
    await counters.change(conn, {counters.SNAPSHOTS: len(new)})
    return len(new)


def _documents(new: Sequence[NewSnapshot], ids: Mapping[int, int]) -> list[NewDocument]:
    return [
        NewDocument(each.entry_id, ids[id(each)], each.search_document, each.words)
        for each in new
        if each.search_document
    ]


def _key(new: NewSnapshot) -> tuple[int, int]:
    return new.entry_id, int(new.timestamp)


def _deduplicated(new: Sequence[NewSnapshot]) -> list[NewSnapshot]:
    """Remove duplicates of (entry id, timestamp); keep the one of the newest extractor version."""
    unique: dict[tuple[int, int], NewSnapshot] = {}
    for each in new:
        before = unique.setdefault(_key(each), each)
        if supersedes(each.extractor, before.extractor):
            unique[_key(each)] = each
    return [*unique.values()]


async def _existing(
    conn: AsyncConnection, keys: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, str]]:
    """Return (row id, extractor version) of existing snapshots, by (entry id, timestamp).

    The result may contain other snapshots of the same entries.
    """
    parameters = {
        "entries": [entry_id for entry_id, _ in keys],
        "moments": {moment for _, moment in keys},
    }
    rows = await conn.execute(_EXISTING, parameters)
    return {(row.entry_id, row.timestamp): (row.id, row.extractor) for row in rows}


async def _replace_articles(
    conn: AsyncConnection,
    replaced: Sequence[tuple[NewSnapshot, int]],
    segment_ids: Mapping[str, int],
) -> None:
    """Update snapshots with articles that were extracted again, and their entries."""
    if not replaced:
        return
    await execute_rows(
        conn,
        UPDATE_ARTICLE,
        [
            {"snapshot_id": row_id, **_article_columns(each, segment_ids)}
            for each, row_id in replaced
        ],
    )
    renditions = {row_id: each.renditions for each, row_id in replaced}
    await screenshots.put(conn, renditions, segment_ids)
    rows = await conn.execute(
        select(entry.c.id, entry.c.latest).where(
            entry.c.id.in_(among(each.entry_id for each, _ in replaced))
        )
    )
    latest = {row.id: row.latest for row in rows}
    latest_pairs = [pair for pair in replaced if latest[pair[0].entry_id] == int(pair[0].timestamp)]
    newest = await search_documents.insert_all(
        conn,
        _documents(
            [each for each, _ in latest_pairs], {id(each): row_id for each, row_id in latest_pairs}
        ),
    )
    await execute_rows(
        conn,
        UPDATE_TITLE,
        [
            {
                "entry_id": each.entry_id,
                "new_title": each.metadata.title,
                "new_document": newest.get(each.entry_id),
            }
            for each, _ in latest_pairs
        ],
    )
    await snapshots.mark_comparisons_pending(conn, {each.entry_id for each, _ in replaced})
    await search_documents.mark_stale_of(
        conn, [row_id for each, row_id in replaced if (each, row_id) not in latest_pairs]
    )


async def _insert_snapshots(
    conn: AsyncConnection,
    new: Sequence[NewSnapshot],
    ids: Mapping[int, int],
    segment_ids: Mapping[str, int],
) -> None:
    rows = [
        {
            "id": ids[id(each)],
            "entry_id": each.entry_id,
            "timestamp": int(each.timestamp),
            "capture_id": each.capture_id,
            "final_url": each.final_url,
            "requisite_count": each.requisite_count,
            "missing_count": each.missing_count,
            "rendering": each.rendering,
            "score": each.score,
            "limits": " ".join(each.limits),
            **_article_columns(each, segment_ids),
        }
        for each in new
    ]
    await insert_rows(conn, snapshot_table, rows)
    await snapshot_resources.insert_all(conn, {ids[id(each)]: each.needs for each in new})
    renditions = {ids[id(each)]: each.renditions for each in new if each.renditions}
    await screenshots.put(conn, renditions, segment_ids)


def _segment_names(new: Sequence[NewSnapshot]) -> set[str]:
    places = [place for each in new for place in (each.article, each.record) if place]
    places += [each.location for one in new for each in one.renditions]
    return {place.segment for place in places}


def _article_columns(new: NewSnapshot, segment_ids: Mapping[str, int]) -> dict[str, Any]:
    """Return the columns that another extraction of the article changes."""
    article, record = new.article, new.record
    return {
        **{name: getattr(new.metadata, name) for name in _METADATA},
        "extractor": new.extractor,
        "article_segment_id": segment_ids[article.segment] if article else None,
        "article_offset": article.offset if article else None,
        "article_length": article.length if article else None,
        "metadata_segment_id": segment_ids[record.segment],
        "metadata_offset": record.offset,
        "metadata_length": record.length,
    }


async def _update_entries(
    conn: AsyncConnection, new: Sequence[NewSnapshot], newest_documents: dict[int, int]
) -> None:
    states = await entry_states(conn, {each.entry_id for each in new})
    newest = {each.entry_id: each for each in sorted(new, key=lambda each: each.timestamp)}
    more = Counter(each.entry_id for each in new)
    older = {key for key, each in newest.items() if int(each.timestamp) < states[key].latest}
    await execute_rows(
        conn,
        UPDATE_OLDER,
        [
            {"entry_id": key, "more": more[key], "newest": int(newest[key].timestamp)}
            for key in sorted(older)
        ],
    )
    await execute_rows(
        conn,
        UPDATE_SAVED,
        [
            {
                "entry_id": each.entry_id,
                "more": more[each.entry_id],
                "new_title": each.metadata.title,
                "newest": int(each.timestamp),
                "new_status": each.status,
                "new_media_type": each.media_type,
                "new_document": newest_documents.get(each.entry_id),
                "new_sort_at": int(each.at.timestamp()),
                "new_rendering": each.rendering,
                "new_score": each.score,
            }
            for key, each in newest.items()
            if key not in older
        ],
    )
    await snapshots.mark_comparisons_pending(
        conn, {key for key in newest if states[key].snapshots + more[key] > 1}
    )
