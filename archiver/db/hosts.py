"""Known hosts and their render hints."""

from collections.abc import Collection

from sqlalchemy import literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import host, snapshot
from archiver.db.statements import OnConflict, insert_rows
from archiver.model.rendering import RenderHint
from archiver.search.words import reversed_host, site_range


async def note_hosts(conn: AsyncConnection, names: Collection[str]) -> None:
    """Insert hosts; known ones are skipped."""
    if names:
        rows = [(name, reversed_host(name)) for name in sorted(names)]
        await insert_rows(conn, host, ("name", "reversed"), rows, OnConflict.KEEP)


async def of_site(conn: AsyncConnection, site: str, *, limit: int) -> list[str]:
    """Return up to ``limit`` hosts that are a site or its subdomains, with any port."""
    named = await conn.execute(select(host.c.name).where(host.c.name == site))
    first, beyond = site_range(site)
    rows = await conn.execute(
        select(host.c.name)
        .where(host.c.reversed >= first, host.c.reversed < beyond)
        .order_by(host.c.reversed)
        .limit(limit)
    )
    return [*dict.fromkeys((*named.scalars(), *rows.scalars()))][:limit]


async def render_hints_after(
    conn: AsyncConnection, row_id: int, *, limit: int
) -> list[tuple[int, int, RenderHint, str]]:
    """Return (row, timestamp, hint, page URL) of the newest snapshots with a hint, after a row."""
    own = snapshot.c
    rows = await conn.execute(
        select(own.id, own.timestamp, own.look, own.final_url)
        .where(own.look != literal_column("''"), own.id > row_id)
        .order_by(own.id.desc())
        .limit(limit)
    )
    return [(row.id, row.timestamp, RenderHint(row.look), row.final_url) for row in rows][::-1]
