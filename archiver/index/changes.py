"""The order in which jobs changed: a number that rises with every transaction that changes some.

A clock alone gives no order: it is read before a commit, each process reads its own, it is set
back, and a thousand changes share one millisecond. Whoever remembered a moment would miss what is
committed later with an earlier one. So a change is stamped with the clock, or with one more than
all that is committed where that is greater: writers take turns, so stamps rise as commits do.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import jobs
from archiver.index.schema import job
from archiver.model.job import Change, ChangeCursor

LAST_ID = (1 << 63) - 1


async def next_stamp(conn: AsyncConnection, now: datetime) -> int:
    """The stamp of what a writing connection is about to change."""
    return max(await _newest(conn) + 1, int(now.timestamp() * 1000))


async def newest(conn: AsyncConnection) -> ChangeCursor:
    """The place behind all that has changed so far."""
    return ChangeCursor(await _newest(conn), LAST_ID)


async def after(conn: AsyncConnection, cursor: ChangeCursor, *, limit: int) -> Sequence[Change]:
    """What changed behind a place, in order; a job that changed twice is where it last did."""
    place = tuple_(job.c.changed_at_ms, job.c.id)
    rows = await conn.execute(
        jobs.query()
        .where(
            job.c.changed_at_ms >= cursor.stamp,
            place > tuple_(cursor.stamp, cursor.job_id),
        )
        .order_by(job.c.changed_at_ms, job.c.id)
        .limit(limit)
    )
    return [Change(ChangeCursor(row.changed_at_ms, row.id), jobs.of_row(row)) for row in rows]


async def _newest(conn: AsyncConnection) -> int:
    return (await conn.execute(select(func.max(job.c.changed_at_ms)))).scalar() or 0
