"""Entries that public archives may have, and the jobs that ask them."""

from collections.abc import Sequence

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import among
from archiver.index.dialect.functions import KindOfFailure, StatusOfFailure
from archiver.index.schema import entry, job
from archiver.model.failure import FailureKind
from archiver.model.job import State

GONE = (FailureKind.DNS, FailureKind.WALLED, FailureKind.PARKED, FailureKind.NOT_RESCUED)
GONE_STATUSES = (404, 410)
_IS_GONE = or_(
    KindOfFailure(entry.c.failure).in_(GONE), StatusOfFailure(entry.c.failure).in_(GONE_STATUSES)
)


async def gone(conn: AsyncConnection, *, after: int, limit: int) -> Sequence[tuple[int, str]]:
    """(row, host) of entries without a snapshot whose page is gone, after a row."""
    rows = await conn.execute(
        select(entry.c.id, entry.c.host)
        .where(
            entry.c.state == State.FAILED,
            entry.c.snapshot_count == 0,
            entry.c.id > after,
            _IS_GONE,
        )
        .order_by(entry.c.id)
        .limit(limit)
    )
    return [(row.id, row.host) for row in rows]


async def without_snapshot(conn: AsyncConnection, ids: Sequence[int]) -> list[tuple[int, str]]:
    """(row, host) of those of these entries that failed and have no snapshot."""
    rows = await conn.execute(
        select(entry.c.id, entry.c.host).where(
            entry.c.id.in_(among(ids)), entry.c.state == State.FAILED, entry.c.snapshot_count == 0
        )
    )
    return [(row.id, row.host) for row in rows]


async def open_jobs(conn: AsyncConnection, ids: Sequence[int]) -> dict[int, int]:
    """The jobs of these entries that are queued, by entry."""
    rows = await conn.execute(
        select(job.c.entry_id, job.c.id).where(
            job.c.entry_id.in_(among(ids)), job.c.state.in_((State.QUEUED, State.FETCHING))
        )
    )
    return {row.entry_id: row.id for row in rows}


async def ask_archives(conn: AsyncConnection, job_ids: Sequence[int]) -> None:
    """Note that public archives are to be asked for the pages of these jobs."""
    if job_ids:
        await conn.execute(update(job).where(job.c.id.in_(among(job_ids))).values(rescue=1))
