"""Record locations, updated when a segment is rewritten."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    MetaData,
    Select,
    Table,
    Update,
    bindparam,
    case,
    delete,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable, DropTable

from archiver.db import deletions, segment_rows
from archiver.db.captures import CAPTURES, to_blob, to_capture
from archiver.db.schema import (
    Number,
    answer,
    capture,
    capture_table,
    gone_capture,
    likeness,
    segment,
    snapshot,
    snapshot_table,
)
from archiver.db.statements import insert_rows
from archiver.model.capture import Capture, PayloadDigest

_MOVED = Table(
    "moved",
    MetaData(),
    Column("old", Number, primary_key=True, autoincrement=False),
    Column("new", Number),
    Column("length", Number),
    Column("whole", Number),
    Column("chunked", Number),
    prefixes=["TEMPORARY"],
)
_WAS, _TO = bindparam("was", type_=Number), bindparam("became", type_=Number)


def _to_new_places(table: Table, prefix: str = "") -> Update:
    own = {name: table.c[prefix + name] for name in ("segment_id", "offset", "length")}
    new = {own["segment_id"]: _TO, own["offset"]: _MOVED.c.new, own["length"]: _MOVED.c.length}
    here = (own["segment_id"] == _WAS, own["offset"] == _MOVED.c.old)
    return update(table).values(new).where(*here)


def _made_whole(table: Table) -> Update:
    """Update captures; a revisit may contain its payload now."""
    whole, own = _MOVED.c.whole == 1, table.c
    return _to_new_places(table).values(
        is_revisit=case((whole, 0), else_=own.is_revisit),
        is_chunked=case((whole, _MOVED.c.chunked), else_=own.is_chunked),
    )


_SWITCHED = (
    _made_whole(capture_table),
    _to_new_places(likeness),
    _to_new_places(answer),
    _to_new_places(snapshot_table, "article_"),
    _to_new_places(snapshot_table, "metadata_"),
)


@dataclass(frozen=True, slots=True)
class Moved:
    """Record in the next version of its segment.

    Attributes:
        old, new: offsets.
        length: compressed size in the new version.
        is_whole: it was a revisit, and contains its payload now.
        is_chunked: the payload has chunk framing.
    """

    old: int
    new: int
    length: int
    is_whole: bool = False
    is_chunked: bool = False


async def wanted(conn: AsyncConnection, name: str) -> set[int]:
    """Return the offsets of a segment's records that the index refers to."""
    number = select(segment.c.id).where(segment.c.name == name).scalar_subquery()
    found: set[int] = set()
    for owner, offset in (
        (capture.c.segment_id, capture.c.offset),
        (snapshot.c.article_segment_id, snapshot.c.article_offset),
        (snapshot.c.metadata_segment_id, snapshot.c.metadata_offset),
    ):
        found.update((await conn.execute(select(offset).where(owner == number))).scalars())
    pictures = select(likeness.c.offset).where(
        likeness.c.segment_id == number, likeness.c.snapshot_id.in_(select(snapshot.c.id))
    )
    found.update((await conn.execute(pictures)).scalars())
    gone = answer.c.record_id.in_(select(gone_capture.c.record_id))
    answers = select(answer.c.offset).where(answer.c.segment_id == number, ~gone)
    found.update((await conn.execute(answers)).scalars())
    return found


async def articles_in(conn: AsyncConnection, name: str) -> set[int]:
    """Return the offsets of articles and screenshots of snapshots in a segment."""
    number = select(segment.c.id).where(segment.c.name == name).scalar_subquery()
    found: set[int] = set()
    for owner, offset in ((snapshot.c.article_segment_id, snapshot.c.article_offset),):
        found.update((await conn.execute(select(offset).where(owner == number))).scalars())
    pictures = select(likeness.c.offset).where(
        likeness.c.segment_id == number, likeness.c.snapshot_id.in_(select(snapshot.c.id))
    )
    found.update((await conn.execute(pictures)).scalars())
    return found


async def switch(
    conn: AsyncConnection, was: str, to: str, moved: Sequence[Moved], *, size: int
) -> None:
    """Switch the index to the next version of a segment; rows of erased records are deleted.

    The new version must contain all records that ``wanted`` returns.
    """
    numbers = await segment_rows.advance(conn, {to: size, was: 0})
    between = {"was": numbers[was], "became": numbers[to]}
    await conn.execute(DropTable(_MOVED, if_exists=True))
    await conn.execute(CreateTable(_MOVED))
    rows = [
        (each.old, each.new, each.length, int(each.is_whole), int(each.is_chunked))
        for each in moved
    ]
    await insert_rows(conn, _MOVED, tuple(_MOVED.c.keys()), rows)
    for statement in _SWITCHED:
        await conn.execute(statement, between)
    # Rows of deleted snapshots may refer to erased records.
    await deletions.erase_deleted(conn)
    own = capture_table.c
    await conn.execute(
        delete(capture_table).where(own.segment_id == numbers[was], own.deleted_at.is_not(None))
    )
    await conn.execute(delete(answer).where(answer.c.segment_id == numbers[was]))
    await conn.execute(delete(segment).where(segment.c.id == numbers[was]))
    await conn.execute(DropTable(_MOVED))


async def revisits_of_deleted(conn: AsyncConnection, *, after: int = 0) -> list[Capture]:
    """Return captures after a row whose payload is held by a deleted capture's record."""
    held = _deleted(capture_table.c.payload_digest)
    rows = await conn.execute(
        CAPTURES.where(
            capture.c.id > after, capture.c.is_revisit == 1, capture.c.payload_digest.in_(held)
        ).order_by(capture.c.id)
    )
    return [to_capture(row) for row in rows]


async def holders(conn: AsyncConnection, digests: Sequence[PayloadDigest]) -> list[str]:
    """Return record ids of deleted responses with these payloads."""
    wanted = [to_blob(each) for each in digests]
    rows = await conn.execute(
        _deleted(capture_table.c.record_id).where(capture_table.c.payload_digest.in_(wanted))
    )
    return list(rows.scalars())


def _deleted(column: ColumnElement[Any]) -> Select[Any]:
    """Select a column of deleted responses."""
    own = capture_table.c
    return select(column).where(own.deleted_at.is_not(None), own.is_revisit == 0)
