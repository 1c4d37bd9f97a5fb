"""Job queue: leasing jobs, recording their outcomes and releasing them.

Pending jobs exist only in the database, so a long queue of a slow host takes no memory. Hosts with
queued jobs are served in turn (``db.host_queue``), so a host with many URLs does not delay others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, case, func, null, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, counters, host_queue, jobs
from archiver.db.counters import next_id
from archiver.db.dialects import (
    THESE,
    Greatest,
    among,
    is_among_parameter,
    is_postgresql,
    text_values,
)
from archiver.db.host_queue import PAUSED, from_ms, to_ms
from archiver.db.schema import entry, imports, job
from archiver.db.statements import execute_rows, insert_rows
from archiver.model.capture import Timestamp
from archiver.model.failure import Failure
from archiver.model.feed import feed_of
from archiver.model.imports import CaptureWhen, Choices
from archiver.model.job import EntryRef, Lease, State

_OF_LEASED = select(func.min(job.c.owner).label("owner")).where(job.c.state == State.FETCHING)
_OWNERS = _OF_LEASED.cte("owners", recursive=True)
_NEXT = _OF_LEASED.where(job.c.owner > _OWNERS.c.owner).correlate(_OWNERS).scalar_subquery()
_EACH_OWNER = _OWNERS.union_all(select(_NEXT).where(_OWNERS.c.owner.is_not(None)))
"""Query that reads one index row for each owner; ``SELECT DISTINCT`` would read all leases."""
_OF_JOBS = select(_EACH_OWNER.c.owner).where(_EACH_OWNER.c.owner.is_not(None))


async def job_owners(conn: AsyncConnection) -> list[str]:
    """Return the names of all processes that have leases."""
    return [*(await conn.execute(_OF_JOBS)).scalars()]


async def import_owners(conn: AsyncConnection) -> list[str]:
    """Return the names of all processes that are reading an import file."""
    rows = await conn.execute(
        select(imports.c.owner).where(imports.c.reading == 1, imports.c.owner.is_not(None))
    )
    return sorted({owner for owner in rows.scalars() if owner is not None})


INTERACTIVE, BULK, LAST, IDLE = host_queue.PRIORITIES
"""Priorities, most urgent first.

- INTERACTIVE: a user waits for the job.
- BULK: all other jobs.
- LAST: the host does not respond; its jobs are tried when no INTERACTIVE or BULK job is due.
- IDLE: the user chose that the page is captured only when no other job is due.
"""
_TAKE = (
    update(job)
    .values(state=State.FETCHING, owner=bindparam("by"), changed_at_ms=bindparam("stamp"))
    .where(job.c.id.in_(THESE))
)


_LEASES = select(*host_queue.LEASED).join_from(job, entry, entry.c.id == job.c.entry_id)


async def enqueue(
    conn: AsyncConnection,
    entries: Sequence[tuple[int, str]],
    *,
    priority: int,
    now: datetime,
    import_id: int | None = None,
) -> dict[int, int]:
    """Create a job for each (entry id, host). Entries must not have a queued or leased job yet.

    Jobs of a paused import wait until it is resumed, unless their priority is INTERACTIVE.

    Returns:
        Job ids by entry id.
    """
    if not entries:
        return {}
    if priority != INTERACTIVE and import_id in await paused_imports(conn):
        priority = PAUSED
    first = await next_id(conn, job.c.id)
    job_ids = {entry_id: first + n for n, (entry_id, _) in enumerate(entries)}
    now_ms = to_ms(now)
    common = {
        "import_id": import_id,
        "priority": priority,
        "state": State.QUEUED.value,
        "created_at": int(now.timestamp()),
        "not_before_ms": now_ms,
        "changed_at_ms": await jobs.next_stamp(conn, now),
    }
    rows = [
        {"id": job_ids[entry_id], "entry_id": entry_id, "host": host, **common}
        for entry_id, host in entries
    ]
    await insert_rows(conn, job, rows)
    await host_queue.make_ready(conn, {(priority, host): now_ms for _, host in entries})
    await counters.change(conn, {counters.QUEUED: len(entries)})
    return job_ids


async def mark_for_browser(conn: AsyncConnection, job_ids: Sequence[int]) -> None:
    """Mark jobs so that a browser renders their pages."""
    if job_ids:
        await conn.execute(update(job).where(job.c.id.in_(among(job_ids))).values(render=1))


async def raise_priority(
    conn: AsyncConnection, job_ids: Sequence[int], *, priority: int, now: datetime
) -> None:
    """Raise queued jobs that are less urgent than ``priority`` to this priority."""
    if not job_ids:
        return
    rows = await conn.execute(
        select(job.c.id, job.c.host, job.c.priority).where(
            job.c.id.in_(among(job_ids)), job.c.state == State.QUEUED, job.c.priority > priority
        )
    )
    rows_raised = rows.all()
    if rows_raised:
        await conn.execute(
            update(job)
            .where(job.c.id.in_(among(row.id for row in rows_raised)))
            .values(priority=priority)
        )
        await host_queue.make_ready(conn, {(priority, row.host): to_ms(now) for row in rows_raised})
        await host_queue.move_back(conn, {(row.priority, row.host) for row in rows_raised}, now)


async def paused_imports(conn: AsyncConnection) -> frozenset[int]:
    """Return the ids of paused imports."""
    rows = await conn.execute(select(imports.c.id).where(imports.c.is_paused == 1))
    return frozenset(rows.scalars())


async def pause_import(
    conn: AsyncConnection, import_id: int, *, is_paused: bool, now: datetime, limit: int
) -> int:
    """Pause or resume an import: move up to ``limit`` of its jobs out of the queue, or back.

    When an import is paused, jobs that are being fetched are finished, but not retried before the
    import is resumed. Jobs that a user waits for stay in the queue.

    Returns:
        Number of moved jobs. If it is ``limit``, call again.
    """
    choices = await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(is_paused=int(is_paused))
        .returning(imports.c.choices)
    )
    is_idle = Choices.read(choices.scalar() or "").capture is CaptureWhen.IDLE
    priority = PAUSED if is_paused else IDLE if is_idle else BULK
    movable = (BULK, LAST, IDLE) if is_paused else (PAUSED,)
    mine = (job.c.import_id == import_id, job.c.priority.in_(movable))
    rows = await conn.execute(
        select(job.c.id, job.c.priority, job.c.host, job.c.not_before_ms)
        .where(job.c.state == State.QUEUED, *mine)
        .limit(limit)
    )
    moved = rows.all()
    ids = among(row.id for row in moved)
    await conn.execute(update(job).where(job.c.id.in_(ids)).values(priority=priority))
    await conn.execute(
        update(job).where(job.c.state == State.FETCHING, *mine).values(priority=priority)
    )
    await set_ready(conn, [(priority, row.host, row.not_before_ms) for row in moved])
    await host_queue.move_back(conn, {(row.priority, row.host) for row in moved}, now)
    return len(moved)


async def lease(
    conn: AsyncConnection,
    *,
    owner: str,
    count: int,
    per_host: int,
    hosts: Sequence[str],
    now: datetime,
) -> list[Lease]:
    """Lease due jobs, and move the hosts that were served to the end of the host queue.

    Args:
        conn: a writing connection.
        owner: name of this process's run lock.
        count: maximum number of jobs.
        per_host: maximum number of jobs per host.
        hosts: hosts whose jobs may be leased (``host_queue.due_hosts``). With PostgreSQL, this
            worker has locked them.
        now: current time (aware, UTC).
    """
    ready: list[Row[*tuple[Any, ...]]] = []
    served: set[tuple[int, str]] = set()
    parameters = {"hosts": hosts, "now": to_ms(now), "per_host": per_host}
    query = host_queue.next_jobs(is_postgresql=is_postgresql(conn))
    soonest = await host_queue.soonest(conn)
    for priority in sorted(each for each, at in soonest.items() if at <= to_ms(now)):
        if room := count - len(ready):
            values = parameters | {"priority": priority, "count": room}
            rows = (await conn.execute(query, values)).all()
            # Hosts without due jobs move back too, or they would stay first in the queue.
            served |= {(row.rank, row.name) for row in rows}
            ready += [row for row in rows if row.id is not None]
    stamp = await jobs.next_stamp(conn, now)
    leases = await _take(conn, ready, owner=owner, stamp=stamp)
    await host_queue.move_back(conn, served, now)
    return leases


async def lease_only(
    conn: AsyncConnection,
    job_ids: Sequence[int],
    *,
    owner: str,
    count: int,
    hosts: Sequence[str],
    now: datetime,
) -> list[Lease]:
    """Lease up to ``count`` of the given jobs, if they are due and of one of ``hosts``."""
    due = _LEASES.where(
        job.c.id.in_(among(job_ids)),
        job.c.state == State.QUEUED,
        job.c.not_before_ms <= to_ms(now),
        job.c.host.in_(text_values(hosts)),
    )
    rows = (await conn.execute(due.order_by(job.c.id).limit(count))).all()
    stamp = await jobs.next_stamp(conn, now)
    leases = await _take(conn, rows, owner=owner, stamp=stamp)
    await host_queue.move_back(conn, {(row.priority, row.host) for row in rows}, now)
    return leases


async def hosts_of(conn: AsyncConnection, job_ids: Sequence[int]) -> list[str]:
    """Return the hosts of the given jobs that are queued."""
    rows = await conn.execute(
        select(job.c.host)
        .where(job.c.id.in_(among(job_ids)), job.c.state == State.QUEUED)
        .distinct()
    )
    return [*rows.scalars()]


async def set_last_priority(
    conn: AsyncConnection, host: str, why: Failure, *, now: datetime
) -> None:
    """Set the priority LAST for the queued jobs of a host that does not respond."""
    rows = await conn.execute(
        select(job.c.priority)
        .where(
            job.c.host == host,
            job.c.state == State.QUEUED,
            job.c.priority.not_in((LAST, PAUSED)),
        )
        .distinct()
    )
    ids = list(rows.scalars())
    if not ids:
        return
    await conn.execute(
        update(job)
        .where(job.c.host == host, job.c.state == State.QUEUED, job.c.priority.in_(ids))
        .values(
            priority=LAST,
            failure=attempts.dump_failure(why),
            changed_at_ms=await jobs.next_stamp(conn, now),
        )
    )
    await host_queue.make_ready(conn, {(LAST, host): to_ms(now)})
    await host_queue.move_back(conn, {(priority, host) for priority in ids}, now)


async def postpone_last(conn: AsyncConnection, host: str, due: datetime, *, now: datetime) -> None:
    """Set the due time of a host's queued jobs that have the priority LAST."""
    waiting = (job.c.host == host, job.c.state == State.QUEUED, job.c.priority == LAST)
    stamp = await jobs.next_stamp(conn, now)
    await conn.execute(
        update(job).where(*waiting).values(not_before_ms=to_ms(due), changed_at_ms=stamp)
    )
    await host_queue.make_ready(conn, {(LAST, host): to_ms(now)})
    await host_queue.move_back(conn, {(LAST, host)}, now)


async def requeue(
    conn: AsyncConnection,
    job_ids: Sequence[int],
    *,
    owner: str,
    interrupted: bool,
    now: datetime,
) -> None:
    """Requeue jobs that a process has leased; skip jobs that the process no longer owns.

    With ``interrupted``, mark the jobs as jobs whose visits may already have stored records.
    """
    if not job_ids:
        return
    rows = await conn.execute(
        select(job.c.id, job.c.priority, job.c.host).where(
            job.c.id.in_(among(job_ids)), job.c.state == State.FETCHING, job.c.owner == owner
        )
    )
    requeued = rows.all()
    if not requeued:
        return
    await conn.execute(
        update(job)
        .where(job.c.id.in_(among(row.id for row in requeued)))
        .values(
            state=State.QUEUED,
            owner=None,
            changed_at_ms=await jobs.next_stamp(conn, now),
            interrupted=Greatest(job.c.interrupted, int(interrupted)),
        )
    )
    await host_queue.make_ready(conn, {(row.priority, row.host): to_ms(now) for row in requeued})
    await counters.change(conn, {counters.QUEUED: len(requeued), counters.FETCHING: -len(requeued)})


async def as_leases(conn: AsyncConnection, job_ids: Sequence[int]) -> list[Lease]:
    """Return jobs as leases, with their current owners."""
    rows = await conn.execute(_LEASES.where(job.c.id.in_(among(job_ids))))
    return [_lease(row, row.owner) for row in rows]


async def requeue_all(conn: AsyncConnection, owner: str, *, now: datetime) -> None:
    """Requeue all jobs that a process has leased, as interrupted."""
    rows = await conn.execute(
        select(job.c.id).where(job.c.owner == owner, job.c.state == State.FETCHING)
    )
    await requeue(conn, [*rows.scalars()], owner=owner, interrupted=True, now=now)


async def attempted(conn: AsyncConnection, job_ids: Sequence[int], *, later: datetime) -> list[int]:
    """Return the given jobs for which a caller need not wait.

    These jobs have ended, are queued after a failed attempt, or are queued and due after ``later``.
    """
    rows = await conn.execute(
        select(job.c.id).where(
            job.c.id.in_(among(job_ids)),
            or_(
                job.c.state.in_([State.SAVED, State.FAILED]),
                and_(job.c.state == State.QUEUED, job.c.attempts > 0),
                and_(job.c.state == State.QUEUED, job.c.not_before_ms > to_ms(later)),
            ),
        )
    )
    return list(rows.scalars())


async def next_due(conn: AsyncConnection, *, last_until: datetime | None = None) -> datetime | None:
    """Return the due time of the next job; None if there is no such job.

    Jobs with the priority LAST are ignored if the first of them is due after ``last_until``.
    """
    soonest = await host_queue.soonest(conn)
    if last_until and soonest.get(LAST, 0) > to_ms(last_until):
        del soonest[LAST]
    return from_ms(min(soonest.values())) if soonest else None


async def set_ready(conn: AsyncConnection, rows: Sequence[tuple[int, str, int]]) -> None:
    """Add hosts to the host queue, given (priority, host, due time in ms) of each queued job."""
    ready: dict[tuple[int, str], int] = {}
    for priority, host, at in rows:
        ready[priority, host] = min(at, ready.get((priority, host), at))
    await host_queue.make_ready(conn, ready)


async def _take(
    conn: AsyncConnection,
    free: Sequence[Row[*tuple[Any, ...]]],
    *,
    owner: str,
    stamp: int,
) -> list[Lease]:
    if not free:
        return []
    in_order = sorted(free, key=lambda row: row.id)
    ids = [row.id for row in in_order]
    await conn.execute(_TAKE, {"these": ids, "by": owner, "stamp": stamp})
    await counters.change(conn, {counters.QUEUED: -len(in_order), counters.FETCHING: len(in_order)})
    return [_lease(row, owner) for row in in_order]


def _lease(row: Row[*tuple[Any, ...]], owner: str | None) -> Lease:
    return Lease(
        job_id=row.id,
        import_id=row.import_id,
        entry=EntryRef(row.entry_id, row.hash_url, row.url, row.host),
        attempts=row.attempts,
        created_at=datetime.fromtimestamp(row.created_at, UTC),
        interrupted=bool(row.interrupted),
        priority=row.priority,
        latest=Timestamp(f"{row.latest:014d}") if row.latest else None,
        render=bool(row.render),
        rescue=bool(row.rescue),
        feed=feed_of(row.source),
        owner=owner,
    )


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
_POSTPONE = (
    update(job)
    .values(
        state=State.QUEUED,
        failure=bindparam("new_failure"),
        not_before_ms=bindparam("at_ms"),
        priority=case((job.c.priority == PAUSED, PAUSED), else_=bindparam("new_priority")),
        changed_at_ms=bindparam("stamp"),
        attempts=job.c.attempts + 1,
        interrupted=0,
        owner=null(),
    )
    .where(job.c.id == bindparam("job_id"))
)
_JOBS_BY_ID = select(job.c.id, job.c.state, job.c.owner).where(is_among_parameter(job.c.id))
"""Query without a condition on the state: with one, PostgreSQL may scan all jobs in that state."""


@dataclass(frozen=True, slots=True)
class OpenJobs:
    """Jobs of leases that a transaction may end or postpone.

    Attributes:
        ids: ids of jobs that are queued, or still have the owner that the lease names.
        leased: ids of the jobs in ``ids`` that are still leased.
        stamp: time of this transaction's changes in ms, unique for the transaction
            (``db.jobs.next_stamp``).
    """

    ids: frozenset[int]
    leased: frozenset[int]
    stamp: int


async def open_jobs(conn: AsyncConnection, leases: Sequence[Lease], now: datetime) -> OpenJobs:
    """Return the jobs of leases that this transaction may end or postpone."""
    if not leases:
        return OpenJobs(frozenset(), frozenset(), 0)
    owners = {lease.job_id: lease.owner for lease in leases}
    rows = (await conn.execute(_JOBS_BY_ID, {"these": [*owners]})).all()
    stamp = await jobs.next_stamp(conn, now)
    leased = {row.id for row in rows if row.state == State.FETCHING}
    lost = {row.id for row in rows if row.id in leased and row.owner != owners[row.id]}
    is_open = {row.id for row in rows if row.state in (State.QUEUED, State.FETCHING)}
    return OpenJobs(frozenset(is_open - lost), frozenset(leased - lost), stamp)


async def end_jobs(
    conn: AsyncConnection,
    ends: Sequence[tuple[Lease, Timestamp | None, Failure | None]],
    now: datetime,
) -> None:
    """End leases, given as (lease, timestamp of the snapshot, failure).

    A job with a failure becomes failed, any other job saved. Jobs that have ended or have another
    owner are skipped.
    """
    still_open = await open_jobs(conn, [lease for lease, _, _ in ends], now)
    ends = [each for each in ends if each[0].job_id in still_open.ids]
    if not ends:
        return
    leased = len(still_open.leased & {lease.job_id for lease, _, _ in ends})
    await execute_rows(
        conn,
        _END,
        [
            {
                "job_id": lease.job_id,
                "new_state": State.FAILED.value if failure else State.SAVED.value,
                "new_timestamp": int(timestamp) if timestamp else None,
                "new_failure": attempts.dump_failure(failure) if failure else None,
                "stamp": still_open.stamp,
            }
            for lease, timestamp, failure in ends
        ],
    )
    failed = sum(1 for _, _, failure in ends if failure)
    moved = {counters.FETCHING: -leased, counters.QUEUED: leased - len(ends)}
    ended = {counters.SAVED: len(ends) - failed, counters.FAILED: failed}
    await counters.change(conn, moved | ended)
    await _count_in_imports(conn, ends)


async def postpone_jobs(
    conn: AsyncConnection, later: Sequence[tuple[Lease, Failure, datetime]], now: datetime
) -> None:
    """Requeue leases for another attempt, given as (lease, failure, time of the next attempt).

    Jobs that have ended or have another owner are skipped.
    """
    still_open = await open_jobs(conn, [lease for lease, _, _ in later], now)
    later = [each for each in later if each[0].job_id in still_open.ids]
    if not later:
        return
    leased = len(still_open.leased & {lease.job_id for lease, _, _ in later})
    await execute_rows(
        conn,
        _POSTPONE,
        [
            {
                "job_id": lease.job_id,
                "new_failure": attempts.dump_failure(failure),
                "at_ms": to_ms(at),
                "new_priority": lease.priority,
                "stamp": still_open.stamp,
            }
            for lease, failure, at in later
        ],
    )
    due_of = [(each.priority, each.entry.host, to_ms(due)) for each, _, due in later]
    await set_ready(conn, due_of)
    await counters.change(conn, {counters.FETCHING: -leased, counters.QUEUED: leased})


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
