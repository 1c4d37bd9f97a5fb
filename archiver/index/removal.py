"""Takes the rows of entries and snapshots out of the index.

What goes is kept aside as JSON for as long as that can be undone (``putting_back``). The full-text
index keeps words of documents that nothing points to, as it does of those that were made anew.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Table, bindparam, case, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import (
    counters,
    labels,
    numbering,
)
from archiver.index.bulk import among, insert_rows
from archiver.index.schema import (
    attempt,
    capture,
    deletion,
    document,
    edited,
    entry,
    imports,
    job,
    likeness,
    need,
    snapshot,
    trash,
)
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Timestamp
from archiver.model.job import State

KEPT = 20
"""Deletions that can be undone: the newest."""
CAPTURES = "captures"
TAGS = "tags"
LISTS = "lists"
DELETION = "deletion"
"""What the JSON of a stretch has beside rows, which stand under the names of their tables."""


@dataclass(frozen=True, slots=True)
class DeletionSize:
    """How many entries and snapshots were thrown away at once."""

    id: int
    entries: int
    snapshots: int


async def begin(conn: AsyncConnection, now: datetime) -> int:
    """A new deletion, still of nothing; how the oldest ones are undone is forgotten.

    Its number is a moment in milliseconds, so that none is given twice, in no index.
    """
    last = (await conn.execute(select(func.max(deletion.c.id)))).scalar() or 0
    number = max(int(now.timestamp() * 1000), last + 1)
    await conn.execute(insert(deletion).values(id=number))
    newest = select(deletion.c.id).order_by(deletion.c.id.desc()).limit(KEPT)
    await conn.execute(delete(trash).where(trash.c.deletion_id.not_in(newest)))
    await conn.execute(delete(deletion).where(deletion.c.id.not_in(newest)))
    return number


async def forget(conn: AsyncConnection, number: int | None = None) -> None:
    """Forget how a deletion is undone, or how any is."""
    for table, column in ((trash, trash.c.deletion_id), (deletion, deletion.c.id)):
        statement = delete(table)
        await conn.execute(statement if number is None else statement.where(column == number))


async def size(conn: AsyncConnection, number: int) -> DeletionSize | None:
    """What a deletion threw away, if it can still be undone."""
    row = (await conn.execute(select(deletion).where(deletion.c.id == number))).one_or_none()
    return DeletionSize(*row) if row else None


async def remove_entries(
    conn: AsyncConnection, entry_ids: Collection[int], *, number: int | None
) -> tuple[int, int]:
    """Take entries out, with all they have; (how many there were, how many snapshots of theirs).

    Their open jobs are cancelled: whoever holds one finds that nobody waits for what it brings.
    """
    if not entry_ids:
        return 0, 0
    await numbering.keep_numbers(conn)
    mine = among(entry_ids)
    snapshots = await _ids(conn, snapshot, snapshot.c.entry_id.in_(mine))
    kept = {
        entry: await _rows(conn, entry, entry.c.id.in_(mine)),
        snapshot: await _rows(conn, snapshot, snapshot.c.entry_id.in_(mine)),
        likeness: await _rows(conn, likeness, likeness.c.snapshot_id.in_(among(snapshots))),
        need: await _rows(conn, need, need.c.snapshot_id.in_(among(snapshots))),
        document: await _rows(conn, document, document.c.entry_id.in_(mine)),
        attempt: await _rows(conn, attempt, attempt.c.entry_id.in_(mine)),
    }
    carried = await labels.of_entries(conn, [*entry_ids])
    await _keep(conn, number, kept, _as_json(carried))
    await _cancel(conn, entry_ids)
    await labels.take_all(conn, entry_ids)
    await conn.execute(delete(edited).where(edited.c.entry_id.in_(mine)))
    for each in (likeness, need):
        await conn.execute(delete(each).where(each.c.snapshot_id.in_(among(snapshots))))
    for table in (document, snapshot, attempt, job):
        await conn.execute(delete(table).where(table.c.entry_id.in_(mine)))
    await conn.execute(delete(entry).where(entry.c.id.in_(mine)))
    found = len(kept[entry]), len(kept[snapshot])
    await _count(conn, number, *found)
    return found


async def remove_snapshots(
    conn: AsyncConnection, row_ids: Collection[int], *, number: int | None
) -> int:
    """Take some snapshots of entries out that have others; how many there were."""
    if not row_ids:
        return 0
    await numbering.keep_numbers(conn)
    mine = among(row_ids)
    kept = {
        snapshot: await _rows(conn, snapshot, snapshot.c.id.in_(mine)),
        likeness: await _rows(conn, likeness, likeness.c.snapshot_id.in_(mine)),
        need: await _rows(conn, need, need.c.snapshot_id.in_(mine)),
    }
    await _keep(conn, number, kept, {})
    await conn.execute(
        update(document).where(document.c.snapshot_id.in_(mine)).values(snapshot_id=None)
    )
    for each in (likeness, need):
        await conn.execute(delete(each).where(each.c.snapshot_id.in_(mine)))
    await conn.execute(delete(snapshot).where(snapshot.c.id.in_(mine)))
    await _count(conn, number, 0, len(kept[snapshot]))
    await renew(conn, {row["entry_id"] for row in kept[snapshot]})
    return len(kept[snapshot])


async def keep_aside(
    conn: AsyncConnection, number: int | None, *, captures: Collection[int], deletion_id: int
) -> None:
    """Note with a deletion which captures it withholds, and the record that says so."""
    await _keep(conn, number, {}, {CAPTURES: sorted(captures), DELETION: deletion_id})


async def renew(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Let entries say of their newest snapshot what it says, after some came or went."""
    if not entry_ids:
        return
    newest = (
        select(snapshot.c.entry_id, func.max(snapshot.c.timestamp), func.count(snapshot.c.id))
        .where(snapshot.c.entry_id.in_(among(entry_ids)))
        .group_by(snapshot.c.entry_id)
    )
    found = {row[0]: (row[1], row[2]) for row in await conn.execute(newest)}
    rows = await conn.execute(
        select(
            *(snapshot.c.entry_id, snapshot.c.timestamp, snapshot.c.title, snapshot.c.rendering),
            snapshot.c.score,
            *(capture.c.status, capture.c.media_type),
        )
        .join(capture, capture.c.id == snapshot.c.capture_id)
        .where(
            snapshot.c.entry_id.in_(among(found)),
            snapshot.c.timestamp.in_(among({latest for latest, _ in found.values()})),
        )
    )
    shown = {row.entry_id: row for row in rows if row.timestamp == found[row.entry_id][0]}
    for entry_id, row in shown.items():
        await _renew_one(conn, entry_id, row, found[entry_id][1])


async def _renew_one(
    conn: AsyncConnection, entry_id: int, row: Row[*tuple[Any, ...]], count: int
) -> None:
    at = int(to_datetime(Timestamp(f"{row.timestamp:014d}")).timestamp())
    why = (
        select(attempt.c.failure)
        .where(attempt.c.entry_id == entry_id, attempt.c.at > at)
        .order_by(attempt.c.at.desc(), attempt.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    await conn.execute(
        update(entry)
        .where(entry.c.id == entry_id)
        .values(
            latest=row.timestamp,
            page_title=row.title,
            rendering=row.rendering,
            score=row.score,
            status=row.status,
            media_type=row.media_type,
            snapshot_count=count,
            changed=0,
            comparison_owed=int(count > 1),
            sort_at=at,
            failure=why,
            document_stale=case((entry.c.document_id.is_not(None), 1), else_=0),
        )
    )


async def _cancel(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Count jobs out: where they stand, and that their imports wait for them no more."""
    states = await conn.execute(
        select(job.c.state, func.count())
        .where(job.c.entry_id.in_(among(entry_ids)))
        .group_by(job.c.state)
    )
    await counters.change(conn, {state: -count for state, count in states})
    waiting = await conn.execute(
        select(job.c.import_id, func.count())
        .where(
            job.c.entry_id.in_(among(entry_ids)),
            job.c.import_id.is_not(None),
            job.c.state.in_([State.QUEUED, State.FETCHING]),
        )
        .group_by(job.c.import_id)
    )
    less = [{"import_id": number, "less": count} for number, count in waiting]
    if less:
        await conn.execute(
            update(imports)
            .where(imports.c.id == bindparam("import_id"))
            .values(without_capture=imports.c.without_capture + bindparam("less")),
            less,
        )


async def _count(conn: AsyncConnection, number: int | None, entries: int, snapshots: int) -> None:
    less = {counters.ENTRIES: -entries, counters.SNAPSHOTS: -snapshots}
    await counters.change(conn, less)
    if number is not None:
        more = {"entries": deletion.c.entries + entries}
        more["snapshots"] = deletion.c.snapshots + snapshots
        await conn.execute(update(deletion).where(deletion.c.id == number).values(**more))


async def _keep(
    conn: AsyncConnection,
    number: int | None,
    rows: Mapping[Table, Sequence[Mapping[str, Any]]],
    more: Mapping[str, object],
) -> None:
    if number is None:
        return
    last = select(func.max(trash.c.number)).where(trash.c.deletion_id == number)
    place = ((await conn.execute(last)).scalar() or 0) + 1
    content = json.dumps({**{table.name: found for table, found in rows.items() if found}, **more})
    await insert_rows(conn, trash, ("deletion_id", "number", "content"), [(number, place, content)])


def _as_json(carried: Mapping[int, labels.Labels]) -> dict[str, object]:
    """What entries carry, as JSON takes it."""
    return {
        TAGS: {str(key): each.tags for key, each in carried.items()},
        LISTS: {str(key): dict(each.lists) for key, each in carried.items()},
    }


async def _ids(conn: AsyncConnection, table: Table, condition: Any) -> list[int]:
    return list((await conn.execute(select(table.c.id).where(condition))).scalars())


async def _rows(conn: AsyncConnection, table: Table, condition: Any) -> list[dict[str, Any]]:
    found = await conn.execute(select(table).where(condition))
    return [
        {name: value.hex() if isinstance(value, bytes) else value for name, value in row.items()}
        for row in found.mappings()
    ]
