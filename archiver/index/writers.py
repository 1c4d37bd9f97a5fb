"""The rows of those who write to a shared index: a sign of life each, by the server's clock.

A row goes only in a writing transaction, so whoever finds its own in one has it until that ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import (
    Text,
    bindparam,
    column,
    delete,
    exists,
    insert,
    literal,
    select,
    table,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect.functions import History, Now
from archiver.index.machine_tables import writer
from archiver.index.schema import HEAD

_THIS = writer.c.name == bindparam("writer")
_VERSION = column("version_num", Text)
_REVISION = select(_VERSION).select_from(table("alembic_version", _VERSION))
_IS_OURS = exists(_REVISION.where(literal(HEAD) == _VERSION))
"""Whether the schema is this program's still: a newer one may have changed it."""
_ENTER = (
    insert(writer)
    .values(
        name=bindparam("writer"),
        machine=bindparam("of"),
        lease_ms=bindparam("lease"),
        beat_ms=Now(),
    )
    .returning(writer.c.beat_ms, History())
)
_IS_SAME = History() == bindparam("history")
"""Whether no replica took the server's place since: it may lack what was committed last."""
_BEAT = (
    update(writer)
    .where(_THIS, _IS_OURS, _IS_SAME)
    .values(beat_ms=Now())
    .returning(writer.c.beat_ms)
)
_IS_THERE = select(Now()).select_from(writer).where(_THIS, _IS_OURS)
_FOUND = _IS_THERE.where(_IS_SAME)
_HISTORY = select(History())
_LEAVE = delete(writer).where(_THIS)
_IS_OVERDUE = writer.c.beat_ms + writer.c.lease_ms < Now()
_IS_SILENT = writer.c.beat_ms + writer.c.lease_ms / 2 < Now()


@dataclass(frozen=True, slots=True)
class Writer:
    """A process that writes, or did.

    Attributes:
        name: of its run lock.
        machine: its own.
        beat_ms: its last sign of life, by the server's clock.
        is_silent: whether signs of life are missing.
        is_overdue: whether its lease is over.
    """

    name: str
    machine: str
    beat_ms: int
    is_silent: bool
    is_overdue: bool


async def enter(
    conn: AsyncConnection, name: str, *, machine: str, lease_ms: int
) -> tuple[int, str]:
    """Have a row for a writer; its first sign of life is now.

    Returns:
        The server's moment (ms), and the history in which the writer lives.
    """
    given = {"writer": name, "of": machine, "lease": lease_ms}
    moment, history = (await conn.execute(_ENTER, given)).one()
    return int(moment), str(history)


async def beat(conn: AsyncConnection, name: str, history: str) -> int | None:
    """Give a sign of life; the server's moment (ms), None where this may write no more."""
    given = {"writer": name, "history": history}
    moment: int | None = (await conn.execute(_BEAT, given)).scalar()
    return moment


async def found(conn: AsyncConnection, name: str, history: str) -> int | None:
    """The server's moment (ms) if a writer's row is there, and schema and history its own."""
    return (await conn.execute(_FOUND, {"writer": name, "history": history})).scalar()


async def history(conn: AsyncConnection) -> str:
    """The history that the server is in."""
    return (await conn.execute(_HISTORY)).scalar_one()


async def revision(conn: AsyncConnection) -> str:
    """The schema that the index has."""
    return (await conn.execute(_REVISION)).scalar_one()


async def leave(conn: AsyncConnection, name: str) -> None:
    """Remove a writer's row, if there is one."""
    await conn.execute(_LEAVE, {"writer": name})


async def bury(conn: AsyncConnection, name: str) -> bool:
    """Remove a writer's row if its lease is over; whether there is none now."""
    await conn.execute(_LEAVE.where(_IS_OVERDUE), {"writer": name})
    return (await conn.execute(_IS_THERE, {"writer": name})).scalar() is None


async def all_writers(conn: AsyncConnection) -> Sequence[Writer]:
    """Every writer that has a row."""
    rows = await conn.execute(
        select(
            writer.c.name,
            writer.c.machine,
            writer.c.beat_ms,
            _IS_SILENT.label("is_silent"),
            _IS_OVERDUE.label("is_overdue"),
        ).order_by(writer.c.machine, writer.c.name)
    )
    return [
        Writer(row.name, row.machine, row.beat_ms, bool(row.is_silent), bool(row.is_overdue))
        for row in rows
    ]
