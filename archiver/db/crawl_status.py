"""Crawl status: waiting and failed jobs, storage by site."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Select, case, cast, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, host_queue, queue
from archiver.db.dialects import SurtHost, among, failure_reason, text_values
from archiver.db.schema import capture, entry, entry_table, job, queue_host
from archiver.model.failure import Failure, FailureGroup
from archiver.model.job import State

MAX_WAITS = 10
"""Number of waiting hosts that ``QueueLag`` lists."""
_DUE = (queue.INTERACTIVE, queue.BULK, queue.LAST)
_WAITING = (
    select(
        job.c.host,
        func.count().label("jobs"),
        func.min(job.c.not_before_ms).label("due"),
        func.max(job.c.attempts).label("attempts"),
    )
    .where(job.c.state == State.QUEUED, job.c.priority != host_queue.PAUSED)
    .group_by(job.c.host)
    .order_by(func.count().desc(), job.c.host)
)
_TYPE = case((capture.c.media_type == "", "?"), else_=capture.c.media_type)


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """Host with queued jobs.

    Attributes:
        host: host name with port.
        jobs: number of jobs.
        due: when the host is requested next (aware, UTC); after a failure, the time of the retry.
        why: failure of one of these jobs; None if none of them has failed.
    """

    host: str
    jobs: int
    due: datetime
    why: Failure | None


@dataclass(frozen=True, slots=True)
class Share:
    """Storage used by the records of a media type or site.

    Attributes:
        name: the media type or site.
        captures: number of captures.
        bytes: compressed size of the records of these captures, in bytes.
    """

    name: str
    captures: int
    bytes: int


@dataclass(frozen=True, slots=True)
class QueueLag:
    """Delay of the crawl.

    Attributes:
        hosts: number of hosts with queued jobs.
        waits: (host, seconds since it became due) of at most ``MAX_WAITS`` hosts, longest first.
        oldest_lease: age in seconds of the oldest active lease.
    """

    hosts: int
    waits: tuple[tuple[str, float], ...]
    oldest_lease: float


async def queue_lag(conn: AsyncConnection, now: datetime) -> QueueLag:
    """Return the delay of the crawl; jobs that run only when nothing else is due do not count."""
    are_due = queue_host.c.priority.in_(among(_DUE))
    hosts = (
        await conn.execute(select(func.count()).select_from(queue_host).where(are_due))
    ).scalar()
    since = func.min(queue_host.c.ready_at_ms)  # a host may have rows of several priorities
    longest = await conn.execute(
        select(queue_host.c.host, since.label("ready_at_ms"))
        .where(are_due, queue_host.c.ready_at_ms < host_queue.to_ms(now))
        .group_by(queue_host.c.host)
        .order_by(since, queue_host.c.host)
        .limit(MAX_WAITS)
    )
    rows = await conn.execute(
        select(func.min(job.c.changed_at_ms)).where(job.c.state == State.FETCHING)
    )
    waits = tuple((row.host, _since(now, row.ready_at_ms)) for row in longest)
    return QueueLag(hosts or 0, waits, _since(now, rows.scalar()))


def _since(now: datetime, ms: int | None) -> float:
    return 0.0 if ms is None else max(now.timestamp() - ms / 1000, 0.0)


async def waiting_hosts(conn: AsyncConnection, *, limit: int) -> list[WaitingHost]:
    """Return the hosts with most queued jobs."""
    rows = (await conn.execute(_WAITING.limit(limit))).all()
    tried = await _retries(conn, [row.host for row in rows])
    hosts = []
    for row in rows:
        why, due = tried.get(row.host, (None, host_queue.from_ms(row.due)))
        hosts.append(WaitingHost(row.host, row.jobs, due, why))
    return hosts


async def why_waiting(
    conn: AsyncConnection, job_ids: Sequence[int]
) -> dict[int, tuple[Failure, datetime]]:
    """Return, by job id, why the hosts of queued jobs wait: (failure, time of the retry).

    Jobs that have failed themselves, and jobs of hosts without a failed job, are left out.
    """
    waiting = await conn.execute(
        select(job.c.id, job.c.host).where(
            job.c.id.in_(job_ids), job.c.state == State.QUEUED, job.c.failure.is_(None)
        )
    )
    hosts = dict(waiting.all())
    tried = await _retries(conn, {*hosts.values()}) if hosts else {}
    return {number: tried[host] for number, host in hosts.items() if host in tried}


async def _retries(
    conn: AsyncConnection, hosts: Collection[str]
) -> dict[str, tuple[Failure, datetime]]:
    """Return (failure, time of the first retry) by host, for hosts with failed queued jobs."""
    tried = await conn.execute(
        select(job.c.host, func.max(job.c.failure).label("why"), func.min(job.c.not_before_ms))
        .where(
            job.c.state == State.QUEUED,
            job.c.host.in_(text_values(hosts)),
            job.c.failure.is_not(None),
        )
        .group_by(job.c.host)
    )
    failures = ((host, attempts.load_failure(why), due) for host, why, due in tried)
    return {host: (why, host_queue.from_ms(due)) for host, why, due in failures if why}


async def failed_by_reason(
    conn: AsyncConnection, *, most: int, import_id: int | None = None
) -> list[FailureGroup]:
    """Count the newest ``most`` failed entries by reason, most frequent first.

    With ``import_id``, only entries of this import are counted.
    """
    latest = (
        _failed(import_id)
        .with_only_columns(failure_reason(entry.c.failure).label("failure"))
        .where(entry.c.failure.is_not(None))
        .order_by(entry.c.added_at.desc())
        .limit(most)
        .subquery()
    )
    count = func.count().label("entries")
    rows = await conn.execute(
        select(latest.c.failure, count)
        .group_by(latest.c.failure)
        .order_by(count.desc(), latest.c.failure)
    )
    return [FailureGroup(row.failure.strip(), row.entries) for row in rows]


async def failed_of(
    conn: AsyncConnection, *, why: str, after: int, limit: int, import_id: int | None = None
) -> Sequence[tuple[int, str]]:
    """Return (row id, host) of entries that failed for a reason, after a row id."""
    # ``failure_reason`` ends with a space if the failure has no HTTP status.
    padded = why if " " in why else f"{why} "
    rows = await conn.execute(
        _failed(import_id)
        .where(entry.c.id > after, failure_reason(entry.c.failure) == padded)
        .order_by(entry.c.id)
        .limit(limit)
    )
    return [(row.id, row.host) for row in rows]


async def links_of(
    conn: AsyncConnection, import_id: int, *, limit: int
) -> Sequence[tuple[int, str]]:
    """Return (row id, host) of entries of an import that are stored as links."""
    rows = await conn.execute(
        select(entry.c.id, entry.c.host)
        .where(entry.c.brought_by == import_id, entry.c.state == State.LINK)
        .order_by(entry.c.id)
        .limit(limit)
    )
    return [(row.id, row.host) for row in rows]


def _failed(import_id: int | None) -> Select[Any]:
    """Select failed entries: all, or those of an import."""
    failed = select(entry.c.id, entry.c.host).where(entry.c.state == State.FAILED)
    if import_id is None:
        return failed
    jobs = select(job.c.id).where(job.c.entry_id == entry.c.id, job.c.import_id == import_id)
    # Restored entries have lost their jobs, so entries that the import created are added.
    return failed.where(or_(jobs.exists(), entry.c.brought_by == import_id))


async def queued(conn: AsyncConnection, *, limit: int, import_id: int | None = None) -> list[int]:
    """Return the ids of queued jobs, most urgent first.

    With ``import_id``, only jobs of this import are returned.
    """
    jobs = select(job.c.id).where(job.c.state == State.QUEUED)
    if import_id is not None:
        jobs = jobs.where(job.c.import_id == import_id)
    return list((await conn.execute(jobs.order_by(job.c.priority).limit(limit))).scalars())


async def set_queued(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Set failed entries to queued."""
    await conn.execute(
        update(entry_table).where(entry_table.c.id.in_(among(entry_ids))).values(state=State.QUEUED)
    )


async def storage_use(conn: AsyncConnection, *, limit: int) -> tuple[list[Share], list[Share]]:
    """Return the media types and the sites that use most storage; reads all capture rows."""
    uses = []
    for name in (_TYPE, SurtHost(capture.c.surt)):
        size = cast(func.sum(capture.c.length), BigInteger)
        named = name.label("name")
        query = select(named, func.count(), size).select_from(capture).group_by("name")
        rows = await conn.execute(query.order_by(size.desc()).limit(limit))
        uses.append([Share(*row) for row in rows])
    return uses[0], uses[1]
