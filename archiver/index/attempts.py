"""Attempts that failed: when, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import select

from archiver.index import failures
from archiver.index.bulk import among, execute_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import attempt
from archiver.model.failure import Failure
from archiver.model.job import Attempt

_INSERT = "INSERT INTO attempt (entry_id, at, failure) {rows}"
_INSERT_ONCE = """
WITH fresh (entry_id, at, failure) AS ({rows})
INSERT INTO attempt (entry_id, at, failure)
SELECT DISTINCT entry_id, at, failure FROM fresh WHERE NOT EXISTS (
    SELECT 1 FROM attempt AS known WHERE known.entry_id = fresh.entry_id
        AND known.at = fresh.at AND known.failure = fresh.failure)
"""


async def insert_all(
    conn: AsyncConnection, failed: Sequence[tuple[int, datetime, Failure]], *, once: bool
) -> None:
    """Index attempts that failed.

    Args:
        conn: a writing connection.
        failed: whose entry's row, when (aware, UTC), and why.
        once: whether two alike are one, of which there are two records.
    """
    rows = [(entry_id, int(at.timestamp()), failures.dump(why)) for entry_id, at, why in failed]
    await execute_rows(conn, _INSERT_ONCE if once else _INSERT, rows)


async def of_entries(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, list[Attempt]]:
    """The attempts that failed of those of these entries that had some, oldest first."""
    rows = await conn.execute(
        select(attempt.c.entry_id, attempt.c.at, attempt.c.failure)
        .where(attempt.c.entry_id.in_(among(entry_ids)))
        .order_by(attempt.c.entry_id, attempt.c.at, attempt.c.id)
    )
    found: dict[int, list[Attempt]] = {}
    for row in rows:
        if failure := failures.load(row.failure):
            made = Attempt(datetime.fromtimestamp(row.at, UTC), failure)
            found.setdefault(row.entry_id, []).append(made)
    return found


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
