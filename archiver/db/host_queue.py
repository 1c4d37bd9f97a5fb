"""Queue of hosts with pending jobs, and queries for host names.

The table ``queue_host`` has a row for each host and priority with queued jobs. The host with the
lowest ``ready_at_ms`` is served first. ``ready_at_ms`` is the time (milliseconds since 1970) when
the next job of the host is due. When a host was served, ``ready_at_ms`` is set to the time of
serving, unless the next job is due later. So hosts take turns.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Integer,
    Select,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    select,
    true,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import Greatest, text_values
from archiver.db.schema import entry, host, job, queue_host
from archiver.db.statements import OnConflict, execute_rows, insert_rows
from archiver.search.words import reversed_host, site_range

PRIORITIES = (0, 1, 2, 3)
"""Priorities, most urgent first."""
PAUSED = 4
"""Priority of queued jobs of a paused import. No host is queued with it, so they are not leased."""
LEASED = (*job.c, entry.c.hash_url, entry.c.url, entry.c.latest, entry.c.source)
"""Columns that are read to lease a job: all of the job and some of its entry."""


_SOONEST = select(
    *(
        select(queue_host.c.ready_at_ms)
        .where(queue_host.c.priority == literal_column(str(priority)))
        .order_by(queue_host.c.ready_at_ms)
        .limit(1)
        .scalar_subquery()
        for priority in PRIORITIES
    )
)
"""Query for the earliest ``ready_at_ms`` of each priority, one column per priority."""
_READY = (
    select(queue_host.c.priority, queue_host.c.host)
    .where(
        queue_host.c.priority == bindparam("priority"),
        queue_host.c.ready_at_ms <= bindparam("now"),
    )
    .order_by(queue_host.c.ready_at_ms)
    .limit(bindparam("count", type_=Integer))
)
_DUE_HOSTS = _READY.where(queue_host.c.host.not_in(text_values(bindparam("busy"))))
_WANTED = _READY.where(queue_host.c.host.in_(text_values(bindparam("hosts"))))
_WAITING = job.alias("waiting")
_QUEUED_OF_HOST = (
    job.c.state == literal_column("'queued'"),
    job.c.priority == queue_host.c.priority,
    job.c.host == queue_host.c.host,
)
_NEXT_JOB = select(func.min(job.c.not_before_ms)).where(*_QUEUED_OF_HOST).scalar_subquery()
_IS_THIS = (
    queue_host.c.priority == bindparam("of_priority"),
    queue_host.c.host == bindparam("of_host"),
)
_READY_AT = bindparam("new_ready_at_ms", type_=queue_host.c.ready_at_ms.type)
_MOVE_BACK = (
    update(queue_host)
    .where(*_IS_THIS)
    .values(ready_at_ms=Greatest(_READY_AT, func.coalesce(_NEXT_JOB, _READY_AT)))
)
_FORGET = delete(queue_host).where(*_IS_THIS, ~exists().where(*_QUEUED_OF_HOST))


@cache
def next_jobs(*, is_postgresql: bool) -> Select[*tuple[Any, ...]]:
    """Return the query for the next hosts of the SQL parameter ``hosts``, each with its due jobs.

    The columns ``rank`` and ``name`` are the priority and the name of the host.

    A host without due jobs has one row, whose job columns are NULL (LEFT JOIN).

    Args:
        is_postgresql: whether the database is PostgreSQL, which needs a LATERAL join to use the
            index of jobs.
    """
    ready = _WANTED.subquery("ready")
    waiting = _WAITING.c
    first = (
        select(waiting.id)
        .where(
            waiting.state == literal_column("'queued'"),
            waiting.priority == ready.c.priority,
            waiting.host == ready.c.host,
            waiting.not_before_ms <= bindparam("now"),
        )
        .order_by(waiting.not_before_ms, waiting.id)
        .limit(bindparam("per_host", type_=Integer))
    )
    if is_postgresql:
        due = first.correlate(ready).lateral("due")
        joined = ready.outerjoin(due, true()).outerjoin(job, job.c.id == due.c.id)
    else:
        joined = ready.outerjoin(job, job.c.id.in_(first.correlate(ready)))
    joined = joined.outerjoin(entry, entry.c.id == job.c.entry_id)
    columns = ready.c.priority.label("rank"), ready.c.host.label("name")
    limit = bindparam("count", type_=Integer)
    return select(*columns, *LEASED).select_from(joined).limit(limit)


async def soonest(conn: AsyncConnection) -> dict[int, int]:
    """Return the earliest ``ready_at_ms`` by priority."""
    row = (await conn.execute(_SOONEST)).one()
    return {rank: due for rank, due in zip(PRIORITIES, row, strict=True) if due is not None}


async def due_hosts(
    conn: AsyncConnection, busy: Sequence[str], *, now: datetime, count: int
) -> list[str]:
    """Return up to ``count`` hosts that may have due jobs and are not busy, in queue order."""
    hosts: dict[str, None] = {}
    values = {"busy": busy, "now": to_ms(now)}
    for priority, ready_at in sorted((await soonest(conn)).items()):
        if ready_at <= to_ms(now) and len(hosts) < count:
            values |= {"priority": priority, "count": count - len(hosts)}
            hosts |= dict.fromkeys(row.host for row in await conn.execute(_DUE_HOSTS, values))
    return [*hosts]


async def make_ready(conn: AsyncConnection, ready: Mapping[tuple[int, str], int]) -> None:
    """Add hosts to the queue, or make them due earlier.

    Args:
        conn: a connection.
        ready: the time when a host's next job is due (milliseconds since 1970), by (priority,
            host). A host that is already in the queue keeps its own time if that is earlier. Hosts
            with the priority PAUSED are skipped.
    """
    rows = [
        {"priority": rank, "host": host, "ready_at_ms": due}
        for (rank, host), due in sorted(ready.items())
        if rank != PAUSED
    ]
    await insert_rows(conn, queue_host, rows, OnConflict.MIN)


async def move_back(conn: AsyncConnection, hosts: set[tuple[int, str]], now: datetime) -> None:
    """Move (priority, host) pairs to the end of the queue; remove those without queued jobs."""
    rows = [
        {"of_priority": rank, "of_host": host, "new_ready_at_ms": to_ms(now)}
        for rank, host in sorted(hosts)
    ]
    await execute_rows(conn, _FORGET, rows)
    await execute_rows(conn, _MOVE_BACK, rows)


def to_ms(moment: datetime) -> int:
    """Convert a datetime to milliseconds since 1970."""
    return int(moment.timestamp() * 1000)


def from_ms(moment: int) -> datetime:
    """Convert milliseconds since 1970 to a datetime (aware, UTC)."""
    return datetime.fromtimestamp(moment / 1000, UTC)


async def insert_hosts(conn: AsyncConnection, names: Collection[str]) -> None:
    """Insert host names; existing names are skipped."""
    rows = [{"name": name, "reversed": reversed_host(name)} for name in sorted(names)]
    await insert_rows(conn, host, rows, OnConflict.KEEP)


async def of_site(conn: AsyncConnection, site: str, *, limit: int) -> list[str]:
    """Return up to ``limit`` host names of a site and its subdomains, with any port."""
    named = await conn.execute(select(host.c.name).where(host.c.name == site))
    first, end = site_range(site)
    rows = await conn.execute(
        select(host.c.name)
        .where(host.c.reversed >= first, host.c.reversed < end)
        .order_by(host.c.reversed)
        .limit(limit)
    )
    return [*dict.fromkeys((*named.scalars(), *rows.scalars()))][:limit]
