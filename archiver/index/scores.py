"""How well snapshots were kept: those that nobody scored yet, and entries that are not whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import execute_rows
from archiver.index.schema import entry, entry_table, segment, snapshot, snapshot_table
from archiver.model.capture import Location

_PARAMETERS = ("snapshot_id", "new_score")
_IS_THIS = snapshot_table.c.id == bindparam("snapshot_id")
_SNAPSHOTS = update(snapshot_table).values(score=bindparam("new_score")).where(_IS_THIS)
_ENTRIES = (
    update(entry_table)
    .values(score=bindparam("new_score"))
    .where(
        _IS_THIS,
        entry_table.c.id == snapshot_table.c.entry_id,
        entry_table.c.latest == snapshot_table.c.timestamp,
    )
)


async def unscored(conn: AsyncConnection, *, limit: int) -> dict[int, Location]:
    """The places of the entry records of snapshots without a score, by row id, newest first."""
    rows = await conn.execute(
        select(
            *(snapshot.c.id, segment.c.name),
            *(snapshot.c.metadata_offset, snapshot.c.metadata_length),
        )
        .join(segment, segment.c.id == snapshot.c.metadata_segment_id)
        .where(snapshot.c.score.is_(None))
        .order_by(snapshot.c.id.desc())
        .limit(limit)
    )
    return {row.id: Location(*row[1:]) for row in rows}


async def settle(conn: AsyncConnection, found: Sequence[tuple[int, int]]) -> None:
    """Note the scores of snapshots: (row id, hundredths); an entry has that of its newest."""
    await execute_rows(conn, _SNAPSHOTS, _PARAMETERS, found)
    await execute_rows(conn, _ENTRIES, _PARAMETERS, found)


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry by its URL, and its place among others: its score, its row."""

    url: str
    place: tuple[int, int]


async def below(
    conn: AsyncConnection, score: int, *, after: tuple[int, int], limit: int
) -> list[Scored]:
    """Entries below a score, the worst first, after a place."""
    own = entry.c
    rows = await conn.execute(
        select(own.score, own.id, own.url)
        .where(
            own.score < literal_column("100"),
            own.score < score,
            (own.score > after[0]) | ((own.score == after[0]) & (own.id > after[1])),
        )
        .order_by(own.score, own.id)
        .limit(limit)
    )
    return [Scored(row.url, (row.score, row.id)) for row in rows]
