"""Removal of rows whose segments are lost."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, deletions, pending_records, segment_rows
from archiver.db.schema import (
    answer,
    capture,
    capture_table,
    entry_table,
    likeness,
    segment,
    snapshot,
    snapshot_table,
)
from archiver.db.statements import among
from archiver.model.failure import Failure

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
    await pending_records.mark_unrecorded(conn, concerned)
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
