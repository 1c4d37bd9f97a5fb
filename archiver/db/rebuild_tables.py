"""Temporary tables of a reindex.

Conversions and entry records may stand in any order over several segments, so captures are indexed
as they are met and the rest is noted here, until entry records can be gone through in order of
time. In a new index these tables lie on disk, so that a rebuilding that was killed goes on where it
was; beside a live index they are temporary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, MetaData, Table, delete, inspect, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable, DropTable
from sqlalchemy.types import TypeEngine

from archiver.db import queue
from archiver.db.schema import Number, Words, job, snapshot, snapshot_table
from archiver.db.statements import Clash, among, among_texts, insert_rows
from archiver.model.capture import Location, RecordId
from archiver.model.job import Lease, State

_CONVERSION, _ENTRY_RECORD = "rebuild_conversion", "rebuild_entry_record"
_SHARED_ARTICLE, _STATE = "rebuild_shared_article", "rebuild_state"
_PLACE = ("segment", "offset", "length")
_COLUMNS: dict[str, dict[str, TypeEngine[Any]]] = {
    _CONVERSION: {"record_id": Words, "segment": Words, "offset": Number, "length": Number},
    _ENTRY_RECORD: {"at": Number, "segment": Words, "offset": Number, "length": Number},
    _SHARED_ARTICLE: {
        "entry_id": Number,
        "timestamp": Number,
        "article_of": Number,
        "extractor": Words,
    },
    _STATE: {"software": Words, "first_capture": Number},
}
_KEYS = {
    _CONVERSION: {"record_id"},
    _ENTRY_RECORD: {"at", "segment", "offset"},
    _SHARED_ARTICLE: {"entry_id", "timestamp", "extractor"},
    _STATE: {"software"},
}


def _tables(*prefixes: str) -> dict[str, Table]:
    """The tables by name; they are no part of the schema."""
    apart = MetaData()
    return {
        table: Table(
            table,
            apart,
            *(
                Column(name, kind, primary_key=name in _KEYS[table], autoincrement=False)
                for name, kind in columns.items()
            ),
            prefixes=[*prefixes],
            sqlite_with_rowid=False,
        )
        for table, columns in _COLUMNS.items()
    }


_LASTING, _TEMPORARY = _tables(), _tables("TEMPORARY")
_conversion, _entry_record = _LASTING[_CONVERSION], _LASTING[_ENTRY_RECORD]
_shared_article, _state = _LASTING[_SHARED_ARTICLE], _LASTING[_STATE]
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
    """A record's place with its WARC-Date, in Unix seconds."""

    at: int
    location: Location


async def begin(
    conn: AsyncConnection, *, software: str, first_capture: int, temporary: bool
) -> None:
    """Make the tables, unless they are there: then this goes on with what was begun."""
    for table in (_TEMPORARY if temporary else _LASTING).values():
        if temporary:
            await conn.execute(DropTable(table, if_exists=True))
        await conn.execute(CreateTable(table, if_not_exists=True))
    row = (software, first_capture)
    await insert_rows(conn, _state, ("software", "first_capture"), [row], Clash.STAYS)


async def begun_by(conn: AsyncConnection) -> str | None:
    """The software that began to fill this index from segments and did not end; None if none."""
    if not await conn.run_sync(lambda sync: inspect(sync).has_table(_STATE)):
        return None
    return (await conn.execute(select(_state.c.software))).scalar()


async def first_capture(conn: AsyncConnection) -> int:
    """The last capture that was there before."""
    return (await conn.execute(select(_state.c.first_capture))).scalar() or 0


async def end(conn: AsyncConnection) -> None:
    """Drop the tables: all is told."""
    for table in _LASTING.values():
        await conn.execute(DropTable(table))


async def remember_conversions(
    conn: AsyncConnection, found: Sequence[tuple[RecordId, Location]]
) -> None:
    """Note where conversion records lie; of several with one id, the first that is met."""
    rows = [(record_id, place.segment, place.offset, place.length) for record_id, place in found]
    await insert_rows(conn, _conversion, ("record_id", *_PLACE), rows, Clash.STAYS)


async def remember_entry_records(conn: AsyncConnection, found: Sequence[Dated]) -> None:
    """Note where entry records lie."""
    rows = [
        (each.at, each.location.segment, each.location.offset, each.location.length)
        for each in found
    ]
    await insert_rows(conn, _entry_record, ("at", *_PLACE), rows, Clash.STAYS)


async def next_entry_records(conn: AsyncConnection, *, limit: int) -> list[Dated]:
    """The earliest entry records that are still to be gone through, in order of time."""
    own = _entry_record.c
    rows = await conn.execute(
        select(own.at, own.segment, own.offset, own.length)
        .order_by(own.at, own.segment, own.offset)
        .limit(limit)
    )
    return [Dated(at, Location(*place)) for at, *place in rows]


async def forget_entry_records(conn: AsyncConnection, last: Dated) -> None:
    """Forget the entry records up to one: they have been gone through."""
    own, place = _entry_record.c, last.location
    here = tuple_(own.at, own.segment, own.offset)
    await conn.execute(
        delete(_entry_record).where(here <= tuple_(last.at, place.segment, place.offset))
    )


async def remember_shared_articles(
    conn: AsyncConnection, found: Sequence[tuple[int, int, int, str]]
) -> None:
    """Note (entry id, timestamp, timestamp of the snapshot whose article holds, too, extractor)."""
    names = ("entry_id", "timestamp", "article_of", "extractor")
    await insert_rows(conn, _shared_article, names, found, Clash.STAYS)


async def share_articles(conn: AsyncConnection) -> None:
    """Give snapshots the articles of others, once all snapshots are there."""
    while (await conn.execute(_SHARE_ARTICLES)).rowcount:
        pass  # one that was shared may be shared again


async def conversions(
    conn: AsyncConnection, record_ids: Sequence[RecordId]
) -> dict[RecordId, Location]:
    """Where conversion records lie, of those that were met."""
    own = _conversion.c
    rows = await conn.execute(
        select(own.record_id, own.segment, own.offset, own.length).where(
            own.record_id.in_(among_texts(record_ids))
        )
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
