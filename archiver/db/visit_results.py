"""Insertion of new snapshots, and updates of their entries."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

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
from archiver.db.entries import EntryState, entry_states
from archiver.db.full_text import IndexRow
from archiver.db.schema import Number, attempt, entry, entry_table, snapshot, snapshot_table
from archiver.db.search_documents import NewDocument
from archiver.db.statements import execute_rows, insert_rows
from archiver.model.capture import Location, Timestamp
from archiver.model.job import State
from archiver.model.listing import SearchDocument
from archiver.model.page import PageMetadata, supersedes
from archiver.model.rendering import WHOLE, Limit, RenderHint, Rendering, Rendition

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
SAVED_PARAMETERS = (
    *("entry_id", "more", "new_title", "newest", "new_status", "new_media_type"),
    *("new_document", "new_sort_at", "new_rendering", "new_score"),
)

UPDATE_OLDER = (
    update(entry_table)
    .values(snapshot_count=_MORE, state=State.SAVED)
    .where(_IS_THIS, entry_table.c.latest > _NEWEST)
)
"""Update of an entry whose newest snapshot is newer than all inserted snapshots."""
OLDER_PARAMETERS = ("entry_id", "more", "newest")

_ARTICLE_COLUMNS = (
    *("title", "byline", "site", "excerpt", "language", "published", "canonical"),
    "extractor",
    *("article_segment_id", "article_offset", "article_length"),
    *("metadata_segment_id", "metadata_offset", "metadata_length"),
)
UPDATE_ARTICLE = (
    update(snapshot_table)
    .values({name: bindparam(f"new_{name}") for name in _ARTICLE_COLUMNS})
    .where(snapshot_table.c.id == bindparam("snapshot_id"))
)
"""Update of a snapshot whose article was extracted again."""
READ_PARAMETERS = ("snapshot_id", *(f"new_{name}" for name in _ARTICLE_COLUMNS))

UPDATE_TITLE = (
    update(entry_table)
    .values(page_title=bindparam("new_title"), document_id=_DOCUMENT)
    .where(_IS_THIS)
)
"""Update of an entry's title and search document after its article was extracted again."""
NAMED_PARAMETERS = ("entry_id", "new_title", "new_document")

_NEW_SNAPSHOT = (
    "id",
    "entry_id",
    "timestamp",
    "capture_id",
    "final_url",
    "title",
    "byline",
    "site",
    "excerpt",
    "language",
    "published",
    "canonical",
    "requisite_count",
    "missing_count",
    "extractor",
    "article_segment_id",
    "article_offset",
    "article_length",
    "metadata_segment_id",
    "metadata_offset",
    "metadata_length",
    "rendering",
    "look",
    "score",
    "limits",
)
_NO_LOCATION = (None, None, None)
_page_fields = attrgetter(
    "title", "byline", "site", "excerpt", "language", "published", "canonical"
)


@dataclass(frozen=True, slots=True)
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
        render_hint: hint whether pages of this host need a browser.
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
    render_hint: RenderHint = RenderHint.NONE
    score: int = WHOLE
    limits: tuple[Limit, ...] = ()
    words: IndexRow | None = None


@dataclass(frozen=True, slots=True)
class InsertContext:
    """Data about existing rows that an insertion of snapshots needs.

    Attributes:
        existing: (row id, extractor version) of existing snapshots, by (entry id, timestamp).
        first: row id for the first new snapshot.
        segments: row ids of segments by name.
        first_document: result of ``search_documents.next_document``.
    """

    existing: Mapping[tuple[int, int], tuple[int, str]]
    first: int
    segments: Mapping[str, int]
    first_document: int


async def insert_context(
    conn: AsyncConnection, keys: Collection[tuple[int, int]], names: Collection[str]
) -> InsertContext:
    """Read the data about existing rows that an insertion of snapshots needs.

    Args:
        conn: a writing connection.
        keys: (entry id, timestamp) of the snapshots.
        names: names of the segments that contain the records of the snapshots.
    """
    return InsertContext(
        await _existing(conn, keys),
        await next_id(conn, snapshot_table.c.id),
        await segment_rows.ids(conn, [*names]),
        await search_documents.next_document(conn),
    )


async def add_snapshots(
    conn: AsyncConnection,
    found: Sequence[NewSnapshot],
    states: Mapping[int, EntryState] | None = None,
    context: InsertContext | None = None,
) -> int:
    """Insert snapshots, oldest first, and update their entries; return how many are new.

    If a visit was recorded twice, a snapshot with the same entry and timestamp exists already. This
    row is kept, and gets the new article if a newer extractor version made it.

    Args:
        conn: a writing connection.
        found: snapshots to insert.
        states: states of the entries by row id, if this transaction has read them.
        context: result of ``insert_context``, if this transaction has called it.
    """
    if not found:
        return 0
    found = _deduplicated(found)
    states = states or await entry_states(conn, {each.entry_id for each in found})
    context = context or await insert_context(conn, [*map(_key, found)], _segment_names(found))
    existing = context.existing
    known = await _with_missing_segments(conn, context.segments, _segment_names(found))
    deferred = [(each, *existing[key]) for each in found if (key := _key(each)) in existing]
    replaced = [(each, row_id) for each, row_id, by in deferred if supersedes(each.extractor, by)]
    await _replace_articles(conn, replaced)
    found = [each for each in found if _key(each) not in existing]
    if not found:
        return 0
    ids = {id(each): context.first + n for n, each in enumerate(found)}
    await _insert_snapshots(conn, found, ids, known)
    unchanged = {each.entry_id for each in found if _is_unchanged(each, states[each.entry_id])}
    # The document ids in the context are used up if articles were replaced.
    first_document = None if replaced else context.first_document
    made = _documents(found, ids)
    newest = await search_documents.insert_all(conn, made, first_document, unchanged)
    await _update_entries(conn, found, newest, states)
    await counters.change(conn, {counters.SNAPSHOTS: len(found)})
    return len(found)


def _documents(found: Sequence[NewSnapshot], ids: Mapping[int, int]) -> list[NewDocument]:
    return [
        NewDocument(each.entry_id, ids[id(each)], each.search_document, each.words)
        for each in found
        if each.search_document
    ]


def _key(found: NewSnapshot) -> tuple[int, int]:
    return found.entry_id, int(found.timestamp)


def _deduplicated(found: Sequence[NewSnapshot]) -> list[NewSnapshot]:
    """Remove duplicates of (entry id, timestamp); keep the one of the newest extractor version."""
    kept: dict[tuple[int, int], NewSnapshot] = {}
    for each in found:
        before = kept.setdefault(_key(each), each)
        if supersedes(each.extractor, before.extractor):
            kept[_key(each)] = each
    return [*kept.values()]


async def _existing(
    conn: AsyncConnection, keys: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, str]]:
    """Return (row id, extractor version) of existing snapshots, by (entry id, timestamp).

    The result may contain other snapshots of the same entries.
    """
    own = snapshot.c
    rows = await conn.execute(
        select(own.entry_id, own.timestamp, own.id, own.extractor).where(
            own.entry_id.in_(among(entry_id for entry_id, _ in keys)),
            own.timestamp.in_(among({moment for _, moment in keys})),
        )
    )
    return {(row.entry_id, row.timestamp): (row.id, row.extractor) for row in rows}


def _is_unchanged(found: NewSnapshot, before: EntryState) -> bool:
    """Return whether an entry's annotation is unchanged since its new document was built."""
    document = found.search_document
    return document is not None and document.revision == before.revision and not before.is_stale


async def _replace_articles(
    conn: AsyncConnection, replaced: Sequence[tuple[NewSnapshot, int]]
) -> None:
    """Update snapshots with articles that were extracted again, and their entries."""
    if not replaced:
        return
    known = await segment_rows.ids(conn, [*_segment_names([each for each, _ in replaced])])
    await execute_rows(
        conn,
        UPDATE_ARTICLE,
        READ_PARAMETERS,
        [
            (row_id, *_page_fields(each.metadata), each.extractor, *_places(each, known))
            for each, row_id in replaced
        ],
    )
    await screenshots.put(conn, {row_id: each.renditions for each, row_id in replaced}, known)
    rows = await conn.execute(
        select(entry.c.id, entry.c.latest).where(
            entry.c.id.in_(among(each.entry_id for each, _ in replaced))
        )
    )
    latest = {row.id: row.latest for row in rows}
    shown = [pair for pair in replaced if latest[pair[0].entry_id] == int(pair[0].timestamp)]
    newest = await search_documents.insert_all(
        conn,
        [
            NewDocument(each.entry_id, row_id, each.search_document, each.words)
            for each, row_id in shown
            if each.search_document
        ],
    )
    await execute_rows(
        conn,
        UPDATE_TITLE,
        NAMED_PARAMETERS,
        [(each.entry_id, each.metadata.title, newest.get(each.entry_id)) for each, _ in shown],
    )
    await snapshots.mark_comparisons_pending(conn, {each.entry_id for each, _ in replaced})
    await search_documents.mark_stale_of(
        conn, [row_id for each, row_id in replaced if (each, row_id) not in shown]
    )


async def _insert_snapshots(
    conn: AsyncConnection,
    found: Sequence[NewSnapshot],
    ids: Mapping[int, int],
    segment_ids: Mapping[str, int],
) -> None:
    rows = [
        (
            ids[id(each)],
            each.entry_id,
            int(each.timestamp),
            each.capture_id,
            each.final_url,
            *_page_fields(each.metadata),
            each.requisite_count,
            each.missing_count,
            each.extractor,
            *_places(each, segment_ids),
            each.rendering,
            each.render_hint,
            each.score,
            " ".join(each.limits),
        )
        for each in found
    ]
    await insert_rows(conn, snapshot_table, _NEW_SNAPSHOT, rows)
    await snapshot_resources.insert_all(conn, {ids[id(each)]: each.needs for each in found})
    shown = {ids[id(each)]: each.renditions for each in found if each.renditions}
    await screenshots.put(conn, shown, segment_ids)


async def _with_missing_segments(
    conn: AsyncConnection, segment_ids: Mapping[str, int], names: Collection[str]
) -> Mapping[str, int]:
    """Return ``segment_ids`` (row ids by name) with the ids of all segments in ``names``.

    ``segment_ids`` may lack some, because articles can be in old segments.
    """
    missing = [each for each in names if each not in segment_ids]
    return segment_ids if not missing else {**segment_ids, **await segment_rows.ids(conn, missing)}


def _segment_names(found: Sequence[NewSnapshot]) -> set[str]:
    places = [place for each in found for place in (each.article, each.record) if place]
    places += [each.location for one in found for each in one.renditions]
    return {place.segment for place in places}


def _places(found: NewSnapshot, segment_ids: Mapping[str, int]) -> tuple[int | None, ...]:
    """Return the column values for the locations of the article and the metadata record."""
    article, record = found.article, found.record
    place = (
        (segment_ids[article.segment], article.offset, article.length) if article else _NO_LOCATION
    )
    return *place, segment_ids[record.segment], record.offset, record.length


async def _update_entries(
    conn: AsyncConnection,
    found: Sequence[NewSnapshot],
    newest_documents: dict[int, int],
    states: Mapping[int, EntryState],
) -> None:
    newest = {each.entry_id: each for each in sorted(found, key=lambda each: each.timestamp)}
    more = Counter(each.entry_id for each in found)
    older = {key for key, each in newest.items() if int(each.timestamp) < states[key].latest}
    await execute_rows(
        conn,
        UPDATE_OLDER,
        OLDER_PARAMETERS,
        [(key, more[key], int(newest[key].timestamp)) for key in sorted(older)],
    )
    await execute_rows(
        conn,
        UPDATE_SAVED,
        SAVED_PARAMETERS,
        [
            (
                each.entry_id,
                more[each.entry_id],
                each.metadata.title,
                int(each.timestamp),
                each.status,
                each.media_type,
                newest_documents.get(each.entry_id),
                int(each.at.timestamp()),
                each.rendering,
                each.score,
            )
            for key, each in newest.items()
            if key not in older
        ],
    )
    await snapshots.mark_comparisons_pending(
        conn, {key for key in newest if states[key].snapshots + more[key] > 1}
    )
