"""Numbers that would take a scan to count, kept as they change."""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import Clash, insert_rows
from archiver.index.schema import counter

ENTRIES = "entries"
SNAPSHOTS = "snapshots"
QUEUED = "queued"
FETCHING = "fetching"
SAVED = "saved"
FAILED = "failed"
_COLUMNS = ("name", "value")


async def change(conn: AsyncConnection, by: Mapping[str, int]) -> None:
    """Add to each named counter."""
    rows = sorted((name, value) for name, value in by.items() if value)
    await insert_rows(conn, counter, _COLUMNS, rows, Clash.ADDS)


async def put(conn: AsyncConnection, values: Mapping[str, int]) -> None:
    """Set each named counter."""
    await insert_rows(conn, counter, _COLUMNS, sorted(values.items()), Clash.GOES)


async def all_counters(conn: AsyncConnection) -> dict[str, int]:
    """Every counter by name; one that never changed is missing."""
    rows = await conn.execute(select(counter.c.name, counter.c.value))
    return dict(rows.all())
