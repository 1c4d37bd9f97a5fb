"""Imports, their progress and the entries that they created.

The column ``entry.brought_by`` is the import that created an entry, so that its undo can delete it.
It becomes NULL when a user saves or changes the entry. If another import's file has the entry, too,
undo assigns it to that import instead. The rows of ``import_row`` say which files have an entry.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import jobs
from archiver.db.dialects import Greatest, among, text_values
from archiver.db.schema import entry, entry_table, import_row, imports, job
from archiver.db.statements import OnConflict, insert_rows
from archiver.model.capture import HashUrl
from archiver.model.imports import (
    NO_CHOICES,
    Choices,
    ImportStatus,
    ImportUndone,
    RecordCounts,
    Rejected,
)
from archiver.model.job import QueueCounts, State
from archiver.model.message import marked
from archiver.model.seed import SaveOutcome

_IS_OPEN = job.c.state.in_([State.QUEUED, State.FETCHING])


async def mark_touched(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Record that a user saved or changed entries, so that no undo deletes them."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.brought_by.is_not(None))
            .values(brought_by=None)
        )


async def has_created_any(conn: AsyncConnection, import_id: int) -> bool:
    """Return whether there is an entry that an import created and no user has changed."""
    rows = await conn.execute(select(entry.c.id).where(entry.c.brought_by == import_id).limit(1))
    return rows.first() is not None


async def count_to_delete(conn: AsyncConnection, import_id: int) -> int:
    """Return how many entries the undo of an import deletes: those in no other import's file."""
    mine = select(func.count(entry.c.id)).where(entry.c.brought_by == import_id)
    other_imports = await _other_imports(conn, import_id)
    if other_imports:
        mine = mine.where(
            entry.c.hash_url.not_in(_entries_in_files(other_imports).with_only_columns(_KEY))
        )
    return int((await conn.execute(mine)).scalar_one())


async def transfer_entries(conn: AsyncConnection, import_id: int) -> None:
    """Assign entries that an import created to another import whose file has them, if any."""
    other_imports = await _other_imports(conn, import_id)
    if other_imports:
        successor = _entries_in_files(other_imports).subquery()
        await conn.execute(
            update(entry_table)
            .where(
                entry_table.c.brought_by == import_id,
                entry_table.c.hash_url == successor.c.hash_url,
            )
            .values(brought_by=successor.c.import_id)
        )


async def created_by(conn: AsyncConnection, import_id: int, *, limit: int) -> list[int]:
    """Return the row ids of some entries that an import created."""
    rows = await conn.execute(
        select(entry.c.id).where(entry.c.brought_by == import_id).order_by(entry.c.id).limit(limit)
    )
    return list(rows.scalars())


async def creators_after(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[tuple[HashUrl, int]], int]:
    """Return (hash_url, import id) of created entries after a row id, and the last row id read."""
    rows = (
        await conn.execute(
            select(entry.c.id, entry.c.hash_url, entry.c.brought_by)
            .where(entry.c.brought_by.is_not(None), entry.c.id > after)
            .order_by(entry.c.id)
            .limit(limit)
        )
    ).all()
    creators = [(HashUrl(row.hash_url), row.brought_by) for row in rows]
    return creators, rows[-1].id if rows else after


async def restore_creators(conn: AsyncConnection, creators: Sequence[tuple[HashUrl, int]]) -> None:
    """Store (hash_url, import id) pairs from another index, if both exist in this one."""
    import_ids = {*(await conn.execute(select(imports.c.id))).scalars()}
    existing = await conn.execute(
        select(entry.c.hash_url, entry.c.id).where(
            entry.c.hash_url.in_(text_values(key for key, _ in creators))
        )
    )
    ids: dict[str, int] = dict(existing.all())
    rows = [
        {"entry_id": ids[key], "creator": number}
        for key, number in creators
        if key in ids and number in import_ids
    ]
    if rows:
        statement = update(entry_table).where(entry_table.c.id == bindparam("entry_id"))
        await conn.execute(statement.values(brought_by=bindparam("creator")), rows)


async def open_jobs_after(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[tuple[HashUrl, int]], int]:
    """Return (hash_url, import id) of open jobs after a job id, and the last job id read."""
    rows = (
        await conn.execute(
            select(job.c.id, job.c.import_id, entry.c.hash_url)
            .join(entry, entry.c.id == job.c.entry_id)
            .where(_IS_OPEN, job.c.import_id.is_not(None), job.c.id > after)
            .order_by(job.c.id)
            .limit(limit)
        )
    ).all()
    open_jobs = [(HashUrl(row.hash_url), row.import_id) for row in rows]
    return open_jobs, rows[-1].id if rows else after


async def restore_jobs(conn: AsyncConnection, jobs_by_url: Sequence[tuple[HashUrl, int]]) -> None:
    """Assign the open jobs of entries to the imports that they had in another index."""
    import_ids = {*(await conn.execute(select(imports.c.id))).scalars()}
    rows = await conn.execute(
        select(entry.c.hash_url, job.c.id)
        .join(job, job.c.entry_id == entry.c.id)
        .where(_IS_OPEN, entry.c.hash_url.in_(text_values(key for key, _ in jobs_by_url)))
    )
    ids: dict[str, int] = dict(rows.all())
    new_jobs = [
        (ids[key], number) for key, number in jobs_by_url if key in ids and number in import_ids
    ]
    if not new_jobs:
        return
    statement = update(job).where(job.c.id == bindparam("job_id"))
    await conn.execute(
        statement.values(import_id=bindparam("number")),
        [{"job_id": job_id, "number": number} for job_id, number in new_jobs],
    )
    waiting = Counter(number for _, number in new_jobs)
    statement = update(imports).where(imports.c.id == bindparam("number"), imports.c.reading == 0)
    await conn.execute(
        statement.values(without_capture=imports.c.without_capture - bindparam("waiting")),
        [{"number": number, "waiting": count} for number, count in waiting.items()],
    )


_KEY = import_row.c.hash_url


def _entries_in_files(import_ids: Collection[int]) -> Select[str | None, int]:
    """Return a query for the hash_url of each entry in the files of these imports.

    The column ``import_id`` is the first of the imports whose file has the entry.
    """
    return (
        select(_KEY, func.min(import_row.c.import_id).label("import_id"))
        .where(import_row.c.import_id.in_(among(import_ids)), _KEY.is_not(None))
        .group_by(_KEY)
    )


async def _other_imports(conn: AsyncConnection, import_id: int) -> list[int]:
    """Return the ids of all other imports that are not undone."""
    rows = await conn.execute(
        select(imports.c.id, imports.c.undone).where(imports.c.id != import_id)
    )
    return [row.id for row in rows.all() if not row.undone or await has_created_any(conn, row.id)]


SAMPLES = 20
"""Maximum number of rejected rows that the status of an import lists."""
INCOMPLETE = marked(
    "Parts of the file could not be read, so some links may be missing. The import report "
    "shows where. Everything else was imported."
)
_COUNTED = (
    *("added", "known", "merged", "rejected", "rejected_samples", "passed_over", "error"),
    "lists_left_out",
)
_UNCLAIMED = (imports.c.reading == 1, imports.c.path.is_not(None), imports.c.owner.is_(None))


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Import whose stored file was not read to the end.

    Attributes:
        id, name, format: as in ``ImportStatus``.
        started_at: Unix seconds.
        path: the stored file.
        read: number of links that were read already, which are skipped.
        choices: options of the user.
        counted: values of the other columns for counts and errors, by column name.
    """

    id: int
    name: str
    format: str
    started_at: int
    path: str
    read: int
    choices: Choices = NO_CHOICES
    counted: Mapping[str, int | str] = field(default_factory=dict)


async def create(
    conn: AsyncConnection,
    *,
    name: str,
    form: str,
    path: str | None,
    owner: str,
    now: datetime,
    choices: Choices = NO_CHOICES,
) -> int:
    """Create an import.

    Args:
        conn: a writing connection.
        name: file name.
        form: file format.
        path: the file, if it is stored until it is read.
        owner: name of the run lock of the process that reads it.
        now: current time (aware, UTC).
        choices: options of the user.

    Returns:
        The id of the import.
    """
    row = {"name": name, "format": form, "path": path, "owner": owner, "reading": 1}
    row["choices"] = choices.write()
    number = select(func.coalesce(func.max(imports.c.id), 0) + 1).scalar_subquery()
    statement = insert(imports).values(id=number, started_at=int(now.timestamp()), **row)
    return int((await conn.execute(statement.returning(imports.c.id))).scalar_one())


async def owned_by(conn: AsyncConnection, owner: str) -> list[ImportStatus]:
    """Return the imports that a process reads."""
    rows = await conn.execute(
        select(imports).where(imports.c.reading == 1, imports.c.owner == owner)
    )
    return [await _status(conn, row) for row in rows.all()]


async def release(conn: AsyncConnection, owner: str) -> None:
    """Release a process's imports that have a stored file, so that another process reads them."""
    await conn.execute(
        update(imports)
        .where(imports.c.reading == 1, imports.c.owner == owner, imports.c.path.is_not(None))
        .values(owner=None)
    )


async def is_any_unclaimed(conn: AsyncConnection) -> bool:
    """Return whether there is an import with a stored file that no process reads."""
    rows = await conn.execute(select(imports.c.id).where(*_UNCLAIMED).limit(1))
    return rows.scalar() is not None


async def unclaimed(conn: AsyncConnection) -> list[Unfinished]:
    """Return the imports whose stored file no process reads."""
    return [_unfinished(row) for row in await conn.execute(select(imports).where(*_UNCLAIMED))]


async def claim(
    conn: AsyncConnection, owner: str, ids: Sequence[int] | None = None
) -> list[Unfinished]:
    """Claim imports with a stored file that no process reads; only ``ids`` if given."""
    conditions = () if ids is None else (imports.c.id.in_(among(ids)),)
    rows = await conn.execute(
        update(imports).where(*_UNCLAIMED, *conditions).values(owner=owner).returning(imports)
    )
    return [_unfinished(row) for row in rows]


async def advance(
    conn: AsyncConnection,
    import_id: int,
    outcomes: Mapping[str, int],
    rejected: Sequence[Rejected],
    *,
    links: int = 0,
    lists_left_out: int = 0,
) -> None:
    """Add a batch of links to the counts of an import.

    Args:
        conn: a writing connection.
        import_id: the import.
        outcomes: number of links with each result.
        rejected: links that were not imported.
        links: number of added entries that are not captured.
        lists_left_out: number of lists that were not imported.
    """
    left_out = sum(each.is_left_out for each in rejected)
    unusable = [each for each in rejected if not each.is_left_out]
    added, existing, merged = (outcomes.get(each, 0) for each in SaveOutcome)
    more = {
        imports.c.read: added + existing + merged + len(rejected),
        imports.c.added: added,
        imports.c.known: existing,
        imports.c.merged: merged,
        imports.c.rejected: len(unusable),
        imports.c.passed_over: left_out,
        imports.c.without_capture: links,
        imports.c.lists_left_out: lists_left_out,
    }
    this = imports.c.id == import_id
    await conn.execute(
        update(imports)
        .where(this)
        .values({column: column + increment for column, increment in more.items()})
    )
    if any(each.is_broken for each in rejected):
        await conn.execute(update(imports).where(this).values(error=INCOMPLETE))
    if unusable:
        stored_samples = select(imports.c.rejected_samples).where(this)
        samples = json.loads((await conn.execute(stored_samples)).scalar_one())
        samples += [_sample(each) for each in unusable[: SAMPLES - len(samples)]]
        await conn.execute(update(imports).where(this).values(rejected_samples=json.dumps(samples)))


async def advance_archive(conn: AsyncConnection, import_id: int, counts: RecordCounts) -> None:
    """Add a batch of records of an archive file to the counts of an import.

    A page of the file counts as added and as saved. An entry that failed or was queued in the other
    archive counts as added, too.
    """
    row = (await conn.execute(select(imports).where(imports.c.id == import_id))).one()
    samples = json.loads(row.rejected_samples)
    samples += [_sample(each) for each in counts.unusable[: SAMPLES - len(samples)]]
    await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(
            read=row.read + counts.read,
            merged=row.merged + counts.fresh,
            known=row.known + counts.known,
            added=row.added + counts.pages + counts.failed + counts.queued,
            saved=row.saved + counts.pages,
            failed=row.failed + counts.failed,
            rejected=row.rejected + len(counts.unusable),
            rejected_samples=json.dumps(samples),
            passed_over=row.passed_over + counts.passed_over,
        )
    )


async def restart_import(conn: AsyncConnection, import_id: int) -> int:
    """Reset the counts of records of an archive file that is read again from the start.

    Counts of pages stay, since reading again does not add these pages again.

    Returns:
        The number of captures that were imported before.
    """
    this = imports.c.id == import_id
    before: int = (await conn.execute(select(imports.c.merged).where(this))).scalar_one()
    numbers = dict.fromkeys(("read", "merged", "known", "rejected", "passed_over"), 0)
    await conn.execute(update(imports).where(this).values(rejected_samples="[]", **numbers))
    return before


async def finish(conn: AsyncConnection, import_id: int, *, error: str = "") -> None:
    """Mark an import's file as read.

    Args:
        conn: a writing connection.
        import_id: the import.
        error: why the file was not read to its end; if empty, the error of an earlier batch stays.
    """
    ended: dict[str, int | str | None] = {"reading": 0, "path": None, "owner": None}
    ended |= {"receipt_owed": 1, **({"error": error} if error else {})}
    await conn.execute(update(imports).where(imports.c.id == import_id).values(ended))


async def set_undone(conn: AsyncConnection, import_id: int, undone: ImportUndone) -> None:
    """Store the progress of an undo."""
    await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(undone=json.dumps(asdict(undone)), receipt_owed=int(undone.is_done))
    )


async def count_links_as_pending(conn: AsyncConnection, import_id: int, count: int) -> None:
    """Count ``count`` links of an import as pending captures, because they are queued now."""
    await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(without_capture=Greatest(imports.c.without_capture - count, 0))
    )


async def count_failed_as_pending(conn: AsyncConnection, import_id: int, count: int) -> None:
    """Count ``count`` failed captures of an import as pending, because they are retried."""
    await conn.execute(
        update(imports)
        .where(imports.c.id == import_id)
        .values(failed=Greatest(imports.c.failed - count, 0))
    )


async def unfinished(conn: AsyncConnection) -> list[Unfinished]:
    """Return all imports whose stored file was not read to the end."""
    rows = await conn.execute(
        select(imports).where(imports.c.reading == 1, imports.c.path.is_not(None))
    )
    return [_unfinished(row) for row in rows]


async def restore(conn: AsyncConnection, remainder: Unfinished) -> None:
    """Copy an unfinished import from another index, unless it exists."""
    row: dict[str, int | str | None] = {
        "id": remainder.id,
        "name": remainder.name,
        "format": remainder.format,
    }
    row |= remainder.counted
    row |= {"path": remainder.path, "choices": remainder.choices.write()}
    row |= {"started_at": remainder.started_at, "read": remainder.read, "reading": 1}
    await insert_rows(conn, imports, [row], OnConflict.KEEP)


async def status(conn: AsyncConnection, import_id: int) -> ImportStatus | None:
    """Return the status of an import; None if it does not exist."""
    row = (await conn.execute(select(imports).where(imports.c.id == import_id))).one_or_none()
    return await _status(conn, row) if row else None


async def recent(conn: AsyncConnection, limit: int) -> list[ImportStatus]:
    """Return the newest imports, newest first."""
    rows = await conn.execute(select(imports).order_by(imports.c.id.desc()).limit(limit))
    return [await _status(conn, row) for row in rows.all()]


async def paused_captures(conn: AsyncConnection) -> int:
    """Return the number of open jobs of paused imports."""
    waiting = imports.c.added - imports.c.saved - imports.c.failed - imports.c.without_capture
    rows = await conn.execute(
        select(func.coalesce(func.sum(Greatest(waiting, 0)), 0)).where(imports.c.is_paused == 1)
    )
    return int(rows.scalar_one())


async def _status(conn: AsyncConnection, row: Row[*tuple[Any, ...]]) -> ImportStatus:
    waiting = row.added - row.saved - row.failed - row.without_capture
    fetching = await jobs.fetching_of_import(conn, row.id) if waiting else 0
    undone = ImportUndone(**json.loads(row.undone)) if row.undone else None
    return ImportStatus(
        id=row.id,
        name=row.name,
        format=row.format,
        started_at=datetime.fromtimestamp(row.started_at, UTC),
        reading=bool(row.reading) and row.owner is not None,
        read=row.read,
        added=row.added,
        known=row.known,
        merged=row.merged,
        rejected=row.rejected,
        rejected_samples=tuple(Rejected(*each) for each in json.loads(row.rejected_samples)),
        error=row.error,
        counts=QueueCounts(max(waiting - fetching, 0), fetching, row.saved, row.failed),
        passed_over=row.passed_over,
        paused=bool(row.reading) and row.owner is None,
        without_capture=row.without_capture,
        undone=undone,
        lists_left_out=row.lists_left_out,
        captures_paused=bool(row.is_paused),
        is_restored=bool(undone and undone.is_done) and await has_created_any(conn, row.id),
    )


def _sample(rejected: Rejected) -> list[str | int]:
    return [rejected.given, rejected.reason, rejected.row]


def _unfinished(row: Row[*tuple[Any, ...]]) -> Unfinished:
    return Unfinished(
        id=row.id,
        name=row.name,
        format=row.format,
        started_at=row.started_at,
        path=row.path,
        read=row.read,
        choices=Choices.read(row.choices),
        counted={name: getattr(row, name) for name in _COUNTED} | {"without_capture": row.added},
    )
