"""Outcomes of jobs: saved, failed or postponed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, null, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, counters, jobs, queue
from archiver.db.host_queue import to_ms
from archiver.db.schema import imports, job
from archiver.db.statements import execute_rows, is_one_of_these
from archiver.model.capture import Timestamp
from archiver.model.failure import Failure
from archiver.model.job import Lease, State

_END = (
    update(job)
    .values(
        state=bindparam("new_state"),
        timestamp=bindparam("new_timestamp"),
        failure=bindparam("new_failure"),
        changed_at_ms=bindparam("stamp"),
        attempts=job.c.attempts + 1,
        owner=null(),
    )
    .where(job.c.id == bindparam("job_id"))
)
_END_PARAMETERS = ("job_id", "new_state", "new_timestamp", "new_failure", "stamp")
_POSTPONE = (
    update(job)
    .values(
        state=State.QUEUED,
        failure=bindparam("new_failure"),
        not_before_ms=bindparam("at_ms"),
        priority=bindparam("new_priority"),
        changed_at_ms=bindparam("stamp"),
        attempts=job.c.attempts + 1,
        interrupted=0,
        owner=null(),
    )
    .where(job.c.id == bindparam("job_id"))
)
_POSTPONE_PARAMETERS = ("job_id", "new_failure", "at_ms", "new_priority", "stamp")
_THESE = select(job.c.id, job.c.state, job.c.owner).where(is_one_of_these(job.c.id))
"""Without a state condition, because PostgreSQL might scan all jobs of that state."""


@dataclass(frozen=True, slots=True)
class OpenJobs:
    """Jobs that may be ended.

    Attributes:
        ids: all of them.
        held: jobs that are still leased; the others were requeued.
        saved: jobs that another visit has saved.
        stamp: change stamp of this transaction.
    """

    ids: frozenset[int]
    held: frozenset[int]
    saved: frozenset[int]
    stamp: int


async def open_jobs(conn: AsyncConnection, leases: Sequence[Lease], now: datetime) -> OpenJobs:
    """Return which jobs this transaction may end or postpone."""
    if not leases:
        return OpenJobs(frozenset(), frozenset(), frozenset(), 0)
    owners = {lease.job_id: lease.owner for lease in leases}
    found = (await conn.execute(_THESE, {"these": [*owners]})).all()
    stamp = await jobs.next_stamp(conn, now)
    held = {row.id for row in found if row.state == State.FETCHING}
    lost = {row.id for row in found if row.id in held and row.owner != owners[row.id]}
    saved = frozenset(row.id for row in found if row.state == State.SAVED)
    is_open = {row.id for row in found if row.state in (State.QUEUED, State.FETCHING)}
    return OpenJobs(frozenset(is_open - lost), frozenset(held - lost), saved, stamp)


async def end_jobs(
    conn: AsyncConnection,
    ends: Sequence[tuple[Lease, Timestamp | None, Failure | None]],
    now: datetime,
    known: OpenJobs | None = None,
) -> None:
    """End leases: saved with a snapshot's timestamp, or failed with a reason.

    Jobs that have ended or have another owner are skipped. ``known``: the result of ``open_jobs``
    in this transaction.
    """
    known = known or await open_jobs(conn, [lease for lease, _, _ in ends], now)
    ends = [each for each in ends if each[0].job_id in known.ids]
    if not ends:
        return
    held = len(known.held & {lease.job_id for lease, _, _ in ends})
    await execute_rows(
        conn,
        _END,
        _END_PARAMETERS,
        [
            (
                lease.job_id,
                State.FAILED.value if failure else State.SAVED.value,
                int(timestamp) if timestamp else None,
                attempts.dump_failure(failure) if failure else None,
                known.stamp,
            )
            for lease, timestamp, failure in ends
        ],
    )
    failed = sum(1 for _, _, failure in ends if failure)
    moved = {counters.FETCHING: -held, counters.QUEUED: held - len(ends)}
    ended = {counters.SAVED: len(ends) - failed, counters.FAILED: failed}
    await counters.change(conn, moved | ended)
    await _count_in_imports(conn, ends)


async def postpone_jobs(
    conn: AsyncConnection,
    later: Sequence[tuple[Lease, Failure, datetime]],
    now: datetime,
    known: OpenJobs | None = None,
) -> None:
    """Requeue leases for another attempt at a later time.

    Jobs that have ended or have another owner are skipped, as in ``end_jobs``.
    """
    known = known or await open_jobs(conn, [lease for lease, _, _ in later], now)
    later = [each for each in later if each[0].job_id in known.ids]
    if not later:
        return
    held = len(known.held & {lease.job_id for lease, _, _ in later})
    await execute_rows(
        conn,
        _POSTPONE,
        _POSTPONE_PARAMETERS,
        [
            (lease.job_id, attempts.dump_failure(failure), to_ms(at), lease.priority, known.stamp)
            for lease, failure, at in later
        ],
    )
    due_of = [(each.priority, each.entry.host, to_ms(due)) for each, _, due in later]
    await queue.wait_until(conn, due_of)
    await counters.change(conn, {counters.FETCHING: -held, counters.QUEUED: held})


async def _count_in_imports(
    conn: AsyncConnection, ends: Sequence[tuple[Lease, Timestamp | None, Failure | None]]
) -> None:
    tally: dict[int, list[int]] = {}
    for lease, _, failure in ends:
        if lease.import_id is not None:
            tally.setdefault(lease.import_id, [0, 0])[1 if failure else 0] += 1
    if tally:
        await conn.execute(
            update(imports)
            .where(imports.c.id == bindparam("import_id"))
            .values(
                saved=imports.c.saved + bindparam("more_saved"),
                failed=imports.c.failed + bindparam("more_failed"),
            ),
            [
                {"import_id": number, "more_saved": saved, "more_failed": failed}
                for number, (saved, failed) in tally.items()
            ],
        )
