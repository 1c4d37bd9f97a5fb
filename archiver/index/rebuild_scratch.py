"""What a reading of segments needs to remember until it is through: temporary tables.

Conversions and statements may stand in any order over several segments, so captures are indexed as
they are met and the rest is kept here, on disk, until statements can be told in order of time.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import queue
from archiver.index.bulk import among
from archiver.index.schema import entry, job, segment, snapshot
from archiver.model.capture import HashUrl, Location, RecordId, Timestamp
from archiver.model.job import Lease, State

_BEGIN = (
    "DROP TABLE IF EXISTS temp.conversion",
    "DROP TABLE IF EXISTS temp.statement",
    """CREATE TEMP TABLE conversion (
        record_id TEXT PRIMARY KEY, segment TEXT, offset INTEGER, length INTEGER) WITHOUT ROWID""",
    "CREATE TEMP TABLE statement (at INTEGER, segment TEXT, offset INTEGER, length INTEGER)",
)


@dataclass(frozen=True, slots=True)
class Dated:
    """A record's place with its WARC-Date, in Unix seconds."""

    at: int
    location: Location


async def begin(conn: AsyncConnection) -> None:
    """Make the temporary tables, empty."""
    for statement in _BEGIN:
        await conn.execute(text(statement))


async def remember_conversions(
    conn: AsyncConnection, found: Sequence[tuple[RecordId, Location]]
) -> None:
    """Note where conversion records lie."""
    if found:
        await conn.execute(
            text("INSERT OR REPLACE INTO conversion VALUES (:id, :segment, :offset, :length)"),
            [{"id": record_id, **_place(location)} for record_id, location in found],
        )


async def remember_entry_records(conn: AsyncConnection, found: Sequence[Dated]) -> None:
    """Note where metadata records lie."""
    if found:
        await conn.execute(
            text("INSERT INTO statement VALUES (:at, :segment, :offset, :length)"),
            [{"at": each.at, **_place(each.location)} for each in found],
        )


async def entry_records(conn: AsyncConnection, *, after: int, limit: int) -> list[Location]:
    """A stretch of the statements in order of time; ``after`` is how many came before."""
    rows = await conn.execute(
        text(
            "SELECT segment, offset, length FROM statement"
            " ORDER BY at, segment, offset LIMIT :limit OFFSET :after"
        ),
        {"limit": limit, "after": after},
    )
    return [Location(*row) for row in rows]


async def conversions(
    conn: AsyncConnection, record_ids: Sequence[RecordId]
) -> dict[RecordId, Location]:
    """Where conversion records lie, of those that were met."""
    rows = await conn.execute(
        text(
            "SELECT record_id, segment, offset, length FROM conversion"
            " WHERE record_id IN (SELECT value FROM json_each(:ids))"
        ),
        {"ids": json.dumps(record_ids)},
    )
    return {record_id: Location(*place) for record_id, *place in rows}


async def article_of(
    conn: AsyncConnection, hash_url: HashUrl, timestamp: Timestamp
) -> Location | None:
    """The article of an earlier snapshot of an entry."""
    rows = await conn.execute(
        select(segment.c.name, snapshot.c.article_offset, snapshot.c.article_length)
        .join(entry, entry.c.id == snapshot.c.entry_id)
        .join(segment, segment.c.id == snapshot.c.article_segment_id)
        .where(entry.c.hash_url == hash_url, snapshot.c.timestamp == int(timestamp))
    )
    row = rows.one_or_none()
    return Location(*row) if row else None


async def open_leases(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Lease]:
    """The open jobs of entries, whoever holds them, by entry."""
    rows = await conn.execute(
        select(job.c.id).where(
            job.c.entry_id.in_(among(entry_ids)), job.c.state.in_([State.QUEUED, State.FETCHING])
        )
    )
    leases = await queue.as_leases(conn, list(rows.scalars()))
    return {lease.entry.id: lease for lease in leases}


def _place(location: Location) -> dict[str, str | int]:
    return {
        "segment": location.segment,
        "offset": location.offset,
        "length": location.length,
    }
