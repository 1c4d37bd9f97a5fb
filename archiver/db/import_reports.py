"""Import reports: the result of each row of an imported file."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import among
from archiver.db.schema import entry, import_row, imports
from archiver.db.statements import insert_rows
from archiver.model.imports import ARCHIVE_FORMS, Outcome, ReportRow
from archiver.model.job import State

_HEAD = (
    *("name", "format", "started_at", "read", "added", "known", "merged", "rejected"),
    *("rejected_samples", "error", "saved", "failed", "passed_over", "choices", "undone"),
    "lists_left_out",
)
"""Columns of an import that its report has."""
_ONLY_REPORT = -1
"""Value of ``receipt_owed`` for an import that was restored from its report."""


async def add_rows(conn: AsyncConnection, import_id: int, rows: Sequence[ReportRow]) -> None:
    """Add rows to the report of an import."""
    await insert_rows(
        conn, import_row, [{"import_id": import_id, **each._asdict()} for each in rows]
    )


async def page(conn: AsyncConnection, import_id: int, *, after: int, limit: int) -> list[ReportRow]:
    """Return the rows of a report after a row number, in order."""
    c = import_row.c
    rows = await conn.execute(
        select(c.row, c.outcome, c.given, c.hash_url, c.reason)
        .where(c.import_id == import_id, c.row > after)
        .order_by(c.row)
        .limit(limit)
    )
    return [
        ReportRow(row, Outcome(outcome), submitted, key, reason)
        for row, outcome, submitted, key, reason in rows
    ]


async def reasons(conn: AsyncConnection, import_id: int, *, limit: int) -> list[tuple[str, int]]:
    """Return the reasons why rows are unusable, with counts, the most frequent reason first."""
    count = func.count()
    rows = await conn.execute(
        select(import_row.c.reason, count)
        .where(
            import_row.c.import_id == import_id,
            import_row.c.reason != "",
            import_row.c.outcome == Outcome.UNUSABLE,
        )
        .group_by(import_row.c.reason)
        .order_by(count.desc(), import_row.c.reason)
        .limit(limit)
    )
    return [(reason, number) for reason, number in rows]


async def pending(conn: AsyncConnection) -> list[tuple[int, dict[str, Any]]]:
    """Return the id and the report columns of each import whose report is pending."""
    return await _heads(conn, imports.c.receipt_owed == 1)


async def written(conn: AsyncConnection) -> list[tuple[int, dict[str, Any]]]:
    """Return the id and the report columns of each finished import whose report is stored."""
    return await _heads(conn, imports.c.receipt_owed != 1, imports.c.reading == 0)


async def _heads(
    conn: AsyncConnection, *which: ColumnElement[bool]
) -> list[tuple[int, dict[str, Any]]]:
    rows = await conn.execute(select(imports).where(*which))
    return [(row["id"], {name: row[name] for name in _HEAD}) for row in rows.mappings()]


async def mark_report_stored(conn: AsyncConnection, import_id: int) -> None:
    """Record that the report of an import is in its file."""
    await conn.execute(update(imports).where(imports.c.id == import_id).values(receipt_owed=0))


async def restore_import(conn: AsyncConnection, import_id: int, head: Mapping[str, Any]) -> int:
    """Create an import from its report; return its id.

    If another import already has the id ``import_id``, the import gets a new id.
    """
    rows = await conn.execute(select(imports.c.id).where(imports.c.id == import_id))
    if rows.first():
        highest = await conn.execute(select(func.max(imports.c.id)))
        import_id = highest.scalar_one() + 1
    row = {name: head[name] for name in _HEAD if name in head}
    row |= {"id": import_id, "reading": 0, "receipt_owed": _ONLY_REPORT}
    await conn.execute(insert(imports).values(row))
    return import_id


async def with_complete_data(conn: AsyncConnection) -> list[int]:
    """Return the ids of imports with complete data.

    Imports that were restored from a report are left out.
    """
    rows = await conn.execute(select(imports.c.id).where(imports.c.receipt_owed != _ONLY_REPORT))
    return [*rows.scalars()]


async def mark_fully_known(conn: AsyncConnection, import_ids: Sequence[int]) -> None:
    """Mark imports that were restored from reports as imports with complete data."""
    are_those = imports.c.id.in_(among(import_ids))
    await conn.execute(
        update(imports)
        .where(are_those, imports.c.receipt_owed == _ONLY_REPORT)
        .values(receipt_owed=0)
    )


async def is_known_from_report(conn: AsyncConnection, import_id: int) -> bool:
    """Return whether an import was restored from its report, so that its data is incomplete."""
    rows = await conn.execute(select(imports.c.receipt_owed).where(imports.c.id == import_id))
    return rows.scalar() == _ONLY_REPORT


async def recount(conn: AsyncConnection) -> None:
    """Recompute the saved and failed counts of imports from the states of their entries.

    Normally the counts are updated when jobs end. A rebuild does not restore ended jobs, so it
    calls this function. Imports of archives keep their saved and failed counts.
    """
    added = (
        select(func.count())
        .select_from(import_row.join(entry, entry.c.hash_url == import_row.c.hash_url))
        .where(import_row.c.import_id == imports.c.id, import_row.c.outcome == Outcome.ADDED)
        .correlate(imports)
    )
    saved, failed = (
        added.where(entry.c.state == state).scalar_subquery()
        for state in (State.SAVED, State.FAILED)
    )
    of_links = imports.c.format.not_in(ARCHIVE_FORMS)
    await conn.execute(
        update(imports).where(of_links, imports.c.reading == 0).values(saved=saved, failed=failed)
    )
    ended = imports.c.added - imports.c.saved - imports.c.failed
    await conn.execute(update(imports).where(imports.c.reading == 0).values(without_capture=ended))
