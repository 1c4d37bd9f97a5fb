"""Imports: how far the reading of each file has come, and what became of its links."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from archiver.index import jobs
from archiver.index.connection import AsyncConnection
from archiver.index.schema import imports
from archiver.model.importing import ImportStatus, Rejected, Taken
from archiver.model.job import QueueCounts
from archiver.model.seed import Reception

SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An import whose file was not read to the end: where it lies and how many links to skip."""

    id: int
    name: str
    path: str
    read: int


async def create(
    conn: AsyncConnection, *, name: str, form: str, path: str | None, now: datetime
) -> int:
    """Begin an import; ``path`` is where its file is kept until it is read, if it is kept."""
    made = await conn.execute(
        insert(imports).values(
            name=name, format=form, path=path, started_at=int(now.timestamp()), reading=1
        )
    )
    return int(made.lastrowid)


async def advance(
    conn: AsyncConnection,
    import_id: int,
    receptions: Mapping[Reception, int],
    rejected: list[Rejected],
) -> None:
    """Count a batch of links that has been read."""
    row = (await conn.execute(select(imports).where(imports.c.id == import_id))).one()
    samples = json.loads(row.rejected_samples)
    samples += [[each.given, each.reason] for each in rejected[: SAMPLES - len(samples)]]
    added, known, merged = (receptions.get(each, 0) for each in Reception)
    await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(
            read=row.read + added + known + merged + len(rejected),
            added=row.added + added,
            known=row.known + known,
            merged=row.merged + merged,
            rejected=row.rejected + len(rejected),
            rejected_samples=json.dumps(samples),
        )
    )


async def advance_archive(conn: AsyncConnection, import_id: int, taken: Taken) -> None:
    """Count a stretch of an archive file: its pages are saved as they are added."""
    row = (await conn.execute(select(imports).where(imports.c.id == import_id))).one()
    samples = json.loads(row.rejected_samples)
    samples += [[each.given, each.reason] for each in taken.unusable[: SAMPLES - len(samples)]]
    await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(
            read=row.read + taken.read,
            merged=row.merged + taken.fresh,
            known=row.known + taken.known,
            added=row.added + taken.pages,
            saved=row.saved + taken.pages,
            rejected=row.rejected + len(taken.unusable),
            rejected_samples=json.dumps(samples),
            passed_over=row.passed_over + taken.passed_over,
        )
    )


async def begin_again(conn: AsyncConnection, import_id: int) -> None:
    """Set an import's numbers to nothing: its file is read from the start."""
    counted = "read", "merged", "known", "added", "saved", "rejected", "passed_over"
    numbers = dict.fromkeys(counted, 0)
    await conn.execute(
        update(imports).where(imports.c.id == import_id).values(rejected_samples="[]", **numbers)
    )


async def finish(conn: AsyncConnection, import_id: int, *, error: str = "") -> None:
    """Note that there is no more of the file to read, or why no more could be read."""
    await conn.execute(
        update(imports).where(imports.c.id == import_id).values(reading=0, error=error, path=None)
    )


async def unfinished(conn: AsyncConnection) -> list[Unfinished]:
    """Imports whose kept file was not read to the end."""
    rows = await conn.execute(
        select(imports).where(imports.c.reading == 1, imports.c.path.is_not(None))
    )
    return [Unfinished(row.id, row.name, row.path, row.read) for row in rows]


async def restore(conn: AsyncConnection, left: Unfinished, *, now: datetime) -> None:
    """Take an import over that another index did not see to its end."""
    await conn.execute(
        insert(imports).values(
            name=left.name,
            path=left.path,
            read=left.read,
            started_at=int(now.timestamp()),
            reading=1,
        )
    )


async def status(conn: AsyncConnection, import_id: int) -> ImportStatus | None:
    """How far an import has come."""
    row = (await conn.execute(select(imports).where(imports.c.id == import_id))).one_or_none()
    return await _status(conn, row) if row else None


async def recent(conn: AsyncConnection, limit: int) -> list[ImportStatus]:
    """The newest imports, newest first."""
    rows = await conn.execute(select(imports).order_by(imports.c.id.desc()).limit(limit))
    return [await _status(conn, row) for row in rows.all()]


async def _status(conn: AsyncConnection, row: Row[*tuple[Any, ...]]) -> ImportStatus:
    waiting = row.added - row.saved - row.failed
    fetching = await jobs.fetching_of_import(conn, row.id) if waiting else 0
    return ImportStatus(
        id=row.id,
        name=row.name,
        format=row.format,
        started_at=datetime.fromtimestamp(row.started_at, UTC),
        reading=bool(row.reading),
        read=row.read,
        added=row.added,
        known=row.known,
        merged=row.merged,
        rejected=row.rejected,
        rejected_samples=tuple(Rejected(*each) for each in json.loads(row.rejected_samples)),
        error=row.error,
        counts=QueueCounts(max(waiting - fetching, 0), fetching, row.saved, row.failed),
        passed_over=row.passed_over,
    )
