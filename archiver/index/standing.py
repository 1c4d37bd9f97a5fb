"""How entries stand that are about to get more: most have nothing yet, and need less done."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import is_one_of_these
from archiver.index.schema import entry

_STANDING = select(
    entry.c.id,
    entry.c.latest,
    entry.c.snapshot_count,
    entry.c.revision,
    entry.c.document_stale,
).where(is_one_of_these(entry.c.id))


@dataclass(frozen=True, slots=True)
class Standing:
    """How an entry stands.

    Attributes:
        latest: the timestamp of its newest snapshot; 0 where it has none.
        snapshots: how many it has.
        revision: of its annotation.
        is_stale: whether its document is not of that.
    """

    latest: int
    snapshots: int
    revision: int
    is_stale: bool


async def standings(conn: AsyncConnection, entry_ids: Collection[int]) -> dict[int, Standing]:
    """How these entries stand, by row."""
    rows = await conn.execute(_STANDING, {"these": entry_ids})
    return {
        row.id: Standing(
            row.latest or 0, row.snapshot_count, row.revision, bool(row.document_stale)
        )
        for row in rows
    }
