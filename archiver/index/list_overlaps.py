"""What lies in several lists: who adds up lists must count it once."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.list_tables import entry_list, in_list

MOST_IN_SEVERAL = 200_000
"""Of more, numbers of what lies beneath lists count some entries twice."""


async def in_several(conn: AsyncConnection) -> list[tuple[int, str]]:
    """(row, path) of entries that lie in several lists, each entry's together, up to so many."""
    several = select(in_list.c.entry_id).group_by(in_list.c.entry_id).having(func.count() > 1)
    rows = await conn.execute(
        select(in_list.c.entry_id, entry_list.c.path)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(in_list.c.entry_id.in_(several))
        .order_by(in_list.c.entry_id)
        .limit(MOST_IN_SEVERAL)
    )
    return [(row.entry_id, row.path) for row in rows]
