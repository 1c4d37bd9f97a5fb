"""Attempts that failed: when, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import bindparam, exists, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import failures
from archiver.index.bulk import among, execute_rows, insert_rows
from archiver.index.schema import attempt
from archiver.model.failure import Failure
from archiver.model.job import Attempt

_COLUMNS = ("entry_id", "at", "failure")
_KNOWN = attempt.alias("known")
_NEW = {name: bindparam(f"new_{name}", type_=attempt.c[name].type) for name in _COLUMNS}
_INSERT_ONCE = insert(attempt).from_select(
    _COLUMNS,
    select(*_NEW.values()).where(
        ~exists().where(*(_KNOWN.c[name] == new for name, new in _NEW.items()))
    ),
)


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
    if once:
        await execute_rows(conn, _INSERT_ONCE, [each.key for each in _NEW.values()], rows)
    else:
        await insert_rows(conn, attempt, _COLUMNS, rows)


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
