"""Numbers that would take a scan to count, kept as they change."""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from archiver.index.connection import AsyncConnection
from archiver.index.schema import counter

ENTRIES = "entries"
SNAPSHOTS = "snapshots"
QUEUED = "queued"
FETCHING = "fetching"
SAVED = "saved"
FAILED = "failed"


async def change(conn: AsyncConnection, by: Mapping[str, int]) -> None:
    """Add to each named counter."""
    rows = [{"name": name, "value": value} for name, value in by.items() if value]
    if rows:
        statement = insert(counter)
        await conn.execute(
            statement.on_conflict_do_update(
                index_elements=["name"], set_={"value": counter.c.value + statement.excluded.value}
            ),
            rows,
        )


async def all_counters(conn: AsyncConnection) -> dict[str, int]:
    """Every counter by name; one that never changed is missing."""
    rows = await conn.execute(select(counter.c.name, counter.c.value))
    return dict(rows.all())
