"""URLs that snapshots need for replay, and the captures of these URLs.

A deletion must keep the captures that other snapshots need. The URLs of a snapshot are stored as
8-byte hashes in one row, since rows are written with each snapshot and read by deletions only.
"""

import asyncio
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import among, among_keys, among_texts
from archiver.db.schema import capture, entry, need, segment, snapshot
from archiver.db.statements import OnConflict, insert_rows
from archiver.http.surt import surt
from archiver.model.capture import HashUrl, Location, RecordId, Timestamp

_BATCH = 5_000
"""Number of rows per query."""
MAX_ROUNDS = 20
"""Maximum number of redirects that are followed."""


@dataclass(frozen=True, slots=True)
class SnapshotSources:
    """Snapshot with the data from which its resources are found.

    Attributes:
        id: row id of the snapshot.
        entry_id: row id of its entry.
        hash_url: of its entry.
        url: URL of its entry.
        timestamp: its timestamp.
        final_url: URL of its page, after redirects.
        capture_id: row id of the capture of its page.
        page: record id of that capture.
        record: location of the metadata record, which lists its requisites.
        article: location of the conversion record, if any.
    """

    id: int
    entry_id: int
    hash_url: HashUrl
    url: str
    timestamp: Timestamp
    final_url: str
    capture_id: int
    page: RecordId
    record: Location
    article: Location | None


@dataclass(frozen=True, slots=True)
class KnownCapture:
    """Columns of a capture from which the resources of a snapshot are found."""

    id: int
    url: str
    timestamp: int
    redirect_to: str | None
    record_id: str


def key(url: str) -> int:
    """Return an 8-byte hash of a URL. On a collision a capture is kept unnecessarily."""
    return int.from_bytes(md5(url.encode(), usedforsecurity=False).digest()[:8], signed=True)


async def insert_all(conn: AsyncConnection, needed: Mapping[int, Iterable[str]]) -> None:
    """Store the URLs that snapshots need, by row id."""
    rows = [
        (row_id, array("q", sorted(map(key, set(urls)))).tobytes())
        for row_id, urls in needed.items()
    ]
    await insert_rows(conn, need, ("snapshot_id", "urls"), rows, OnConflict.REPLACE)


async def packed(conn: AsyncConnection, row_ids: Collection[int]) -> dict[int, bytes]:
    """Return the stored URLs of snapshots as they are stored, by row id."""
    rows = await conn.execute(select(need).where(need.c.snapshot_id.in_(among(row_ids))))
    return {row.snapshot_id: row.urls for row in rows}


async def put_packed(conn: AsyncConnection, found: Mapping[int, bytes]) -> None:
    """Store what ``packed`` returned."""
    await insert_rows(conn, need, ("snapshot_id", "urls"), [*found.items()], OnConflict.REPLACE)


async def unknown(conn: AsyncConnection, *, limit: int) -> list[SnapshotSources]:
    """Return snapshots of older versions whose URLs are not stored."""
    lacking = (
        select(snapshot.c.id)
        .outerjoin(need, need.c.snapshot_id == snapshot.c.id)
        .where(need.c.snapshot_id.is_(None))
        .limit(limit)
    )
    return await _sources(conn, lacking)


async def of_entries(conn: AsyncConnection, entry_ids: Sequence[int]) -> list[SnapshotSources]:
    """Return all snapshots of entries, oldest first."""
    return await _sources(
        conn, select(snapshot.c.id).where(snapshot.c.entry_id.in_(among(entry_ids)))
    )


async def snapshots_needing(
    conn: AsyncConnection, urls: Iterable[str]
) -> dict[int, tuple[str, ...]]:
    """Return the snapshots that need any of the URLs, each with those that it needs."""
    wanted = {key(url): url for url in urls}
    found: dict[int, tuple[str, ...]] = {}
    last = 0
    while True:
        query = (
            select(need.c.snapshot_id, need.c.urls)
            .join(snapshot, snapshot.c.id == need.c.snapshot_id)
            .where(need.c.snapshot_id > last)
        )
        rows = (await conn.execute(query.order_by(need.c.snapshot_id).limit(_BATCH))).all()
        if not rows:
            return found
        packed = [(row.snapshot_id, row.urls) for row in rows]
        found |= await asyncio.to_thread(_matching, packed, wanted)
        last = rows[-1].snapshot_id


async def moments(conn: AsyncConnection, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return (timestamp, row id of the page's capture) of snapshots by row id."""
    rows = await conn.execute(
        select(snapshot.c.id, snapshot.c.timestamp, snapshot.c.capture_id).where(
            snapshot.c.id.in_(among(ids))
        )
    )
    return {row.id: (row.timestamp, row.capture_id) for row in rows}


def _matching(
    rows: Sequence[tuple[int, bytes]], wanted: Mapping[int, str]
) -> dict[int, tuple[str, ...]]:
    found, keys = {}, wanted.keys()
    for row_id, urls in rows:
        hashes = array("q")
        hashes.frombytes(urls)
        matched = keys & set(hashes)
        if matched:
            found[row_id] = tuple(wanted[each] for each in matched)
    return found


async def _sources(conn: AsyncConnection, ids: Select[int]) -> list[SnapshotSources]:
    article, record = segment.alias("article_segment"), segment.alias("record_segment")
    own = snapshot.c
    rows = await conn.execute(
        select(
            *(own.id, own.entry_id, own.timestamp, own.final_url, own.capture_id),
            *(own.metadata_offset, own.metadata_length, own.article_offset, own.article_length),
            *(entry.c.hash_url, entry.c.url, capture.c.record_id),
            record.c.name.label("record_segment"),
            article.c.name.label("article_segment"),
        )
        .join(entry, entry.c.id == own.entry_id)
        .join(capture, capture.c.id == own.capture_id)
        .join(record, record.c.id == own.metadata_segment_id)
        .outerjoin(article, article.c.id == own.article_segment_id)
        .where(own.id.in_(ids))
        .order_by(own.timestamp, own.id)
    )
    return [
        SnapshotSources(
            id=row.id,
            entry_id=row.entry_id,
            hash_url=HashUrl(row.hash_url),
            url=row.url,
            timestamp=Timestamp(f"{row.timestamp:014d}"),
            final_url=row.final_url,
            capture_id=row.capture_id,
            page=RecordId(row.record_id),
            record=Location(row.record_segment, row.metadata_offset, row.metadata_length),
            article=Location(row.article_segment, row.article_offset, row.article_length)
            if row.article_segment
            else None,
        )
        for row in rows
    ]


async def around(conn: AsyncConnection, urls: Collection[str]) -> dict[str, list[KnownCapture]]:
    """Return by URL all captures of some URLs, and of URLs that redirect to or from them.

    The captures of a URL are in order of time. At most ``MAX_ROUNDS`` redirects are followed.
    """
    found: dict[str, list[KnownCapture]] = {}
    wanted = set(urls)
    for _ in range(MAX_ROUNDS):
        fresh = wanted - found.keys()
        if not fresh:
            break
        found |= {url: [] for url in fresh}
        for each in await _of_urls(conn, fresh):
            found[each.url].append(each)
            if each.redirect_to:
                wanted.add(each.redirect_to)
        leading = await conn.execute(
            select(capture.c.url).where(capture.c.redirect_to.in_(among_texts(fresh))).distinct()
        )
        wanted |= set(leading.scalars())
    return found


async def seen(conn: AsyncConnection, row_ids: Collection[int]) -> list[KnownCapture]:
    """Return captures that are not deleted, by row ids."""
    own = capture.c
    rows = await conn.execute(
        select(own.id, own.url, own.timestamp, own.redirect_to, own.record_id).where(
            own.id.in_(among(row_ids))
        )
    )
    return [KnownCapture(*row) for row in rows]


async def _of_urls(conn: AsyncConnection, urls: Collection[str]) -> list[KnownCapture]:
    own = capture.c
    rows = await conn.execute(
        select(own.id, own.url, own.timestamp, own.redirect_to, own.record_id)
        .where(
            own.surt.in_(among_keys({surt(url) for url in urls})), own.url.in_(among_texts(urls))
        )
        .order_by(own.timestamp, own.id)
    )
    return [KnownCapture(*row) for row in rows]
