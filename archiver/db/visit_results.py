"""Rows of visit results: snapshots, failures and ended jobs."""

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

SAVED = (
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
"""Update an entry to its newest snapshot."""
SAVED_PARAMETERS = (
    *("entry_id", "more", "new_title", "newest", "new_status", "new_media_type"),
    *("new_document", "new_sort_at", "new_rendering", "new_score"),
)

OLDER = (
    update(entry_table)
    .values(snapshot_count=_MORE, state=State.SAVED)
    .where(_IS_THIS, entry_table.c.latest > _NEWEST)
)
"""Count a snapshot of an entry that is older than its newest."""
OLDER_PARAMETERS = ("entry_id", "more", "newest")

_SAID = (
    *("title", "byline", "site", "excerpt", "language", "published", "canonical"),
    "extractor",
    *("article_segment_id", "article_offset", "article_length"),
    *("metadata_segment_id", "metadata_offset", "metadata_length"),
)
READ = (
    update(snapshot_table)
    .values({name: bindparam(f"new_{name}") for name in _SAID})
    .where(snapshot_table.c.id == bindparam("snapshot_id"))
)
"""Update a snapshot whose article was extracted again."""
READ_PARAMETERS = ("snapshot_id", *(f"new_{name}" for name in _SAID))

NAMED = (
    update(entry_table)
    .values(page_title=bindparam("new_title"), document_id=_DOCUMENT)
    .where(_IS_THIS)
)
"""Update an entry to the title and the document of that article."""
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
_NOWHERE = (None, None, None)
_page_fields = attrgetter(
    "title", "byline", "site", "excerpt", "language", "published", "canonical"
)


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """New snapshot whose records are on disk.

    Attributes:
        entry_id: its entry.
        timestamp, at: when its URL was requested.
        capture_id: row id of the final response's capture.
        final_url, status, media_type: of the final response.
        metadata: the page's own metadata.
        requisite_count, missing_count: number of requisites, and of missing ones.
        article: the conversion record, if any.
        extractor: version of the extractor.
        record: the snapshot's metadata record.
        search_document: new search document of its entry; None if the current one stays valid.
        words: its full-text row, if it was built before the transaction.
        rendering: whether a browser rendered it, or should have.
        needs: URLs that it is replayed from: its entry's, its page's and its requisites'.
        renditions: screenshots and other renderings.
        look: render hint for the host.
        score: quality in percent.
        limits: limits that kept a browser from showing all of it.
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
    look: RenderHint = RenderHint.NONE
    score: int = WHOLE
    limits: tuple[Limit, ...] = ()
    words: IndexRow | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Insert positions of new snapshots.

    Attributes:
        there: (row id, extractor) of existing snapshots, by entry and timestamp.
        first: first row id.
        segments: row ids of segments, by name.
        room: insert position of their search documents.
    """

    there: Mapping[tuple[int, int], tuple[int, str]]
    first: int
    segments: Mapping[str, int]
    room: search_documents.Room


async def place_of(
    conn: AsyncConnection, keys: Collection[tuple[int, int]], names: Collection[str]
) -> Place:
    """Return the insert positions of snapshots, given their keys and segments."""
    return Place(
        await _there(conn, keys),
        await next_id(conn, snapshot_table.c.id),
        await segment_rows.ids(conn, [*names]),
        await search_documents.room(conn),
    )


async def add_snapshots(
    conn: AsyncConnection,
    found: Sequence[NewSnapshot],
    held: Mapping[int, EntryState] | None = None,
    place: Place | None = None,
) -> int:
    """Insert snapshots, oldest first, and update their entries; return how many are new.

    An existing snapshot (same entry and timestamp) is kept, because a visit that could not be
    indexed is repeated and recorded twice; unless a newer extractor read this one. ``held`` has the
    states of the entries, and ``place`` the insert positions, if known in this transaction.
    """
    if not found:
        return 0
    found = _once(found)
    held = held or await entry_states(conn, {each.entry_id for each in found})
    place = place or await place_of(conn, [*map(_key, found)], _segment_names(found))
    there = place.there
    known = await _with_all(conn, place.segments, _segment_names(found))
    deferred = [(each, *there[key]) for each in found if (key := _key(each)) in there]
    brought = [(each, row_id) for each, row_id, by in deferred if supersedes(each.extractor, by)]
    await _bring_articles(conn, brought)
    found = [each for each in found if _key(each) not in there]
    if not found:
        return 0
    ids = {id(each): place.first + n for n, each in enumerate(found)}
    await _insert_snapshots(conn, found, ids, known)
    as_it_was = {each.entry_id for each in found if _is_as_it_was(each, held[each.entry_id])}
    room = None if brought else place.room  # re-extracted snapshots used the room
    newest = await search_documents.insert_all(conn, _documents(found, ids), room, as_it_was)
    await _update_entries(conn, found, newest, held)
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


def _once(found: Sequence[NewSnapshot]) -> list[NewSnapshot]:
    """Remove duplicates by entry and timestamp; the newest extractor wins."""
    kept: dict[tuple[int, int], NewSnapshot] = {}
    for each in found:
        before = kept.setdefault(_key(each), each)
        if supersedes(each.extractor, before.extractor):
            kept[_key(each)] = each
    return [*kept.values()]


async def _there(
    conn: AsyncConnection, keys: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, str]]:
    """Return (row id, extractor) of existing snapshots, by entry and timestamp."""
    own = snapshot.c
    rows = await conn.execute(
        select(own.entry_id, own.timestamp, own.id, own.extractor).where(
            own.entry_id.in_(among(entry_id for entry_id, _ in keys)),
            own.timestamp.in_(among({moment for _, moment in keys})),
        )
    )
    return {(row.entry_id, row.timestamp): (row.id, row.extractor) for row in rows}


def _is_as_it_was(found: NewSnapshot, before: EntryState) -> bool:
    """Return whether an entry's annotation is that of its new document."""
    said = found.search_document
    return said is not None and said.revision == before.revision and not before.is_stale


async def _bring_articles(
    conn: AsyncConnection, brought: Sequence[tuple[NewSnapshot, int]]
) -> None:
    """Update snapshots with articles that were extracted again, and their entries."""
    if not brought:
        return
    known = await segment_rows.ids(conn, [*_segment_names([each for each, _ in brought])])
    await execute_rows(
        conn,
        READ,
        READ_PARAMETERS,
        [
            (row_id, *_page_fields(each.metadata), each.extractor, *_places(each, known))
            for each, row_id in brought
        ],
    )
    await screenshots.put(conn, {row_id: each.renditions for each, row_id in brought}, known)
    rows = await conn.execute(
        select(entry.c.id, entry.c.latest).where(
            entry.c.id.in_(among(each.entry_id for each, _ in brought))
        )
    )
    latest = {row.id: row.latest for row in rows}
    shown = [pair for pair in brought if latest[pair[0].entry_id] == int(pair[0].timestamp)]
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
        NAMED,
        NAMED_PARAMETERS,
        [(each.entry_id, each.metadata.title, newest.get(each.entry_id)) for each, _ in shown],
    )
    await snapshots.mark_comparisons_pending(conn, {each.entry_id for each, _ in brought})
    await search_documents.mark_stale_of(
        conn, [row_id for each, row_id in brought if (each, row_id) not in shown]
    )


async def _insert_snapshots(
    conn: AsyncConnection,
    found: Sequence[NewSnapshot],
    ids: Mapping[int, int],
    known: Mapping[str, int],
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
            *_places(each, known),
            each.rendering,
            each.look,
            each.score,
            " ".join(each.limits),
        )
        for each in found
    ]
    await insert_rows(conn, snapshot_table, _NEW_SNAPSHOT, rows)
    await snapshot_resources.insert_all(conn, {ids[id(each)]: each.needs for each in found})
    shown = {ids[id(each)]: each.renditions for each in found if each.renditions}
    await screenshots.put(conn, shown, known)


async def _with_all(
    conn: AsyncConnection, known: Mapping[str, int], names: Collection[str]
) -> Mapping[str, int]:
    """Return the row ids of all these segments; articles may be in older ones."""
    missing = [each for each in names if each not in known]
    return known if not missing else {**known, **await segment_rows.ids(conn, missing)}


def _segment_names(found: Sequence[NewSnapshot]) -> set[str]:
    places = [place for each in found for place in (each.article, each.record) if place]
    places += [each.location for one in found for each in one.renditions]
    return {place.segment for place in places}


def _places(found: NewSnapshot, known: Mapping[str, int]) -> tuple[int | None, ...]:
    """Return the locations of article and metadata record as column values."""
    article, record = found.article, found.record
    place = (known[article.segment], article.offset, article.length) if article else _NOWHERE
    return *place, known[record.segment], record.offset, record.length


async def _update_entries(
    conn: AsyncConnection,
    found: Sequence[NewSnapshot],
    newest_documents: dict[int, int],
    held: Mapping[int, EntryState],
) -> None:
    """Update entries to their new snapshots."""
    newest = {each.entry_id: each for each in sorted(found, key=lambda each: each.timestamp)}
    more = Counter(each.entry_id for each in found)
    older = {key for key, each in newest.items() if int(each.timestamp) < held[key].latest}
    await execute_rows(
        conn,
        OLDER,
        OLDER_PARAMETERS,
        [(key, more[key], int(newest[key].timestamp)) for key in sorted(older)],
    )
    await execute_rows(
        conn,
        SAVED,
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
        conn, {key for key in newest if held[key].snapshots + more[key] > 1}
    )
