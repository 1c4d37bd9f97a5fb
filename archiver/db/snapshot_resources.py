"""URLs that snapshots need for replay, and the captures of these URLs.

A deletion must keep the captures that other snapshots need. The table ``need`` has one row for each
snapshot, with 8-byte hashes of all URLs that the snapshot needs. A single small row keeps the
insertion of snapshots fast; only deletions read the table.
"""

import asyncio
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import md5

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import among, text_values
from archiver.db.schema import capture, need, snapshot
from archiver.db.statements import OnConflict, insert_rows
from archiver.http.surt import surt_key

_BATCH = 5_000
"""Maximum number of rows that one query returns."""
MAX_ROUNDS = 20
"""Maximum length of a chain of redirects that is followed."""


@dataclass(frozen=True, slots=True)
class KnownCapture:
    """Columns of a capture that are needed to find the resources of a snapshot."""

    id: int
    url: str
    timestamp: int
    redirect_to: str | None
    record_id: str


_KNOWN = select(*(capture.c[each.name] for each in fields(KnownCapture))).order_by(
    capture.c.timestamp, capture.c.id
)


def url_key(url: str) -> int:
    """Return an 8-byte hash of a URL. A collision has one effect: a deletion keeps a capture."""
    return int.from_bytes(md5(url.encode(), usedforsecurity=False).digest()[:8], signed=True)


async def insert_all(conn: AsyncConnection, needed: Mapping[int, Iterable[str]]) -> None:
    """Store the URLs that snapshots need, given by row id of the snapshot."""
    await store_packed(
        conn,
        {
            row_id: array("q", sorted(map(url_key, set(urls)))).tobytes()
            for row_id, urls in needed.items()
        },
    )


async def packed(conn: AsyncConnection, row_ids: Collection[int]) -> dict[int, bytes]:
    """Return the stored hashes of snapshots' URLs in their binary form, by snapshot row id."""
    rows = await conn.execute(select(need).where(need.c.snapshot_id.in_(among(row_ids))))
    return {row.snapshot_id: row.urls for row in rows}


async def store_packed(conn: AsyncConnection, lists: Mapping[int, bytes]) -> None:
    """Store hashes in the binary form that ``packed`` returns, by snapshot row id."""
    rows = [{"snapshot_id": row_id, "urls": urls} for row_id, urls in lists.items()]
    await insert_rows(conn, need, rows, OnConflict.REPLACE)


async def snapshots_needing(
    conn: AsyncConnection, urls: Iterable[str]
) -> dict[int, tuple[str, ...]]:
    """Return, by row id of the snapshot, the URLs in ``urls`` that the snapshot needs.

    Snapshots that need none of them are left out.
    """
    urls_by_key = {url_key(url): url for url in urls}
    urls_by_snapshot: dict[int, tuple[str, ...]] = {}
    last = 0
    while True:
        query = (
            select(need.c.snapshot_id, need.c.urls)
            .join(snapshot, snapshot.c.id == need.c.snapshot_id)
            .where(need.c.snapshot_id > last)
        )
        rows = (await conn.execute(query.order_by(need.c.snapshot_id).limit(_BATCH))).all()
        if not rows:
            return urls_by_snapshot
        packed = [(row.snapshot_id, row.urls) for row in rows]
        urls_by_snapshot |= await asyncio.to_thread(_matching, packed, urls_by_key)
        last = rows[-1].snapshot_id


async def moments(conn: AsyncConnection, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return (timestamp, row id of the page's capture) by snapshot row id."""
    rows = await conn.execute(
        select(snapshot.c.id, snapshot.c.timestamp, snapshot.c.capture_id).where(
            snapshot.c.id.in_(among(ids))
        )
    )
    return {row.id: (row.timestamp, row.capture_id) for row in rows}


def _matching(
    rows: Sequence[tuple[int, bytes]], urls_by_key: Mapping[int, str]
) -> dict[int, tuple[str, ...]]:
    matching, keys = {}, urls_by_key.keys()
    for row_id, urls in rows:
        hashes = array("q")
        hashes.frombytes(urls)
        matched = keys & set(hashes)
        if matched:
            matching[row_id] = tuple(urls_by_key[each] for each in matched)
    return matching


async def connected(conn: AsyncConnection, urls: Collection[str]) -> dict[str, list[KnownCapture]]:
    """Return the captures of URLs, and of all URLs connected to them by redirects, by URL.

    The captures of a URL are in order of time. Chains of redirects are followed up to a length of
    ``MAX_ROUNDS``.
    """
    captures_by_url: dict[str, list[KnownCapture]] = {}
    unconnected = set(urls)
    for _ in range(MAX_ROUNDS):
        fresh = unconnected - captures_by_url.keys()
        if not fresh:
            break
        captures_by_url |= {url: [] for url in fresh}
        for each in await _of_urls(conn, fresh):
            captures_by_url[each.url].append(each)
            if each.redirect_to:
                unconnected.add(each.redirect_to)
        leading = await conn.execute(
            select(capture.c.url).where(capture.c.redirect_to.in_(text_values(fresh))).distinct()
        )
        unconnected |= set(leading.scalars())
    return captures_by_url


async def by_ids(conn: AsyncConnection, row_ids: Collection[int]) -> list[KnownCapture]:
    """Return the captures with these row ids, without deleted ones."""
    rows = await conn.execute(_KNOWN.where(capture.c.id.in_(among(row_ids))))
    return [KnownCapture(*row) for row in rows]


async def _of_urls(conn: AsyncConnection, urls: Collection[str]) -> list[KnownCapture]:
    keys = text_values({surt_key(url) for url in urls})
    rows = await conn.execute(
        _KNOWN.where(capture.c.surt.in_(keys), capture.c.url.in_(text_values(urls)))
    )
    return [KnownCapture(*row) for row in rows]
