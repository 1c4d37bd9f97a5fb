"""What plain looks at pages told of their hosts, read back."""

from sqlalchemy import literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.schema import snapshot
from archiver.model.rendering import Look


async def after(
    conn: AsyncConnection, row_id: int, *, limit: int
) -> list[tuple[int, int, Look, str]]:
    """(row, timestamp, look, URL of the page) of the newest snapshots after a row that tell."""
    own = snapshot.c
    rows = await conn.execute(
        select(own.id, own.timestamp, own.look, own.final_url)
        .where(own.look != literal_column("''"), own.id > row_id)
        .order_by(own.id.desc())
        .limit(limit)
    )
    return [(row.id, row.timestamp, Look(row.look), row.final_url) for row in rows][::-1]
