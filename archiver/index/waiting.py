"""What only the index knows, told so that another index can take it over."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import annotations, labels
from archiver.index.schema import entry, job
from archiver.model.job import State
from archiver.model.seed import RevisedSeed, Seed


@dataclass(frozen=True, slots=True)
class OpenSeed:
    """A seed that has an open job.

    Attributes:
        seed: what was said.
        made_at: when the job was made (aware, UTC).
        sort_at: the entry's place in lists (aware, UTC).
        is_urgent: someone is waiting for it; it is captured even if it was before.
    """

    seed: Seed
    made_at: datetime
    sort_at: datetime
    is_urgent: bool


async def open_seeds(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[OpenSeed], int]:
    """What is still to be done, after a job, and the last job of it: where to go on."""
    rows = (
        await conn.execute(
            select(entry, job.c.id.label("job_id"), job.c.created_at, job.c.priority)
            .join(job, job.c.entry_id == entry.c.id)
            .where(job.c.id > after, job.c.state.in_([State.QUEUED, State.FETCHING]))
            .order_by(job.c.id)
            .limit(limit)
        )
    ).all()
    carried = await labels.of_entries(conn, [row.id for row in rows])
    found = [
        OpenSeed(
            seed=_seed(row, carried[row.id]),
            made_at=datetime.fromtimestamp(row.created_at, UTC),
            sort_at=datetime.fromtimestamp(row.sort_at, UTC),
            is_urgent=row.priority == 0,
        )
        for row in rows
    ]
    return found, rows[-1].job_id if rows else after


async def unrecorded_seeds(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[RevisedSeed], int]:
    """What no record says of entries yet, after an entry, and the last of them."""
    query = select(entry).where(entry.c.unrecorded == 1, entry.c.id > after)
    rows = (await conn.execute(query.order_by(entry.c.id).limit(limit))).all()
    carried = await labels.of_entries(conn, [row.id for row in rows])
    found = [
        RevisedSeed(_seed(row, carried[row.id]), row.revision, row.state == State.LINK)
        for row in rows
    ]
    return found, rows[-1].id if rows else after


def _seed(row: Row[*tuple[Any, ...]], carried: labels.Labels) -> Seed:
    return Seed(row.hash_url, row.url, row.host, annotations.of_row(row, carried))
