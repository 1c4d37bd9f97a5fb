"""Job rows, the order of their changes, and whether the crawl is paused.

Callers of ``changes_after`` remember the last change they have read. A time is not sufficient for
that: clocks differ between processes and may be set back, and a change with an earlier time may be
committed later. So each transaction has a number, the change stamp: the time in milliseconds, or
the newest stamp plus one if that is greater. Only one transaction writes at a time, so stamps
increase in commit order.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, counters
from archiver.db.dialects import among, failure_field
from archiver.db.schema import entry, job
from archiver.model.capture import HashUrl, Timestamp
from archiver.model.failure import FailureKind
from archiver.model.job import Change, ChangeCursor, Job, QueueCounts, State

_COUNTED = (State.QUEUED, State.FETCHING, State.SAVED, State.FAILED)
_PAUSED = "paused"
PACE_MS = 120_000
LEAST_ENDED = 3
"""Minimum number of jobs that must finish within ``PACE_MS`` to estimate the remaining time."""


async def by_ids(conn: AsyncConnection, ids: Sequence[int]) -> list[Job]:
    """Return jobs by id, in order of creation."""
    rows = await conn.execute(query().where(job.c.id.in_(ids)).order_by(job.c.id))
    return [of_row(row) for row in rows]


async def fetching(conn: AsyncConnection, limit: int) -> list[Job]:
    """Return the jobs that are being fetched, by any process."""
    rows = await conn.execute(
        query().where(job.c.state == State.FETCHING).order_by(job.c.owner, job.c.id).limit(limit)
    )
    return [of_row(row) for row in rows]


async def latest_of_entry(conn: AsyncConnection, entry_id: int) -> Job | None:
    """Return the newest job of an entry, if any."""
    row = (
        await conn.execute(
            query().where(job.c.entry_id == entry_id).order_by(job.c.id.desc()).limit(1)
        )
    ).one_or_none()
    return of_row(row) if row else None


async def queue_counts(conn: AsyncConnection) -> QueueCounts:
    """Return the number of jobs in each state."""
    counts = await counters.all_counters(conn)
    return QueueCounts(*(counts.get(state, 0) for state in _COUNTED))


async def is_paused(conn: AsyncConnection) -> bool:
    """Return whether the crawl is paused."""
    return bool(await counters.get(conn, _PAUSED))


async def set_paused(conn: AsyncConnection, *, paused: bool) -> None:
    """Pause or resume the crawl."""
    await counters.put(conn, {_PAUSED: int(paused)})


async def fetching_of_import(conn: AsyncConnection, import_id: int) -> int:
    """Return the number of jobs of an import that are being fetched."""
    rows = await conn.execute(
        select(func.count()).where(job.c.state == State.FETCHING, job.c.import_id == import_id)
    )
    return rows.scalar_one()


async def seconds_per_job(
    conn: AsyncConnection, now: datetime, *, import_id: int | None = None
) -> float | None:
    """Return the average seconds per job in the last ``PACE_MS`` milliseconds.

    Return None if fewer than ``LEAST_ENDED`` jobs finished in this time.
    """
    moment = now.timestamp() * 1000
    ended = select(func.count(), func.min(job.c.changed_at_ms)).where(
        job.c.changed_at_ms > int(moment) - PACE_MS,
        job.c.state.in_((State.SAVED, State.FAILED)),
    )
    if import_id is not None:
        ended = ended.where(job.c.import_id == import_id)
    count, first = (await conn.execute(ended)).one()
    return max(moment - first, 0) / 1000 / count if count >= LEAST_ENDED else None


def query() -> Select[*tuple[Any, ...]]:
    """Select jobs with the displayed columns of their entries."""
    return select(job, entry.c.hash_url, entry.c.url, entry.c.given_title, entry.c.page_title).join(
        entry, entry.c.id == job.c.entry_id
    )


def of_row(row: Row[*tuple[Any, ...]]) -> Job:
    """Build a job from a row of ``query``."""
    waits = row.state == State.QUEUED and row.attempts
    return Job(
        id=row.id,
        hash_url=HashUrl(row.hash_url),
        url=row.url,
        state=State(row.state),
        title=row.given_title or row.page_title,
        attempts=row.attempts,
        failure=attempts.load_failure(row.failure),
        not_before=datetime.fromtimestamp(row.not_before_ms / 1000, UTC) if waits else None,
        timestamp=Timestamp(f"{row.timestamp:014d}") if row.timestamp else None,
    )


LAST_ID = (1 << 63) - 1


async def next_stamp(conn: AsyncConnection, now: datetime) -> int:
    """Return the change stamp for this transaction."""
    return max(await _newest(conn) + 1, int(now.timestamp() * 1000))


async def newest_change(conn: AsyncConnection) -> ChangeCursor:
    """Return the cursor that follows all committed changes."""
    return ChangeCursor(await _newest(conn), LAST_ID)


async def changes_after(
    conn: AsyncConnection, cursor: ChangeCursor, *, limit: int
) -> Sequence[Change]:
    """Return changes after a cursor, in order: only the last change of each job."""
    place = tuple_(job.c.changed_at_ms, job.c.id)
    rows = await conn.execute(
        query()
        .where(
            job.c.changed_at_ms >= cursor.stamp,
            place > tuple_(cursor.stamp, cursor.job_id),
        )
        .order_by(job.c.changed_at_ms, job.c.id)
        .limit(limit)
    )
    return [Change(ChangeCursor(row.changed_at_ms, row.id), of_row(row)) for row in rows]


async def _newest(conn: AsyncConnection) -> int:
    return (await conn.execute(select(func.max(job.c.changed_at_ms)))).scalar() or 0


GONE = (FailureKind.DNS, FailureKind.WALLED, FailureKind.PARKED, FailureKind.NOT_RESCUED)
GONE_STATUSES = ("404", "410")
_IS_GONE = or_(
    failure_field(entry.c.failure, "kind").in_(GONE),
    failure_field(entry.c.failure, "status").in_(GONE_STATUSES),
)


async def with_page_gone(
    conn: AsyncConnection, *, after: int, limit: int
) -> Sequence[tuple[int, str]]:
    """Return (row id, host) of failed entries without snapshots whose page no longer exists.

    Only entries with row ids above ``after`` are returned, lowest first.
    """
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
    """Return (row id, host) of the failed entries without a snapshot among ``ids``."""
    rows = await conn.execute(
        select(entry.c.id, entry.c.host).where(
            entry.c.id.in_(among(ids)), entry.c.state == State.FAILED, entry.c.snapshot_count == 0
        )
    )
    return [(row.id, row.host) for row in rows]


async def open_jobs(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """Return the ids of queued and running jobs by entry id; entries without one are left out."""
    rows = await conn.execute(
        select(job.c.entry_id, job.c.id).where(
            job.c.entry_id.in_(among(entry_ids)), job.c.state.in_([State.QUEUED, State.FETCHING])
        )
    )
    return dict(rows.all())


async def mark_for_recovery(conn: AsyncConnection, job_ids: Sequence[int]) -> None:
    """Mark jobs to be recovered from public archives."""
    if job_ids:
        await conn.execute(update(job).where(job.c.id.in_(among(job_ids))).values(rescue=1))
