"""Record locations, updated when a segment is rewritten or lost."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
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
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable, DropTable

from archiver.db import attempts, deletions, edit_history, segment_rows
from archiver.db.captures import CAPTURES, to_blob, to_capture
from archiver.db.schema import (
    Number,
    answer,
    capture,
    capture_table,
    entry_table,
    gone_capture,
    likeness,
    segment,
    snapshot,
    snapshot_table,
)
from archiver.db.statements import among, insert_rows
from archiver.model.capture import Capture, PayloadDigest
from archiver.model.failure import Failure

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


_NOTHING = {"latest": None, "status": None, "score": None}
_BARE = {"snapshot_count": 0, "changed": 0, "comparison_owed": 0}
_WORDLESS = {"media_type": "", "rendering": "", "page_title": ""}


@dataclass(frozen=True, slots=True)
class Lost:
    """Numbers of lost snapshots, and of entries that have no other snapshot."""

    snapshots: int
    entries: int


async def lose(conn: AsyncConnection, names: Collection[str], why: Failure, at: datetime) -> Lost:
    """Delete rows of lost segments and store a failure for the entries concerned.

    Payloads with only lost records are written in full again. A segment that reappears is indexed
    like a new one.

    Args:
        conn: a writing connection.
        names: lost segments.
        why: the failure for each entry with a lost snapshot.
        at: time of the failure.
    """
    ids = [*(await segment_rows.ids(conn, [*names])).values()]
    gone = await _captures(conn, ids)
    hollow = await _hollow(conn, ids, gone)
    rows = await conn.execute(
        select(snapshot.c.id, snapshot.c.entry_id).where(
            or_(
                snapshot.c.metadata_segment_id.in_(among(ids)),
                snapshot.c.capture_id.in_(among([*gone, *hollow])),
            )
        )
    )
    found = rows.all()
    concerned = sorted({row.entry_id for row in found})
    await deletions.erase_deleted(conn)
    await deletions.erase_snapshots(conn, [row.id for row in found])
    await _forget_places(conn, ids)
    bare = await _bare(conn, concerned)
    failed = [attempts.FailedAttempt(each, at, why, final=True) for each in concerned]
    await attempts.add_failures(conn, failed)
    await edit_history.mark_unrecorded(conn, concerned)
    return Lost(len(found), len(bare))


async def _captures(conn: AsyncConnection, ids: Sequence[int]) -> list[int]:
    rows = await conn.execute(select(capture.c.id).where(capture.c.segment_id.in_(among(ids))))
    return [*rows.scalars()]


async def _hollow(conn: AsyncConnection, ids: Sequence[int], gone: Sequence[int]) -> list[int]:
    """Return revisits in other segments whose only originals are lost."""
    if not gone:
        return []
    other = capture.alias("other")
    is_elsewhere = exists().where(
        other.c.payload_digest == capture.c.payload_digest,
        other.c.is_revisit == 0,
        other.c.segment_id.not_in(among(ids)),
    )
    rows = await conn.execute(
        select(capture.c.id).where(
            capture.c.id > min(gone),
            capture.c.is_revisit == 1,
            capture.c.payload_digest.in_(_payloads(ids)),
            ~is_elsewhere,
        )
    )
    return [*rows.scalars()]


def _payloads(ids: Sequence[int]) -> Select[bytes]:
    lost = capture.alias("lost")
    return select(lost.c.payload_digest).where(
        lost.c.segment_id.in_(among(ids)), lost.c.is_revisit == 0
    )


async def _forget_places(conn: AsyncConnection, ids: Sequence[int]) -> None:
    """Remove references to these segments; articles will be extracted again."""
    await conn.execute(
        update(snapshot_table)
        .where(snapshot_table.c.article_segment_id.in_(among(ids)))
        .values(article_segment_id=None, article_offset=None, article_length=None, extractor="")
    )
    for table in (likeness, answer, capture_table):
        await conn.execute(delete(table).where(table.c.segment_id.in_(among(ids))))
    await conn.execute(delete(segment).where(segment.c.id.in_(among(ids))))


async def _bare(conn: AsyncConnection, concerned: Sequence[int]) -> list[int]:
    """Reset entries without a snapshot; return their row ids."""
    others = select(func.count()).where(snapshot.c.entry_id == entry_table.c.id).scalar_subquery()
    rows = await conn.execute(
        update(entry_table)
        .where(entry_table.c.id.in_(among(concerned)), others == 0)
        .values(**_NOTHING, **_BARE, **_WORDLESS)
        .returning(entry_table.c.id)
    )
    return [*rows.scalars()]
