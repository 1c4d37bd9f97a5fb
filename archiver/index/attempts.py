"""Attempts that failed: when, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import select

from archiver.index import failures
from archiver.index.bulk import among
from archiver.index.connection import AsyncConnection
from archiver.index.schema import attempt
from archiver.model.job import Attempt


async def newest_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Attempt]:
    """The newest attempt that failed of each of these entries, by entry id."""
    rows = await conn.execute(
        select(attempt.c.entry_id, attempt.c.at, attempt.c.failure)
        .where(attempt.c.entry_id.in_(among(entry_ids)))
        .order_by(attempt.c.entry_id, attempt.c.at, attempt.c.id)
    )
    return {
        row.entry_id: Attempt(datetime.fromtimestamp(row.at, UTC), failure)
        for row in rows
        if (failure := failures.load(row.failure))
    }


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
