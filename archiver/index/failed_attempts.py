"""Attempts that brought nothing, and what they make of their entries."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import bindparam, case, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import attempts, documents, failures
from archiver.index.bulk import among
from archiver.index.documents import NewDocument
from archiver.index.schema import entry, entry_table
from archiver.memento.timestamps import to_timestamp
from archiver.model.failure import Failure
from archiver.model.findable import Findable
from archiver.model.job import State


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt that brought nothing; ``final`` when there will be no other for this seed.

    ``found_by`` is what its entry is found by, if nothing ever was brought home.
    """

    entry_id: int
    at: datetime
    failure: Failure
    final: bool
    found_by: Findable = field(default_factory=Findable)


async def add_failures(
    conn: AsyncConnection, failed: Sequence[FailedAttempt], *, once: bool = False
) -> None:
    """Index attempts that failed, as ``attempts.insert_all``.

    An entry without any snapshot is then a failed one.
    """
    if not failed:
        return
    made = [(each.entry_id, each.at, each.failure) for each in failed]
    await attempts.insert_all(conn, made, once=once)
    await conn.execute(
        update(entry_table)
        .where(entry_table.c.id == bindparam("entry_id"))
        .values(
            failure=case(
                (entry_table.c.latest > bindparam("moment"), entry_table.c.failure),
                else_=bindparam("why"),
            ),
            state=case((entry_table.c.snapshot_count > 0, State.SAVED), else_=bindparam("becomes")),
        ),
        [
            {
                "entry_id": each.entry_id,
                "why": failures.dump(each.failure),
                "moment": int(to_timestamp(each.at)),
                "becomes": State.FAILED if each.final else State.QUEUED,
            }
            for each in failed
        ],
    )
    final = [each for each in failed if each.final]
    await _name_failed(conn, final)
    await _put_by_day_of_saving(conn, [each.entry_id for each in final])


async def point_to_documents(conn: AsyncConnection, newest: dict[int, int]) -> None:
    """Let entries be found by these documents from now on."""
    if newest:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id == bindparam("entry_id"))
            .values(document_id=bindparam("newest")),
            [{"entry_id": entry_id, "newest": each} for entry_id, each in newest.items()],
        )


async def _put_by_day_of_saving(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Let entries that never were captured stand where they were saved, by last capture, too.

    By the moment of the attempt each that fails again would come before all that was captured.
    """
    if not entry_ids:
        return
    await conn.execute(
        update(entry_table)
        .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.snapshot_count == 0)
        .values(sort_at=entry_table.c.added_at)
    )


async def _name_failed(conn: AsyncConnection, final: Sequence[FailedAttempt]) -> None:
    """Let an entry that was never saved be found by its title."""
    rows = await conn.execute(
        select(entry.c.id).where(
            entry.c.id.in_(among(each.entry_id for each in final)), entry.c.document_id.is_(None)
        )
    )
    unnamed = set(rows.scalars())
    made = [
        NewDocument(each.entry_id, None, each.found_by)
        for each in final
        if each.entry_id in unnamed
    ]
    await point_to_documents(conn, await documents.insert_all(conn, made))
