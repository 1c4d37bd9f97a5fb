"""Tables that exist only during a rebuild of the index.

A rebuild indexes captures while it reads segments. Entry records must be processed in order of
time, and they refer to conversion records, but segments contain both in any order. So the locations
of these records are stored in these tables until all segments are read.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Column, MetaData, Table, delete, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable, DropTable
from sqlalchemy.types import TypeEngine

from archiver.db import queue
from archiver.db.dialects import among, text_values
from archiver.db.schema import Number, Words, job, snapshot, snapshot_table
from archiver.db.statements import OnConflict, insert_rows
from archiver.model.capture import Location, RecordId
from archiver.model.job import Lease, State

_APART = MetaData()
"""The tables are not part of the schema."""


def _table(name: str, keys: Collection[str], **columns: TypeEngine[Any]) -> Table:
    return Table(
        name,
        _APART,
        *(
            Column(each, kind, primary_key=each in keys, autoincrement=False)
            for each, kind in columns.items()
        ),
        sqlite_with_rowid=False,
    )


_PLACE: dict[str, TypeEngine[Any]] = {"segment": Words, "offset": Number, "length": Number}
_conversion = _table("rebuild_conversion", {"record_id"}, record_id=Words, **_PLACE)
_entry_record = _table("rebuild_entry_record", {"at", "segment", "offset"}, at=Number, **_PLACE)
_shared_article = _table(
    "rebuild_shared_article",
    {"entry_id", "timestamp", "extractor"},
    entry_id=Number,
    timestamp=Number,
    article_of=Number,
    extractor=Words,
)
_EARLIER = snapshot.alias("earlier")
_ARTICLE = ("article_segment_id", "article_offset", "article_length")
_SHARE_ARTICLES = (
    update(snapshot_table)
    .values({name: _EARLIER.c[name] for name in _ARTICLE})
    .where(
        _EARLIER.c.entry_id == _shared_article.c.entry_id,
        _EARLIER.c.timestamp == _shared_article.c.article_of,
        snapshot_table.c.entry_id == _shared_article.c.entry_id,
        snapshot_table.c.timestamp == _shared_article.c.timestamp,
        snapshot_table.c.extractor == _shared_article.c.extractor,
        snapshot_table.c.article_segment_id.is_(None),
        _EARLIER.c.article_segment_id.is_not(None),
    )
)


@dataclass(frozen=True, slots=True)
class Dated:
    """Location of a record with its WARC-Date in Unix seconds."""

    at: int
    location: Location


async def begin(conn: AsyncConnection) -> None:
    """Create the tables."""
    for table in _APART.sorted_tables:
        await conn.execute(CreateTable(table))


async def end(conn: AsyncConnection) -> None:
    """Drop the tables."""
    for table in _APART.sorted_tables:
        await conn.execute(DropTable(table))


async def store_conversions(
    conn: AsyncConnection, records: Sequence[tuple[RecordId, Location]]
) -> None:
    """Store locations of conversion records; the first location of each record id is kept."""
    rows = [{"record_id": record_id, **asdict(place)} for record_id, place in records]
    await insert_rows(conn, _conversion, rows, OnConflict.KEEP)


async def store_entry_records(conn: AsyncConnection, records: Sequence[Dated]) -> None:
    """Store locations of entry records."""
    rows = [{"at": each.at, **asdict(each.location)} for each in records]
    await insert_rows(conn, _entry_record, rows, OnConflict.KEEP)


async def next_entry_records(conn: AsyncConnection, *, limit: int) -> list[Dated]:
    """Return the locations of the earliest stored entry records, in order of time."""
    c = _entry_record.c
    rows = await conn.execute(
        select(c.at, c.segment, c.offset, c.length).order_by(c.at, c.segment, c.offset).limit(limit)
    )
    return [Dated(at, Location(*place)) for at, *place in rows]


async def delete_entry_records(conn: AsyncConnection, last: Dated) -> None:
    """Delete the locations of processed entry records: all up to and including ``last``."""
    c, place = _entry_record.c, last.location
    position = tuple_(c.at, c.segment, c.offset)
    await conn.execute(
        delete(_entry_record).where(position <= tuple_(last.at, place.segment, place.offset))
    )


async def store_shared_articles(
    conn: AsyncConnection, articles: Sequence[tuple[int, int, int, str]]
) -> None:
    """Store which snapshots share the article of an earlier snapshot.

    Items of ``articles``: (entry id, timestamp of the snapshot, timestamp of the earlier snapshot,
    extractor version).
    """
    names = ("entry_id", "timestamp", "article_of", "extractor")
    rows = [dict(zip(names, each, strict=True)) for each in articles]
    await insert_rows(conn, _shared_article, rows, OnConflict.KEEP)


async def share_articles(conn: AsyncConnection) -> None:
    """Copy the location of each shared article to the snapshots that share it."""
    while (await conn.execute(_SHARE_ARTICLES)).rowcount:
        pass  # Repeat: a snapshot can share the article of a snapshot that was updated just now.


async def conversions(
    conn: AsyncConnection, record_ids: Sequence[RecordId]
) -> dict[RecordId, Location]:
    """Return locations of conversion records by record id; unknown records are left out."""
    c = _conversion.c
    rows = await conn.execute(
        select(c.record_id, c.segment, c.offset, c.length).where(
            c.record_id.in_(text_values(record_ids))
        )
    )
    return {record_id: Location(*place) for record_id, *place in rows}


async def open_leases(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Lease]:
    """Return the unfinished jobs of entries, by entry id.

    Each job is returned as a ``Lease``, even if it is only queued or another process has leased it.
    """
    rows = await conn.execute(
        select(job.c.id).where(
            job.c.entry_id.in_(among(entry_ids)), job.c.state.in_([State.QUEUED, State.FETCHING])
        )
    )
    leases = await queue.as_leases(conn, list(rows.scalars()))
    return {lease.entry.id: lease for lease in leases}
