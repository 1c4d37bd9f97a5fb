"""Snapshot rows, their quality scores, and their pending articles and comparisons.

A comparison is the percentage of an article that changed since the previous snapshot. It becomes
pending when the entry gets another snapshot or article.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, literal_column, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import captures
from archiver.db.dialects import among
from archiver.db.schema import capture, entry, entry_table, segment, snapshot, snapshot_table
from archiver.db.statements import execute_rows
from archiver.model.capture import HashUrl, Location, Timestamp
from archiver.model.entry import Snapshot
from archiver.model.page import UNREAD
from archiver.model.rendering import Limit, Rendering

LAST_ROW = (1 << 63) - 1
"""Number greater than every row id."""
_ARTICLE = segment.alias("article_segment")
_METADATA = segment.alias("metadata_segment")


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """Snapshot with data that exists only in the index.

    Attributes:
        snapshot: the snapshot.
        record: location of the metadata record.
        row_id: row id of the snapshot.
        entry_id: row id of the entry.
        snapshot_count: number of snapshots of the entry.
    """

    snapshot: Snapshot
    record: Location
    row_id: int
    entry_id: int
    snapshot_count: int


@cache
def _query() -> Select[*tuple[Any, ...]]:
    c = [column for column in snapshot.c if column.name not in ("id", "timestamp")]
    return (
        select(
            *captures.COLUMNS,
            *c,
            snapshot.c.id.label("row_id"),
            snapshot.c.timestamp.label("taken_at"),
            entry.c.hash_url,
            entry.c.url.label("entry_url"),
            entry.c.snapshot_count,
            _ARTICLE.c.name.label("article_segment"),
            _METADATA.c.name.label("metadata_segment"),
        )
        .join(capture, capture.c.id == snapshot.c.capture_id)
        .join(segment, segment.c.id == capture.c.segment_id)
        .join(entry, entry.c.id == snapshot.c.entry_id)
        .join(_METADATA, _METADATA.c.id == snapshot.c.metadata_segment_id)
        .outerjoin(_ARTICLE, _ARTICLE.c.id == snapshot.c.article_segment_id)
    )


async def of_entry(
    conn: AsyncConnection,
    entry_id: int,
    *,
    limit: int,
    before: Timestamp | None = None,
    last: int | None = None,
) -> list[SnapshotRow]:
    """Return up to ``limit`` of the newest snapshots of an entry, newest first.

    Args:
        conn: a connection.
        entry_id: row id of the entry.
        limit: maximum number of snapshots.
        before: only snapshots before this time; None for all.
        last: highest row id, for pages of a list to which snapshots are added; None for all.
    """
    query = _query().where(snapshot.c.entry_id == entry_id)
    if before:
        query = query.where(snapshot.c.timestamp < int(before))
    if last is not None:
        query = query.where(snapshot.c.id <= last)
    return await _read(conn, query.order_by(snapshot.c.timestamp.desc()).limit(limit))


async def last_row(conn: AsyncConnection) -> int:
    """Return the row id of the newest snapshot; 0 if there is none."""
    return (await conn.execute(select(func.max(snapshot.c.id)))).scalar() or 0


async def with_records_in(conn: AsyncConnection, place: Location) -> list[SnapshotRow]:
    """Return the snapshots whose record or page is in a byte range of a segment."""
    end = place.offset + place.length
    record, page = snapshot.c.metadata_offset, capture.c.offset
    has_record = (_METADATA.c.name == place.segment) & record.between(place.offset, end - 1)
    has_page = (segment.c.name == place.segment) & page.between(place.offset, end - 1)
    return await _read(conn, _query().where(or_(has_record, has_page)))


async def latest_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, SnapshotRow]:
    """Return the newest snapshot of each entry, by entry id."""
    query = _query().where(
        snapshot.c.entry_id.in_(among(entry_ids)), snapshot.c.timestamp == entry.c.latest
    )
    return {each.entry_id: each for each in await _read(conn, query)}


async def of_entries(
    conn: AsyncConnection, entry_ids: Sequence[int]
) -> dict[int, list[SnapshotRow]]:
    """Return all snapshots of entries, newest first, by entry id."""
    mine = _query().where(snapshot.c.entry_id.in_(among(entry_ids)))
    by_entry: dict[int, list[SnapshotRow]] = {}
    order = snapshot.c.entry_id, snapshot.c.timestamp.desc()
    for each in await _read(conn, mine.order_by(*order)):
        by_entry.setdefault(each.entry_id, []).append(each)
    return by_entry


async def nearest_rows(
    conn: AsyncConnection, entry_id: int, timestamp: Timestamp
) -> tuple[SnapshotRow | None, SnapshotRow | None]:
    """Return the newest snapshot up to a time, and the oldest snapshot after the time."""
    moment = int(timestamp)
    mine = _query().where(snapshot.c.entry_id == entry_id)
    before = mine.where(snapshot.c.timestamp <= moment).order_by(snapshot.c.timestamp.desc())
    after = mine.where(snapshot.c.timestamp > moment).order_by(snapshot.c.timestamp)
    nearest = [await _read(conn, each.limit(1)) for each in (before, after)]
    return next(iter(nearest[0]), None), next(iter(nearest[1]), None)


async def existing_at(
    conn: AsyncConnection, places: Collection[tuple[int, Timestamp]]
) -> set[tuple[int, Timestamp]]:
    """Return the (entry id, timestamp) pairs in ``places`` for which a snapshot exists.

    The result may contain pairs of other snapshots of the same entries.
    """
    rows = await conn.execute(
        select(snapshot.c.entry_id, snapshot.c.timestamp).where(
            snapshot.c.entry_id.in_(among({entry_id for entry_id, _ in places})),
            snapshot.c.timestamp.in_(among({int(moment) for _, moment in places})),
        )
    )
    return {(row.entry_id, Timestamp(f"{row.timestamp:014d}")) for row in rows}


async def neighbours(
    conn: AsyncConnection, entry_id: int, timestamp: Timestamp
) -> tuple[Timestamp | None, Timestamp | None]:
    """Return the timestamps of an entry's last snapshot before and first snapshot after a time.

    A timestamp is None if there is no such snapshot.
    """
    moment = int(timestamp)
    mine = select(snapshot.c.timestamp).where(snapshot.c.entry_id == entry_id)
    before = mine.where(snapshot.c.timestamp < moment).order_by(snapshot.c.timestamp.desc())
    after = mine.where(snapshot.c.timestamp > moment).order_by(snapshot.c.timestamp)
    timestamps = [(await conn.execute(each.limit(1))).scalar() for each in (before, after)]
    earlier, later = (Timestamp(f"{each:014d}") if each else None for each in timestamps)
    return earlier, later


async def after(
    conn: AsyncConnection, row_id: int, *, limit: int, last: int = LAST_ROW
) -> tuple[list[SnapshotRow], int]:
    """Return snapshots with row ids above ``row_id`` in ascending order, and the last id read.

    Snapshots with row ids above ``last`` are left out.
    """
    query = _query().where(snapshot.c.id > row_id, snapshot.c.id <= last)
    rows = await _read(conn, query.order_by(snapshot.c.id).limit(limit))
    return rows, rows[-1].row_id if rows else row_id


async def articles_of(
    conn: AsyncConnection, keys: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[str, Location | None]]:
    """Return (extractor version, article location) of snapshots by (entry id, timestamp).

    The result may contain other snapshots of the same entries.
    """
    if not keys:
        return {}
    query = _query().where(
        snapshot.c.entry_id.in_(among({entry_id for entry_id, _ in keys})),
        snapshot.c.timestamp.in_(among({moment for _, moment in keys})),
    )
    found = [(row.entry_id, row.snapshot) for row in await _read(conn, query)]
    return {(entry_id, int(s.timestamp)): (s.extractor, s.article) for entry_id, s in found}


async def first_of(conn: AsyncConnection, entry_id: int) -> Timestamp | None:
    """Return the timestamp of an entry's oldest snapshot, if any."""
    query = select(func.min(snapshot.c.timestamp)).where(snapshot.c.entry_id == entry_id)
    first = (await conn.execute(query)).scalar()
    return Timestamp(f"{first:014d}") if first else None


async def existing_rows(conn: AsyncConnection, row_ids: Sequence[int]) -> set[int]:
    """Return the row ids in ``row_ids`` that exist."""
    rows = await conn.execute(select(snapshot.c.id).where(snapshot.c.id.in_(among(row_ids))))
    return set(rows.scalars())


async def _read(conn: AsyncConnection, query: Select[*tuple[Any, ...]]) -> list[SnapshotRow]:
    return [_snapshot_row(row) for row in await conn.execute(query)]


def _snapshot_row(row: Row[*tuple[Any, ...]]) -> SnapshotRow:
    """Build a snapshot from a row that ``_query`` returns."""
    article = None
    if row.article_segment is not None:
        article = Location(row.article_segment, row.article_offset, row.article_length)
    snapshot = Snapshot(
        hash_url=HashUrl(row.hash_url),
        timestamp=Timestamp(f"{row.taken_at:014d}"),
        url=row.entry_url,
        final_url=row.final_url,
        title=row.title,
        byline=row.byline,
        site=row.site,
        excerpt=row.excerpt,
        language=row.language,
        published=row.published,
        capture=captures.to_capture(row),
        article=article,
        requisite_count=row.requisite_count,
        missing_count=row.missing_count,
        extractor=row.extractor,
        rendering=Rendering(row.rendering),
        score=row.score,
        canonical=row.canonical,
        limits=tuple(map(Limit, row.limits.split())),
    )
    record = Location(row.metadata_segment, row.metadata_offset, row.metadata_length)
    return SnapshotRow(snapshot, record, row.row_id, row.entry_id, row.snapshot_count)


_STORE_COMPARISON = (
    update(entry_table)
    .values(changed=bindparam("hundredths"), comparison_owed=0, document_stale=1)
    .where(entry_table.c.id == bindparam("entry_id"), entry_table.c.latest == bindparam("newest"))
)


async def mark_comparisons_pending(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Mark comparisons as pending for those entries that have several snapshots."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.snapshot_count > 1)
            .values(comparison_owed=1)
        )


async def pending_comparisons(conn: AsyncConnection, *, limit: int) -> list[int]:
    """Return row ids of entries with pending comparisons."""
    rows = await conn.execute(
        select(entry.c.id).where(entry.c.comparison_owed == 1).order_by(entry.c.id).limit(limit)
    )
    return list(rows.scalars())


async def store_comparisons(
    conn: AsyncConnection, comparisons: Sequence[tuple[int, int, int]]
) -> None:
    """Store comparisons: (entry id, timestamp of its newest snapshot, percentage that changed).

    The search documents of the entries become outdated, because they include words of earlier
    articles. If an entry has got a newer snapshot since, its comparison stays pending.
    """
    names = ("entry_id", "newest", "hundredths")
    await execute_rows(
        conn, _STORE_COMPARISON, [dict(zip(names, each, strict=True)) for each in comparisons]
    )


_IS_THIS = snapshot_table.c.id == bindparam("snapshot_id")
_SNAPSHOTS = update(snapshot_table).values(score=bindparam("new_score")).where(_IS_THIS)
_ENTRIES = (
    update(entry_table)
    .values(score=bindparam("new_score"))
    .where(
        _IS_THIS,
        entry_table.c.id == snapshot_table.c.entry_id,
        entry_table.c.latest == snapshot_table.c.timestamp,
    )
)


async def store_scores(conn: AsyncConnection, scores: Sequence[tuple[int, int]]) -> None:
    """Store the scores of snapshots, given as (row id, percent).

    If a snapshot is the newest of its entry, its score is also stored in the entry.
    """
    rows = [{"snapshot_id": row_id, "new_score": score} for row_id, score in scores]
    await execute_rows(conn, _SNAPSHOTS, rows)
    await execute_rows(conn, _ENTRIES, rows)


async def store_requisite_counts(
    conn: AsyncConnection, counts: Sequence[tuple[int, int, int]]
) -> None:
    """Store requisite counts: (snapshot row id, number of requisites, number of missing ones)."""
    names = ("snapshot_id", "all_of_them", "missing")
    await execute_rows(conn, _COUNTS, [dict(zip(names, each, strict=True)) for each in counts])


_COUNTS = (
    update(snapshot_table)
    .values(requisite_count=bindparam("all_of_them"), missing_count=bindparam("missing"))
    .where(_IS_THIS)
)


async def mark_unread(conn: AsyncConnection, row: SnapshotRow) -> None:
    """Mark the article of a snapshot as pending, also in snapshots that share the article."""
    is_this = snapshot_table.c.id == row.row_id
    if place := row.snapshot.article:
        segment_id = select(segment.c.id).where(segment.c.name == place.segment).scalar_subquery()
        is_this |= (snapshot_table.c.article_segment_id == segment_id) & (
            snapshot_table.c.article_offset == place.offset
        )
    nowhere = dict.fromkeys(("article_segment_id", "article_offset", "article_length"))
    await conn.execute(update(snapshot_table).where(is_this).values(extractor=UNREAD, **nowhere))


async def scored_below(
    conn: AsyncConnection, place: tuple[int, int], *, score: int, limit: int
) -> tuple[list[str], tuple[int, int]]:
    """Return URLs of entries with scores below ``score``, worst first, and the last position.

    The position of an entry is its score and its row id. Only positions above ``place`` are read.
    """
    c = entry.c
    found = await conn.execute(
        select(c.score, c.id, c.url)
        .where(
            c.score < literal_column("100"),
            c.score < score,
            (c.score > place[0]) | ((c.score == place[0]) & (c.id > place[1])),
        )
        .order_by(c.score, c.id)
        .limit(limit)
    )
    rows = found.all()
    return [row.url for row in rows], (rows[-1].score, rows[-1].id) if rows else place


async def pending_articles(
    conn: AsyncConnection, row_id: int, *, limit: int
) -> tuple[list[SnapshotRow], int]:
    """Return snapshots with pending articles and ids above ``row_id``, and the last id read."""
    # The subquery keeps SQLite from scanning the whole table, which planner statistics may suggest.
    unread = (
        select(snapshot.c.id)
        .where(snapshot.c.extractor == literal_column("''"), snapshot.c.id > row_id)
        .order_by(snapshot.c.id)
        .limit(limit)
    )
    query = _query().where(snapshot.c.id.in_(unread)).order_by(snapshot.c.id)
    rows = await _read(conn, query)
    return rows, rows[-1].row_id if rows else row_id


async def outdated_articles(
    conn: AsyncConnection, row_id: int, *, than: str, limit: int
) -> tuple[list[SnapshotRow], int]:
    """Return snapshots with an article of another extractor version, and the last row id read.

    Snapshots with pending articles are left out. Rendered pages are left out too, because their
    article comes from the rendered page, not from the response.

    Args:
        conn: a connection.
        row_id: row id after which to begin.
        than: the current extractor version.
        limit: size of the range of row ids to read.
    """
    query = _outdated(than).where(snapshot.c.id > row_id, snapshot.c.id <= row_id + limit)
    outdated = await _read(conn, query.order_by(snapshot.c.id))
    return outdated, min(row_id + limit, await last_row(conn))


async def outdated_articles_of(
    conn: AsyncConnection, entry_ids: Sequence[int], *, than: str
) -> list[SnapshotRow]:
    """Return the snapshots of entries that ``outdated_articles`` would return, oldest first."""
    query = _outdated(than).where(snapshot.c.entry_id.in_(among(entry_ids)))
    return sorted(await _read(conn, query), key=lambda each: each.snapshot.timestamp)


def _outdated(than: str) -> Select[*tuple[Any, ...]]:
    return _query().where(
        snapshot.c.extractor.not_in((UNREAD, than)), snapshot.c.rendering != Rendering.DONE
    )


async def count_pending_articles(conn: AsyncConnection) -> int:
    """Return the number of snapshots with pending articles."""
    query = select(func.count()).where(snapshot.c.extractor == literal_column("''"))
    return (await conn.execute(query)).scalar() or 0
