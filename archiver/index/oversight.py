"""The work as a whole: who waits and why, what failed and why, what takes how much room."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import TextClause, func, select, text
from sqlalchemy.dialects.sqlite import insert

from archiver.index import failures
from archiver.index.bulk import among
from archiver.index.connection import AsyncConnection
from archiver.index.schema import counter, entry, job
from archiver.model.failure import Failure, Reason
from archiver.model.job import State

_PAUSED = "paused"
_WAITING = """
SELECT host, count(*) AS jobs, min(not_before_ms) AS due, max(attempts) AS attempts
FROM job WHERE state = 'queued' GROUP BY host ORDER BY jobs DESC, host LIMIT :limit
"""
_FAILED = """
SELECT failure, count(*) AS entries FROM (
    SELECT json_extract(failure, '$.kind') || ' ' || coalesce(json_extract(failure, '$.status'), '')
        AS failure FROM entry WHERE state = 'failed' AND failure IS NOT NULL {narrowed}
    ORDER BY sort_at DESC LIMIT :most
) GROUP BY failure ORDER BY entries DESC, failure
"""
_OF_REASON = """
SELECT id, host FROM entry WHERE state = 'failed' AND id > :after
    AND json_extract(failure, '$.kind') || ' ' || coalesce(json_extract(failure, '$.status'), '')
        = :reason {narrowed}
ORDER BY id LIMIT :limit
"""
_OF_IMPORT = """
AND EXISTS (SELECT 1 FROM job WHERE job.entry_id = entry.id AND job.import_id = :import_id)
"""
_BY_TYPE = """
SELECT CASE WHEN media_type = '' THEN '?' ELSE media_type END, count(*), sum(length)
FROM capture GROUP BY 1 ORDER BY 3 DESC LIMIT :limit
"""
_BY_SITE = """
SELECT substr(surt, 1, instr(surt, ')') - 1), count(*), sum(length)
FROM capture GROUP BY 1 ORDER BY 3 DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """A host with queued jobs.

    Attributes:
        host: its name, with its port.
        jobs: how many.
        due: when the first of them may be tried (aware, UTC).
        why: what the last attempt at one of them met, if there was one.
    """

    host: str
    jobs: int
    due: datetime
    why: Failure | None


@dataclass(frozen=True, slots=True)
class Share:
    """What the records of one media type or site take.

    Attributes:
        name: of the type or the site.
        captures: how many.
        bytes: of their members on disk.
    """

    name: str
    captures: int
    bytes: int


async def is_paused(conn: AsyncConnection) -> bool:
    """Whether nothing is to be fetched for now."""
    return bool(
        (await conn.execute(select(counter.c.value).where(counter.c.name == _PAUSED))).scalar()
    )


async def set_paused(conn: AsyncConnection, *, paused: bool) -> None:
    """Note whether anything is to be fetched."""
    statement = insert(counter).values(name=_PAUSED, value=int(paused))
    await conn.execute(
        statement.on_conflict_do_update(
            index_elements=["name"], set_={"value": statement.excluded.value}
        )
    )


async def waiting_hosts(conn: AsyncConnection, *, limit: int) -> list[WaitingHost]:
    """The hosts with most jobs queued."""
    rows = (await conn.execute(text(_WAITING), {"limit": limit})).all()
    tried = await conn.execute(
        select(job.c.host, func.max(job.c.failure))
        .where(
            job.c.state == State.QUEUED,
            job.c.host.in_(among(row.host for row in rows)),
            job.c.failure.is_not(None),
        )
        .group_by(job.c.host)
    )
    why = dict(tried.all())
    return [
        WaitingHost(
            row.host,
            row.jobs,
            datetime.fromtimestamp(row.due / 1000, UTC),
            failures.load(why.get(row.host)),
        )
        for row in rows
    ]


async def failed_by_reason(
    conn: AsyncConnection, *, most: int, import_id: int | None = None
) -> list[Reason]:
    """Of so many entries that failed last: how many for which reason, the most first.

    ``import_id``: only of those that an import wanted.
    """
    rows = await conn.execute(_narrowed(_FAILED, import_id), _of(import_id) | {"most": most})
    return [Reason(row.failure.strip(), row.entries) for row in rows]


async def failed_of(
    conn: AsyncConnection, *, reason: str, after: int, limit: int, import_id: int | None = None
) -> Sequence[tuple[int, str]]:
    """(row, host) of entries that failed for a reason, after a row: of all, or of an import."""
    padded = reason if " " in reason else f"{reason} "
    asked = {"reason": padded, "after": after, "limit": limit}
    rows = await conn.execute(_narrowed(_OF_REASON, import_id), _of(import_id) | asked)
    return [(row.id, row.host) for row in rows]


async def links_of(
    conn: AsyncConnection, import_id: int, *, limit: int
) -> Sequence[tuple[int, str]]:
    """(row, host) of some entries of an import that are kept as links."""
    rows = await conn.execute(
        select(entry.c.id, entry.c.host)
        .where(entry.c.brought_by == import_id, entry.c.state == State.LINK)
        .order_by(entry.c.id)
        .limit(limit)
    )
    return [(row.id, row.host) for row in rows]


def _narrowed(query: str, import_id: int | None) -> TextClause:
    return text(query.format(narrowed="" if import_id is None else _OF_IMPORT))


def _of(import_id: int | None) -> dict[str, int | str]:
    return {} if import_id is None else {"import_id": import_id}


async def queued(conn: AsyncConnection, *, limit: int) -> list[int]:
    """Some jobs that nobody holds."""
    rows = await conn.execute(
        select(job.c.id).where(job.c.state == State.QUEUED).order_by(job.c.priority).limit(limit)
    )
    return list(rows.scalars())


async def await_again(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Let entries stand as waiting that had failed."""
    await conn.execute(
        entry.update().where(entry.c.id.in_(among(entry_ids))).values(state=State.QUEUED)
    )


async def room(conn: AsyncConnection, *, limit: int) -> tuple[list[Share], list[Share]]:
    """What takes most room, by media type and by site; reads every capture."""
    found = []
    for query in (_BY_TYPE, _BY_SITE):
        rows = await conn.execute(text(query), {"limit": limit})
        found.append([Share(*row) for row in rows])
    return found[0], found[1]
