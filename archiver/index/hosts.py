"""The hosts that entries are of, so that those below a domain can be named."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import Clash, insert_rows
from archiver.index.schema import host
from archiver.query.keys import reversed_host, site_range


async def note(conn: AsyncConnection, names: Collection[str]) -> None:
    """Note hosts, of which any may be known."""
    if names:
        rows = [(name, reversed_host(name)) for name in sorted(names)]
        await insert_rows(conn, host, ("name", "reversed"), rows, Clash.STAYS)


async def of_site(conn: AsyncConnection, site: str, *, limit: int) -> list[str]:
    """The hosts that are a site or below it, with whatever ports; ``limit`` of them at most."""
    named = await conn.execute(select(host.c.name).where(host.c.name == site))
    first, beyond = site_range(site)
    rows = await conn.execute(
        select(host.c.name)
        .where(host.c.reversed >= first, host.c.reversed < beyond)
        .order_by(host.c.reversed)
        .limit(limit)
    )
    return [*dict.fromkeys((*named.scalars(), *rows.scalars()))][:limit]
