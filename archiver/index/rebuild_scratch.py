"""What a reading of segments needs to remember until it is through: tables of its own.

Conversions and entry records may stand in any order over several segments, so captures are indexed
as they are met and the rest is noted here, until entry records can be gone through in order of
time. In a new index these tables lie on disk, so that a rebuilding that was killed goes on where it
was; beside a live index they are temporary.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, text

from archiver.index import queue
from archiver.index.bulk import among, execute_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import job
from archiver.model.capture import Location, RecordId
from archiver.model.job import Lease, State

_TABLES = {
    "rebuild_conversion": """
        record_id TEXT PRIMARY KEY, segment TEXT, offset INTEGER, length INTEGER""",
    "rebuild_entry_record": """
        at INTEGER, segment TEXT, offset INTEGER, length INTEGER,
        PRIMARY KEY (at, segment, offset)""",
    "rebuild_shared_article": """
        entry_id INTEGER, timestamp INTEGER, article_of INTEGER, extractor TEXT,
        PRIMARY KEY (entry_id, timestamp, extractor)""",
    "rebuild_state": "software TEXT PRIMARY KEY, first_capture INTEGER",
}
_SHARE_ARTICLES = """
UPDATE snapshot SET article_segment_id = earlier.article_segment_id,
    article_offset = earlier.article_offset, article_length = earlier.article_length
FROM rebuild_shared_article AS shared
JOIN snapshot AS earlier
    ON earlier.entry_id = shared.entry_id AND earlier.timestamp = shared.article_of
WHERE snapshot.entry_id = shared.entry_id AND snapshot.timestamp = shared.timestamp
    AND snapshot.extractor = shared.extractor
    AND snapshot.article_segment_id IS NULL AND earlier.article_segment_id IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Dated:
    """A record's place with its WARC-Date, in Unix seconds."""

    at: int
    location: Location


async def begin(
    conn: AsyncConnection, *, software: str, first_capture: int, temporary: bool
) -> None:
    """Make the tables, unless they are there: then this goes on with what was begun."""
    kind = "TEMP TABLE" if temporary else "TABLE"
    for name, columns in _TABLES.items():
        if temporary:
            await conn.execute(text(f"DROP TABLE IF EXISTS temp.{name}"))
        await conn.execute(text(f"CREATE {kind} IF NOT EXISTS {name} ({columns}) WITHOUT ROWID"))
    await conn.execute(
        text("INSERT OR IGNORE INTO rebuild_state VALUES (:software, :first)"),
        {"software": software, "first": first_capture},
    )


async def begun_by(conn: AsyncConnection) -> str | None:
    """The software that began to fill this index from segments and did not end; None if none."""
    known = await conn.execute(
        text("SELECT name FROM sqlite_master WHERE name = 'rebuild_state' AND type = 'table'")
    )
    if known.scalar() is None:
        return None
    return (await conn.execute(text("SELECT software FROM rebuild_state"))).scalar()


async def first_capture(conn: AsyncConnection) -> int:
    """The last capture that was there before."""
    return (await conn.execute(text("SELECT first_capture FROM rebuild_state"))).scalar() or 0


async def end(conn: AsyncConnection) -> None:
    """Drop the tables: all is told."""
    for name in _TABLES:
        await conn.execute(text(f"DROP TABLE {name}"))


async def remember_conversions(
    conn: AsyncConnection, found: Sequence[tuple[RecordId, Location]]
) -> None:
    """Note where conversion records lie; of several with one id, the first that is met."""
    await execute_rows(
        conn,
        "INSERT OR IGNORE INTO rebuild_conversion {rows}",
        [(record_id, place.segment, place.offset, place.length) for record_id, place in found],
    )


async def remember_entry_records(conn: AsyncConnection, found: Sequence[Dated]) -> None:
    """Note where entry records lie."""
    await execute_rows(
        conn,
        "INSERT OR IGNORE INTO rebuild_entry_record {rows}",
        [
            (each.at, each.location.segment, each.location.offset, each.location.length)
            for each in found
        ],
    )


async def next_entry_records(conn: AsyncConnection, *, limit: int) -> list[Dated]:
    """The earliest entry records that are still to be gone through, in order of time."""
    rows = await conn.execute(
        text(
            "SELECT at, segment, offset, length FROM rebuild_entry_record"
            " ORDER BY at, segment, offset LIMIT :limit"
        ),
        {"limit": limit},
    )
    return [Dated(at, Location(*place)) for at, *place in rows]


async def forget_entry_records(conn: AsyncConnection, last: Dated) -> None:
    """Forget the entry records up to one: they have been gone through."""
    await conn.execute(
        text(
            "DELETE FROM rebuild_entry_record"
            " WHERE (at, segment, offset) <= (:at, :segment, :offset)"
        ),
        {"at": last.at, "segment": last.location.segment, "offset": last.location.offset},
    )


async def remember_shared_articles(
    conn: AsyncConnection, found: Sequence[tuple[int, int, int, str]]
) -> None:
    """Note (entry id, timestamp, timestamp of the snapshot whose article holds, too, extractor)."""
    await execute_rows(conn, "INSERT OR IGNORE INTO rebuild_shared_article {rows}", found)


async def share_articles(conn: AsyncConnection) -> None:
    """Give snapshots the articles of others, once all snapshots are there."""
    while (await conn.execute(text(_SHARE_ARTICLES))).rowcount:
        pass  # one that was shared may be shared again


async def conversions(
    conn: AsyncConnection, record_ids: Sequence[RecordId]
) -> dict[RecordId, Location]:
    """Where conversion records lie, of those that were met."""
    rows = await conn.execute(
        text(
            "SELECT record_id, segment, offset, length FROM rebuild_conversion"
            " WHERE record_id IN (SELECT value FROM json_each(:ids))"
        ),
        {"ids": json.dumps(record_ids)},
    )
    return {record_id: Location(*place) for record_id, *place in rows}


async def open_leases(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Lease]:
    """The open jobs of entries, whoever holds them, by entry."""
    rows = await conn.execute(
        select(job.c.id).where(
            job.c.entry_id.in_(among(entry_ids)), job.c.state.in_([State.QUEUED, State.FETCHING])
        )
    )
    leases = await queue.as_leases(conn, list(rows.scalars()))
    return {lease.entry.id: lease for lease in leases}
