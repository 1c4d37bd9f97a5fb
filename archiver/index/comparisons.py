"""By how much the article of each entry's newest snapshot differs from that of the one before.

An entry that gets another snapshot, or another article, owes a comparison, which is made soon after
from what is stored.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import among, execute_rows
from archiver.index.schema import entry, entry_table

_SETTLE = (
    update(entry_table)
    .values(changed=bindparam("hundredths"), comparison_owed=0, document_stale=1)
    .where(entry_table.c.id == bindparam("entry_id"), entry_table.c.latest == bindparam("newest"))
)


async def owe(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Note that these entries have another article; those with one snapshot owe nothing."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.snapshot_count > 1)
            .values(comparison_owed=1)
        )


async def owed(conn: AsyncConnection, *, limit: int) -> list[int]:
    """Entries that owe a comparison."""
    rows = await conn.execute(
        select(entry.c.id).where(entry.c.comparison_owed == 1).order_by(entry.c.id).limit(limit)
    )
    return list(rows.scalars())


async def settle(conn: AsyncConnection, found: Sequence[tuple[int, int, int]]) -> None:
    """Note by how many hundredths articles have changed: (entry, newest snapshot, hundredths).

    Its earlier articles are to be found from then on, too, so it gets another document. One that
    has a newer snapshot by now owes another comparison.
    """
    await execute_rows(conn, _SETTLE, ("entry_id", "newest", "hundredths"), found)
