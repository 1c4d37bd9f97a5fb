"""Where responses lie that are not what their URLs show: answers to POST and the like, and parts.

The record of a snapshot names those that its page brought; no list and no replay looks here.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import segments
from archiver.index.answer_table import answer
from archiver.index.bulk import among_texts, insert_rows
from archiver.index.schema import segment
from archiver.model.capture import Location, RecordId

_NEW = ("segment_id", "offset", "length", "record_id")


async def insert_all(conn: AsyncConnection, found: Sequence[tuple[RecordId, Location]]) -> None:
    """Note where records lie, by their ids."""
    if not found:
        return
    known = await segments.ids(conn, [*{place.segment for _, place in found}])
    rows = [
        (known[place.segment], place.offset, place.length, record_id) for record_id, place in found
    ]
    await insert_rows(conn, answer, _NEW, rows)


async def places(conn: AsyncConnection, ids: Iterable[RecordId]) -> dict[RecordId, Location]:
    """Where records lie, of those of these that are answers; one of several copies."""
    own = answer.c
    rows = await conn.execute(
        select(own.record_id, segment.c.name, own.offset, own.length)
        .join(segment, segment.c.id == own.segment_id)
        .where(own.record_id.in_(among_texts(ids)))
    )
    return {RecordId(row[0]): Location(*row[1:]) for row in rows}


async def between(
    conn: AsyncConnection, name: str, first: int, last: int
) -> Mapping[int, RecordId]:
    """Those of a segment whose records start between two bytes, by that byte."""
    rows = await conn.execute(
        select(answer.c.offset, answer.c.record_id)
        .join(segment, segment.c.id == answer.c.segment_id)
        .where(segment.c.name == name, answer.c.offset >= first, answer.c.offset <= last)
    )
    return {row.offset: RecordId(row.record_id) for row in rows}
