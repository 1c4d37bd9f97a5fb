"""The ends of jobs: saved, failed for good, or put off to a later attempt; many at once."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, null, select, update

from archiver.index import changes, counters, failures, queue
from archiver.index.at_once import at_once
from archiver.index.bulk import among, execute_rows, given, over
from archiver.index.connection import AsyncConnection
from archiver.index.schema import imports, job
from archiver.index.turns import to_ms
from archiver.model.capture import Timestamp
from archiver.model.failure import Failure
from archiver.model.job import Lease, State

_END = given("ended", job.c.id, job.c.state, job.c.timestamp, job.c.failure, job.c.changed_at_ms)
_ENDED = over(
    _END,
    update(job)
    .values(
        state=_END.c.state,
        timestamp=_END.c.timestamp,
        failure=_END.c.failure,
        changed_at_ms=_END.c.changed_at_ms,
        attempts=job.c.attempts + 1,
        owner=null(),
    )
    .where(job.c.id == _END.c.id),
)


async def end_jobs(
    conn: AsyncConnection,
    ends: Sequence[tuple[Lease, Timestamp | None, Failure | None]],
    now: datetime,
) -> None:
    """End leases: saved with a snapshot's timestamp, or failed for good with a reason.

    What is at its end already, or held by another process by now, is left alone.
    """
    if not ends:
        return
    (open_, held), stamp = await at_once(
        _open(conn, [lease for lease, _, _ in ends]), changes.next_stamp(conn, now)
    )
    ends = [each for each in ends if each[0].job_id in open_]
    if not ends:
        return
    await execute_rows(
        conn,
        _ENDED,
        [
            (
                lease.job_id,
                State.FAILED.value if failure else State.SAVED.value,
                int(timestamp) if timestamp else None,
                failures.dump(failure) if failure else None,
                stamp,
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
    conn: AsyncConnection, later: Sequence[tuple[Lease, Failure, datetime]], now: datetime
) -> None:
    """Put leases back into the queue for another attempt at a later moment.

    What is at its end already, or held by another process by now, is left alone.
    """
    open_, held = await _open(conn, [lease for lease, _, _ in later])
    later = [each for each in later if each[0].job_id in open_]
    if not later:
        return
    await conn.tell(
        update(job)
        .where(job.c.id == bindparam("job_id"))
        .values(
            state=State.QUEUED,
            owner=null(),
            failure=bindparam("why"),
            attempts=job.c.attempts + 1,
            interrupted=0,
            not_before_ms=bindparam("due"),
            priority=bindparam("rank"),
            changed_at_ms=await changes.next_stamp(conn, now),
        ),
        [
            {
                "job_id": lease.job_id,
                "why": failures.dump(failure),
                "due": to_ms(due),
                "rank": lease.priority,
            }
            for lease, failure, due in later
        ],
    )
    due_of = [(each.priority, each.entry.host, to_ms(due)) for each, _, due in later]
    await queue.wait_until(conn, due_of)
    await counters.change(conn, {counters.FETCHING: -held, counters.QUEUED: held})


async def _open(conn: AsyncConnection, leases: Sequence[Lease]) -> tuple[set[int], int]:
    """Those of these jobs that their holders may end, and how many of them are still leased.

    The rest of them was given back before it ended.
    """
    if not leases:
        return set(), 0
    owners = {lease.job_id: lease.owner for lease in leases}
    rows = await conn.execute(
        select(job.c.id, job.c.state, job.c.owner).where(
            job.c.id.in_(among(owners)), job.c.state.in_((State.QUEUED, State.FETCHING))
        )
    )
    found = rows.all()
    held = {row.id for row in found if row.state == State.FETCHING}
    lost = {row.id for row in found if row.id in held and row.owner != owners[row.id]}
    return {row.id for row in found} - lost, len(held - lost)


async def _count_in_imports(
    conn: AsyncConnection, ends: Sequence[tuple[Lease, Timestamp | None, Failure | None]]
) -> None:
    tally: dict[int, list[int]] = {}
    for lease, _, failure in ends:
        if lease.import_id is not None:
            tally.setdefault(lease.import_id, [0, 0])[1 if failure else 0] += 1
    if tally:
        await conn.tell(
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
