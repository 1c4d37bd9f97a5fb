"""Points the index at the next edition of a segment: at all of its records at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, text

from archiver.index import segments
from archiver.index.bulk import execute_rows
from archiver.index.captures import CAPTURES, to_capture
from archiver.index.connection import AsyncConnection
from archiver.index.schema import (
    answer,
    capture,
    gone_capture,
    likeness,
    segment,
    snapshot,
    withheld,
)
from archiver.model.capture import Capture, PayloadDigest

_LABEL = "sha256:"
_MAP = """
CREATE TEMP TABLE moved (
    old INTEGER PRIMARY KEY, new INTEGER, length INTEGER, whole INTEGER, chunked INTEGER)
"""
_CAPTURES = """
UPDATE {table} SET segment_id = :to, "offset" = moved.new, length = moved.length,
    is_revisit = CASE WHEN moved.whole = 1 THEN 0 ELSE is_revisit END,
    is_chunked = CASE WHEN moved.whole = 1 THEN moved.chunked ELSE is_chunked END
FROM temp.moved WHERE {table}.segment_id = :was AND {table}."offset" = moved.old
"""
_PLACES = """
UPDATE snapshot SET {name}_segment_id = :to, {name}_offset = moved.new,
    {name}_length = moved.length
FROM temp.moved WHERE {name}_segment_id = :was AND {name}_offset = moved.old
"""

_RECORDS = """
UPDATE {table} SET segment_id = :to, "offset" = moved.new, length = moved.length
FROM temp.moved WHERE segment_id = :was AND "offset" = moved.old
"""


@dataclass(frozen=True, slots=True)
class Moved:
    """A record in the next edition of its segment.

    Attributes:
        old, new: the bytes where it starts.
        length: of its member there, in bytes.
        is_whole: it was a revisit, and has its payload now.
        is_chunked: that payload stands in chunk framing.
    """

    old: int
    new: int
    length: int
    is_whole: bool = False
    is_chunked: bool = False


async def wanted(conn: AsyncConnection, name: str) -> set[int]:
    """The bytes where those records of a segment start that the index points at."""
    number = select(segment.c.id).where(segment.c.name == name).scalar_subquery()
    found: set[int] = set()
    for owner, offset in (
        (capture.c.segment_id, capture.c.offset),
        (snapshot.c.article_segment_id, snapshot.c.article_offset),
        (snapshot.c.metadata_segment_id, snapshot.c.metadata_offset),
        (likeness.c.segment_id, likeness.c.offset),
    ):
        found.update((await conn.execute(select(offset).where(owner == number))).scalars())
    gone = answer.c.record_id.in_(select(gone_capture.c.record_id))
    answers = select(answer.c.offset).where(answer.c.segment_id == number, ~gone)
    found.update((await conn.execute(answers)).scalars())
    return found


async def articles_in(conn: AsyncConnection, name: str) -> set[int]:
    """The bytes where articles and likenesses start in a segment that some snapshot has."""
    number = select(segment.c.id).where(segment.c.name == name).scalar_subquery()
    found: set[int] = set()
    for owner, offset in (
        (snapshot.c.article_segment_id, snapshot.c.article_offset),
        (likeness.c.segment_id, likeness.c.offset),
    ):
        found.update((await conn.execute(select(offset).where(owner == number))).scalars())
    return found


async def switch(
    conn: AsyncConnection, was: str, to: str, moved: Sequence[Moved], *, size: int
) -> None:
    """Point at the next edition of a segment; what is not in it is forgotten.

    To be called only where it has all that is ``wanted``.
    """
    numbers = await segments.advance(conn, {to: size, was: 0})
    between = {"was": numbers[was], "to": numbers[to]}
    await conn.execute(text("DROP TABLE IF EXISTS temp.moved"))
    await conn.execute(text(_MAP))
    await execute_rows(
        conn,
        "INSERT INTO temp.moved {rows}",
        [(each.old, each.new, each.length, each.is_whole, each.is_chunked) for each in moved],
    )
    for table in (capture, withheld):
        await conn.execute(text(_CAPTURES.format(table=table.name)), between)
    for moving in (likeness, answer):
        await conn.execute(text(_RECORDS.format(table=moving.name)), between)
    for name in ("article", "metadata"):
        await conn.execute(text(_PLACES.format(name=name)), between)
    for table in (withheld, answer):
        await conn.execute(delete(table).where(table.c.segment_id == numbers[was]))
    await conn.execute(delete(segment).where(segment.c.id == numbers[was]))
    await conn.execute(text("DROP TABLE temp.moved"))


async def revisits_of_withheld(conn: AsyncConnection, *, after: int = 0) -> list[Capture]:
    """Captures, of those after a row, whose payload a record holds that was thrown away."""
    held = select(withheld.c.payload_digest).where(withheld.c.is_revisit == 0)
    rows = await conn.execute(
        CAPTURES.where(
            capture.c.id > after, capture.c.is_revisit == 1, capture.c.payload_digest.in_(held)
        ).order_by(capture.c.id)
    )
    return [to_capture(row) for row in rows]


async def holders(conn: AsyncConnection, digests: Sequence[PayloadDigest]) -> list[str]:
    """Record ids of withheld responses with these payloads."""
    wanted = [bytes.fromhex(each.removeprefix(_LABEL)) for each in digests]
    rows = await conn.execute(
        select(withheld.c.record_id).where(
            withheld.c.is_revisit == 0, withheld.c.payload_digest.in_(wanted)
        )
    )
    return list(rows.scalars())
