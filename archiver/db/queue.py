"""Job queue: leasing jobs and releasing them.

The queue on disk is the only list of what is to be done. ``queue_host`` holds a row for each host
with queued jobs, ordered by when it may be asked next, so that hosts take turns however the list
was ordered and a slow one waits here and not in memory.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, counters, host_queue, jobs
from archiver.db.counters import next_number
from archiver.db.dialects import dialect_of
from archiver.db.host_queue import Turns, from_ms, to_ms
from archiver.db.schema import entry, imports, job
from archiver.db.sql_functions import Greatest
from archiver.db.statements import among, among_texts, execute_rows, insert_rows
from archiver.model.capture import Timestamp
from archiver.model.failure import Failure
from archiver.model.feed import feed_of
from archiver.model.job import EntryRef, Lease, State

_OF_LEASED = select(func.min(job.c.owner).label("owner")).where(job.c.state == State.FETCHING)
_OWNERS = _OF_LEASED.cte("owners", recursive=True)
_NEXT = _OF_LEASED.where(job.c.owner > _OWNERS.c.owner).correlate(_OWNERS).scalar_subquery()
_EACH = _OWNERS.union_all(select(_NEXT).where(_OWNERS.c.owner.is_not(None)))
"""From one to the next by their index: to look at each lease takes as long as there are leases."""
_OF_JOBS = select(_EACH.c.owner).where(_EACH.c.owner.is_not(None))


async def job_owners(conn: AsyncConnection) -> list[str]:
    """Every process that holds a job."""
    return [*(await conn.execute(_OF_JOBS)).scalars()]


async def import_owners(conn: AsyncConnection) -> list[str]:
    """Every process that reads a file, or was to read one."""
    rows = await conn.execute(
        select(imports.c.owner).where(imports.c.reading == 1, imports.c.owner.is_not(None))
    )
    return sorted({owner for owner in rows.scalars() if owner is not None})


INTERACTIVE, BULK, LAST, IDLE = host_queue.PRIORITIES
"""Somebody is looking at it now; as it comes; its host does not answer, so it is tried once more
when nothing else is due; it is captured when nothing else is due, as somebody wished."""
_NEW_JOB = (
    "id",
    "entry_id",
    "import_id",
    "host",
    "priority",
    "state",
    "created_at",
    "not_before_ms",
    "changed_at_ms",
)

_TAKE = (
    update(job)
    .values(state=State.FETCHING, owner=bindparam("by"), changed_at_ms=bindparam("stamp"))
    .where(job.c.id == bindparam("job_id"))
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
    """Make a job for each (entry id, host) that has none open; return job ids by entry id."""
    if not entries:
        return {}
    first = await next_number(conn, job.c.id)
    made = {entry_id: first + n for n, (entry_id, _) in enumerate(entries)}
    now_ms, stamp = to_ms(now), await jobs.next_stamp(conn, now)
    created_at, queued = int(now.timestamp()), State.QUEUED.value
    await insert_rows(
        conn,
        job,
        _NEW_JOB,
        [
            (
                made[entry_id],
                entry_id,
                import_id,
                host,
                priority,
                queued,
                created_at,
                now_ms,
                stamp,
            )
            for entry_id, host in entries
        ],
    )
    await host_queue.make_ready(conn, {(priority, host): now_ms for _, host in entries})
    await counters.change(conn, {counters.QUEUED: len(entries)})
    return made


async def ask_for_browser(conn: AsyncConnection, job_ids: Sequence[int]) -> None:
    """Note that the pages of these jobs are to be shown by a browser."""
    if job_ids:
        await conn.execute(update(job).where(job.c.id.in_(among(job_ids))).values(render=1))


async def hurry(
    conn: AsyncConnection, job_ids: Sequence[int], *, priority: int, now: datetime
) -> None:
    """Let queued jobs go before others: someone is looking at them now."""
    if not job_ids:
        return
    rows = await conn.execute(
        select(job.c.id, job.c.host, job.c.priority).where(
            job.c.id.in_(among(job_ids)), job.c.state == State.QUEUED, job.c.priority > priority
        )
    )
    found = rows.all()
    if found:
        await conn.execute(
            update(job)
            .where(job.c.id.in_(among(row.id for row in found)))
            .values(priority=priority)
        )
        await host_queue.make_ready(conn, {(priority, row.host): to_ms(now) for row in found})
        await host_queue.turn(conn, {(row.priority, row.host) for row in found}, now)


async def lease(
    conn: AsyncConnection,
    *,
    owner: str,
    count: int,
    each: int,
    hosts: Turns,
    now: datetime,
    mine: Sequence[str] | None = None,
) -> list[Lease]:
    """Take up to ``count`` jobs that are due: of a proven host up to ``each``, of others one.

    Args:
        conn: a writing connection.
        owner: the run lock's name of this process.
        count: how many there is room for.
        each: how many of one host.
        hosts: which are busy, and which are proven.
        now: the moment (aware, UTC).
        mine: on a server, the hosts of which this worker has the lock.
    """
    found: list[Row[*tuple[Any, ...]]] = []
    turned: set[tuple[int, str]] = set()
    asking: dict[str, Any] = {"busy": hosts.busy, "now": to_ms(now)}
    if mine is not None:
        asking["mine"] = [*mine]
    soonest = await host_queue.soonest(conn)
    for priority in sorted(each for each, at in soonest.items() if at <= asking["now"]):
        if room := count - len(found):
            asked = asking | {"priority": priority}
            rows = await _next_jobs(conn, hosts, asked, room, each)
            # One whose jobs are over, or due later, would stand in the way of others.
            turned |= {(row.rank, row.name) for row in rows}
            found += [row for row in rows if row.id is not None]
    stamp = await jobs.next_stamp(conn, now)
    taken = await _take(conn, found, owner=owner, stamp=stamp)
    await host_queue.turn(conn, turned, now)
    return taken


async def _next_jobs(
    conn: AsyncConnection, hosts: Turns, asked: dict[str, Any], room: int, each: int
) -> Sequence[Row[*tuple[Any, ...]]]:
    """Rows of ``turns.next_jobs``, as many as there is room for: of unproven hosts first."""
    asked |= {"proven": hosts.proven}
    dialect, only_mine = dialect_of(conn), "mine" in asked
    unproven = host_queue.next_jobs(dialect, False, only_mine)
    proven = host_queue.next_jobs(dialect, True, only_mine)
    if not hosts.proven:
        return (await conn.execute(unproven, asked | {"count": room, "each": 1})).all()
    known = await conn.execute(proven, asked | {"count": room, "each": each})
    others = known.all()
    # A host without a name here may be dead: of what others have jobs for, these take half.
    left = room - sum(row.id is not None for row in others)
    few = max((room + 1) // 2, left)
    some = (await conn.execute(unproven, asked | {"count": few, "each": 1})).all()
    return [*some, *others][:room]


async def lease_only(
    conn: AsyncConnection,
    job_ids: Sequence[int],
    *,
    owner: str,
    count: int,
    busy: Collection[str],
    now: datetime,
    mine: Sequence[str] | None = None,
) -> list[Lease]:
    """Lease up to ``count`` of these jobs: due, leased by nobody, of a host that is not busy.

    ``mine``: on a server, the hosts of which this worker has the lock.
    """
    wanted = (
        select(job.c.id)
        .where(
            job.c.id.in_(among(job_ids)),
            job.c.state == State.QUEUED,
            job.c.not_before_ms <= to_ms(now),
            job.c.host.not_in(among_texts(busy)),
        )
        .order_by(job.c.id)
        .limit(count)
    )
    if mine is not None:
        wanted = wanted.where(job.c.host.in_(among_texts(mine)))
    ids = (await conn.execute(wanted)).scalars().all()
    rows = (await conn.execute(_LEASES.where(job.c.id.in_(among(ids))))).all() if ids else ()
    stamp = await jobs.next_stamp(conn, now)
    taken = await _take(conn, rows, owner=owner, stamp=stamp)
    await host_queue.turn(conn, {(row.priority, row.host) for row in rows}, now)
    return taken


async def hosts_of(conn: AsyncConnection, job_ids: Sequence[int]) -> list[str]:
    """Return the hosts of these jobs, as far as these are queued."""
    rows = await conn.execute(
        select(job.c.host)
        .where(job.c.id.in_(among(job_ids)), job.c.state == State.QUEUED)
        .distinct()
    )
    return [*rows.scalars()]


async def put_last(conn: AsyncConnection, host: str, why: Failure, *, now: datetime) -> None:
    """Put what is queued of a host behind all others, and tell why."""
    rows = await conn.execute(
        select(job.c.priority)
        .where(job.c.host == host, job.c.state == State.QUEUED, job.c.priority != LAST)
        .distinct()
    )
    found = list(rows.scalars())
    if not found:
        return
    await conn.execute(
        update(job)
        .where(job.c.host == host, job.c.state == State.QUEUED, job.c.priority.in_(found))
        .values(
            priority=LAST,
            failure=attempts.dump_failure(why),
            changed_at_ms=await jobs.next_stamp(conn, now),
        )
    )
    await host_queue.make_ready(conn, {(LAST, host): to_ms(now)})
    await host_queue.turn(conn, {(priority, host) for priority in found}, now)


async def requeue(
    conn: AsyncConnection,
    job_ids: Sequence[int],
    *,
    owner: str,
    interrupted: bool,
    now: datetime,
) -> None:
    """Give leases of a process back, as they were; what it holds no longer is left alone."""
    if not job_ids:
        return
    rows = await conn.execute(
        select(job.c.id, job.c.priority, job.c.host).where(
            job.c.id.in_(among(job_ids)), job.c.state == State.FETCHING, job.c.owner == owner
        )
    )
    found = rows.all()
    if not found:
        return
    await conn.execute(
        update(job)
        .where(job.c.id.in_(among(row.id for row in found)))
        .values(
            state=State.QUEUED,
            owner=None,
            changed_at_ms=await jobs.next_stamp(conn, now),
            interrupted=Greatest(job.c.interrupted, int(interrupted)),
        )
    )
    await host_queue.make_ready(conn, {(row.priority, row.host): to_ms(now) for row in found})
    await counters.change(conn, {counters.QUEUED: len(found), counters.FETCHING: -len(found)})


async def as_leases(conn: AsyncConnection, job_ids: Sequence[int]) -> list[Lease]:
    """Jobs as their holders would see them."""
    rows = await conn.execute(_LEASES.where(job.c.id.in_(among(job_ids))))
    return [_lease(row, row.owner) for row in rows]


async def held_by(conn: AsyncConnection, owner: str) -> list[int]:
    """The jobs a process holds."""
    rows = await conn.execute(
        select(job.c.id).where(job.c.owner == owner, job.c.state == State.FETCHING)
    )
    return list(rows.scalars())


async def attempted(conn: AsyncConnection, job_ids: Sequence[int]) -> list[int]:
    """Those of these jobs that are at an end or wait for another attempt."""
    rows = await conn.execute(
        select(job.c.id).where(
            job.c.id.in_(among(job_ids)),
            or_(
                job.c.state.in_([State.SAVED, State.FAILED]),
                and_(job.c.state == State.QUEUED, job.c.attempts > 0),
            ),
        )
    )
    return list(rows.scalars())


async def next_due(conn: AsyncConnection, busy: Collection[str]) -> datetime | None:
    """When the next job of a host that is not busy is due; None when none is queued."""
    soonest = (await host_queue.soonest(conn, busy)).values()
    return from_ms(min(soonest)) if soonest else None


async def wait_until(conn: AsyncConnection, rows: Sequence[tuple[int, str, int]]) -> None:
    """Note for each (priority, host, ms) that a job of that host is queued and due then."""
    ready: dict[tuple[int, str], int] = {}
    for priority, host, at in rows:
        ready[priority, host] = min(at, ready.get((priority, host), at))
    await host_queue.make_ready(conn, ready)


async def _take(
    conn: AsyncConnection,
    found: Sequence[Row[*tuple[Any, ...]]],
    *,
    owner: str,
    stamp: int,
) -> list[Lease]:
    if not found:
        return []
    taken = sorted(found, key=lambda row: row.id)
    rows = [(row.id, owner, stamp) for row in taken]
    await execute_rows(conn, _TAKE, ("job_id", "by", "stamp"), rows)
    await counters.change(conn, {counters.QUEUED: -len(taken), counters.FETCHING: len(taken)})
    return [_lease(row, owner) for row in taken]


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
