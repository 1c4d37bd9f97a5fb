"""Attempts that failed: when, and why."""

from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import failures
from archiver.index.schema import attempt
from archiver.model.job import Attempt


async def of_entry(conn: AsyncConnection, entry_id: int, *, limit: int) -> list[Attempt]:
    """The newest attempts of an entry that failed, newest first."""
    rows = await conn.execute(
        select(attempt.c.at, attempt.c.failure)
        .where(attempt.c.entry_id == entry_id)
        .order_by(attempt.c.at.desc(), attempt.c.id.desc())
        .limit(limit)
    )
    return [
        Attempt(datetime.fromtimestamp(row.at, UTC), failure)
        for row in rows
        if (failure := failures.load(row.failure))
    ]
