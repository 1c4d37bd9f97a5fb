"""Edits of user metadata, their undo, and entries whose metadata is not in a WARC record yet."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, case, delete, func, insert, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import entries, tags_and_lists
from archiver.db.dialects import among
from archiver.db.imports import mark_touched
from archiver.db.schema import attempt, edit, edited, entry, entry_table
from archiver.db.statements import execute_rows, insert_rows
from archiver.model.annotation import Annotation, tag_key
from archiver.model.job import State
from archiver.warc.metadata_records import read_annotation, write_annotation


async def not_in_snapshot_records(
    conn: AsyncConnection, ids: Sequence[int], *, whole_segments: bool
) -> list[int]:
    """Return row ids of entries whose current metadata or state is not in their snapshot records.

    An export must write new records for these entries.

    Args:
        conn: a connection.
        ids: row ids of entries.
        whole_segments: whether the export copies all records of the segments. Then the metadata
            and state may also be in the records of edits and failures.
    """
    recorded = [entry.c.state == State.SAVED]
    if whole_segments:
        attempt_count = (
            select(func.count()).where(attempt.c.entry_id == entry.c.id).scalar_subquery()
        )
        recorded.append((entry.c.state == State.FAILED) & (attempt_count <= 1))
    is_changed = entry.c.unrecorded == 1 if whole_segments else entry.c.revision > 0
    rows = await conn.execute(
        select(entry.c.id)
        .where(entry.c.id.in_(among(ids)), or_(is_changed, not_(or_(*recorded))))
        .order_by(entry.c.id)
    )
    return list(rows.scalars())


async def unrecorded(conn: AsyncConnection, limit: int) -> list[int]:
    """Return row ids of entries with changes that are not in a record.

    Queued entries are excluded, because their next visit writes the changes to a record.
    """
    rows = await conn.execute(
        select(entry.c.id)
        .where(entry.c.unrecorded == 1, entry.c.state != State.QUEUED)
        .order_by(entry.c.id)
        .limit(limit)
    )
    return list(rows.scalars())


async def mark_unrecorded(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Increase the revision of entries, and mark their records and search documents as outdated."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id == bindparam("entry_id"))
            .values(
                unrecorded=1,
                revision=entry_table.c.revision + 1,
                document_stale=case(
                    (entry_table.c.document_id.is_not(None), 1), else_=entry_table.c.document_stale
                ),
            ),
            [{"entry_id": entry_id} for entry_id in sorted(entry_ids)],
        )


async def mark_recorded(conn: AsyncConnection, revisions: Mapping[int, int]) -> None:
    """Mark entries as recorded.

    ``revisions`` is the revision of the annotation in the WARC record, by row id of the entry. An
    entry whose annotation was changed after this revision stays unrecorded.
    """
    if revisions:
        await conn.execute(
            update(entry_table)
            .where(
                entry_table.c.id == bindparam("entry_id"),
                entry_table.c.revision == bindparam("read"),
            )
            .values(unrecorded=0),
            [{"entry_id": each, "read": read} for each, read in revisions.items()],
        )


MAX_EDITS = 20
"""Number of edits that can be undone."""


async def begin(conn: AsyncConnection, now: datetime) -> int:
    """Create an edit without entries, and return its id; keep only the newest ``MAX_EDITS``.

    The id is the time in milliseconds, so that ids are not used again after the index is rebuilt.
    """
    last = (await conn.execute(select(func.max(edit.c.id)))).scalar() or 0
    number = max(int(now.timestamp() * 1000), last + 1)
    await conn.execute(insert(edit).values(id=number, at=int(now.timestamp())))
    newest = select(edit.c.id).order_by(edit.c.id.desc()).limit(MAX_EDITS)
    await conn.execute(delete(edited).where(edited.c.edit_id.not_in(newest)))
    await conn.execute(delete(edit).where(edit.c.id.not_in(newest)))
    return number


async def change(
    conn: AsyncConnection,
    entry_ids: Sequence[int],
    become: Callable[[int, Annotation], Annotation],
    *,
    edit_id: int,
) -> int:
    """Change annotations; return how many changed.

    Args:
        conn: a writing connection.
        entry_ids: row ids of up to a few thousand entries.
        become: function that returns the changed annotation, given the entry id and the annotation.
        edit_id: the edit, which stores the annotations before the change, for undo.
    """
    rows = await _rows(conn, entry_ids)
    before = await _annotations(conn, rows)
    after = {number: become(number, each) for number, each in before.items()}
    changed = {number: each for number, each in after.items() if each != before[number]}
    await _write(conn, before, changed)
    await mark_touched(conn, changed)
    revisions = {row.id: row.revision + 1 for row in rows}
    await insert_rows(
        conn,
        edited,
        [
            {
                "edit_id": edit_id,
                "entry_id": number,
                "revision": revisions[number],
                "before": _dump(before[number]),
            }
            for number in changed
        ],
    )
    return len(changed)


async def state(conn: AsyncConnection) -> tuple[int, int]:
    """Return two numbers, at least one of which changes with each edit and each undo."""
    row = (await conn.execute(select(func.max(edit.c.id), func.count()))).one()
    return row[0] or 0, row[1]


async def size(conn: AsyncConnection, edit_id: int) -> int | None:
    """Return the number of entries that an edit changed; None if it can't be undone."""
    changed = select(func.count()).where(edited.c.edit_id == edit.c.id).scalar_subquery()
    return (await conn.execute(select(changed).where(edit.c.id == edit_id))).scalar()


async def undo(conn: AsyncConnection, edit_id: int, *, most: int) -> tuple[int, int]:
    """Undo an edit for up to ``most`` entries; call again until none are left.

    Annotations that were changed again after the edit stay as they are.

    Returns:
        Number of restored annotations, and number of processed entries of the edit.
    """
    rows = await conn.execute(
        select(edited.c.entry_id, edited.c.revision, edited.c.before)
        .where(edited.c.edit_id == edit_id)
        .limit(most)
    )
    edits = {row.entry_id: row for row in rows}
    undone = [row for row in await _rows(conn, [*edits]) if row.revision == edits[row.id].revision]
    before = await _annotations(conn, undone)
    after = {row.id: read_annotation(json.loads(edits[row.id].before)) for row in undone}
    await _write(conn, before, after)
    await mark_touched(conn, after)
    await conn.execute(
        delete(edited).where(edited.c.edit_id == edit_id, edited.c.entry_id.in_(among([*edits])))
    )
    return len(undone), len(edits)


async def forget(conn: AsyncConnection, edit_id: int) -> None:
    """Delete an undone edit."""
    await conn.execute(delete(edit).where(edit.c.id == edit_id))


async def _rows(conn: AsyncConnection, entry_ids: Sequence[int]) -> Sequence[Row[*tuple[Any, ...]]]:
    columns = (entry.c.id, entry.c.revision, *entries.COLUMNS.values())
    rows = await conn.execute(select(*columns).where(entry.c.id.in_(among(entry_ids))))
    return rows.all()


async def _annotations(
    conn: AsyncConnection, rows: Sequence[Row[*tuple[Any, ...]]]
) -> dict[int, Annotation]:
    labels = await tags_and_lists.labels_of_entries(conn, [row.id for row in rows])
    return {row.id: entries.of_row(row, labels[row.id]) for row in rows}


async def _write(
    conn: AsyncConnection, before: Mapping[int, Annotation], after: Mapping[int, Annotation]
) -> None:
    """Write changed annotations to the entries' columns, tags and lists."""
    columns = [
        {"entry_id": number, **changes}
        for number, each in after.items()
        if (changes := entries.changes(before[number], each))
    ]
    await execute_rows(conn, entries.UPDATE, columns)
    await tags_and_lists.reorder_labels(
        conn, [n for n in after if after[n].added_at != before[n].added_at]
    )
    previous_tags = {number: {*map(tag_key, before[number].tags)} for number in after}
    has = {number: {*map(tag_key, each.tags)} for number, each in after.items()}
    await tags_and_lists.detach(
        conn, {number: previous_tags[number] - has[number] for number in after}
    )
    gained = {
        number: [name for name in each.tags if name not in before[number].tags]
        for number, each in after.items()
    }
    respelled = (
        name for n, names in gained.items() for name in names if tag_key(name) in previous_tags[n]
    )
    also_changed = await tags_and_lists.respell(conn, respelled)
    added = {number: int(each.saved_at.timestamp()) for number, each in after.items()}
    await tags_and_lists.attach(conn, gained, existing_ids=after, added=added)
    await tags_and_lists.set_lists(
        conn,
        {number: each.lists for number, each in after.items()},
        existing_ids=after,
        added=added,
    )
    await mark_unrecorded(conn, {*after, *also_changed})


def _dump(annotation: Annotation) -> str:
    return json.dumps(write_annotation(annotation), ensure_ascii=False)
