"""Failed attempts to capture entries."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import bindparam, case, exists, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import search_documents
from archiver.db.dialects import among
from archiver.db.schema import attempt, entry, entry_table
from archiver.db.search_documents import NewDocument
from archiver.db.statements import execute_rows, insert_rows
from archiver.http.timestamps import to_timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Attempt, State
from archiver.model.listing import SearchDocument


def dump_failure(failure: Failure) -> str:
    """Return a failure as JSON."""
    fields = {"kind": failure.kind, "message": failure.message}
    if failure.status is not None:
        return json.dumps({**fields, "status": failure.status})
    return json.dumps(fields)


def load_failure(stored: str | None) -> Failure | None:
    """Parse a failure column; None if it is empty."""
    if not stored:
        return None
    fields = json.loads(stored)
    return Failure(FailureKind(fields["kind"]), fields["message"], fields.get("status"))


_COLUMNS = ("entry_id", "at", "failure")
_KNOWN = attempt.alias("known")
_NEW = {name: bindparam(f"new_{name}", type_=attempt.c[name].type) for name in _COLUMNS}
_INSERT_ONCE = insert(attempt).from_select(
    _COLUMNS,
    select(*_NEW.values()).where(
        ~exists().where(*(_KNOWN.c[name] == new for name, new in _NEW.items()))
    ),
)


async def insert_attempts(
    conn: AsyncConnection, failed: Sequence[tuple[int, datetime, Failure]], *, skip_stored: bool
) -> None:
    """Insert failed attempts.

    Args:
        conn: a writing connection.
        failed: entry id, time (aware, UTC) and failure of each.
        skip_stored: skip attempts that are already stored. Used when attempts are read from WARC
            records, because two records may describe the same attempt.
    """
    rows = [
        {"entry_id": entry_id, "at": int(at.timestamp()), "failure": dump_failure(why)}
        for entry_id, at, why in failed
    ]
    if skip_stored:
        new = [{_NEW[name].key: value for name, value in row.items()} for row in rows]
        await execute_rows(conn, _INSERT_ONCE, new)
    else:
        await insert_rows(conn, attempt, rows)


async def of_entries(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, list[Attempt]]:
    """Return failed attempts by entry id, oldest first; entries without any are left out."""
    rows = await conn.execute(
        select(attempt.c.entry_id, attempt.c.at, attempt.c.failure)
        .where(attempt.c.entry_id.in_(among(entry_ids)))
        .order_by(attempt.c.entry_id, attempt.c.at, attempt.c.id)
    )
    attempts_by_entry: dict[int, list[Attempt]] = {}
    for row in rows:
        if failure := load_failure(row.failure):
            attempt_made = Attempt(datetime.fromtimestamp(row.at, UTC), failure)
            attempts_by_entry.setdefault(row.entry_id, []).append(attempt_made)
    return attempts_by_entry


async def of_entry(conn: AsyncConnection, entry_id: int, *, limit: int) -> list[Attempt]:
    """Return the newest failed attempts of an entry, newest first."""
    rows = await conn.execute(
        select(attempt.c.at, attempt.c.failure)
        .where(attempt.c.entry_id == entry_id)
        .order_by(attempt.c.at.desc(), attempt.c.id.desc())
        .limit(limit)
    )
    return [
        Attempt(datetime.fromtimestamp(row.at, UTC), failure)
        for row in rows
        if (failure := load_failure(row.failure))
    ]


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """Failed attempt to capture an entry.

    Attributes:
        entry_id: the entry.
        at: when the attempt began (aware, UTC).
        failure: why it failed.
        final: whether there will be no further attempt.
        search_document: makes the entry searchable if it has no snapshot.
    """

    entry_id: int
    at: datetime
    failure: Failure
    final: bool
    search_document: SearchDocument = field(default_factory=SearchDocument)


async def add_failures(
    conn: AsyncConnection, failed: Sequence[FailedAttempt], *, skip_stored: bool = False
) -> None:
    """Insert failed attempts as ``insert_attempts`` does, and update their entries.

    An entry without a snapshot becomes failed if the attempt was final, else it stays queued.
    """
    if not failed:
        return
    failures = [(each.entry_id, each.at, each.failure) for each in failed]
    await insert_attempts(conn, failures, skip_stored=skip_stored)
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
                "why": dump_failure(each.failure),
                "moment": int(to_timestamp(each.at)),
                "becomes": State.FAILED if each.final else State.QUEUED,
            }
            for each in failed
        ],
    )
    final = [each for each in failed if each.final]
    await _insert_documents_of_failed(conn, final)
    await _sort_by_time_of_saving(conn, [each.entry_id for each in final])


async def link_documents(conn: AsyncConnection, newest: dict[int, int]) -> None:
    """Set the search documents of entries; ``newest`` maps entry ids to document ids."""
    if newest:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id == bindparam("entry_id"))
            .values(document_id=bindparam("newest")),
            [{"entry_id": entry_id, "newest": each} for entry_id, each in newest.items()],
        )


async def _sort_by_time_of_saving(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Sort entries without a snapshot by when they were saved, not by when they failed."""
    if not entry_ids:
        return
    await conn.execute(
        update(entry_table)
        .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.snapshot_count == 0)
        .values(sort_at=entry_table.c.added_at)
    )


async def _insert_documents_of_failed(
    conn: AsyncConnection, final: Sequence[FailedAttempt]
) -> None:
    """Insert search documents of failed entries that have none, so that they are found."""
    rows = await conn.execute(
        select(entry.c.id).where(
            entry.c.id.in_(among(each.entry_id for each in final)), entry.c.document_id.is_(None)
        )
    )
    without_document = set(rows.scalars())
    documents = [
        NewDocument(each.entry_id, None, each.search_document)
        for each in final
        if each.entry_id in without_document
    ]
    await link_documents(conn, await search_documents.insert_all(conn, documents))
