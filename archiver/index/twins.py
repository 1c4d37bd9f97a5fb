"""Other addresses of one page, as captures and pages tell of them."""

from sqlalchemy import Select, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import entries
from archiver.index.schema import capture, entry, snapshot
from archiver.model.entry import Entry
from archiver.urls.parse import hash_url
from archiver.urls.surt import surt

MOST_LOOKED_AT = 500
"""Captures and snapshots of each kind: one address may have many."""
MOST_TOLD = 50
_NAMES_ANOTHER = snapshot.c.canonical != literal_column("''")


async def twins_of(conn: AsyncConnection, url: str) -> list[str]:
    """Other addresses of the page at this one: those of its own host first, else by address.

    They lead to it or it leads to them, they differ in scheme or ``www.``, or one names the other
    as its own, or both name a third. What leads to it from elsewhere may be many, and ads.
    """
    found = {
        each
        for query in (*_by_captures(url), *_by_names(url))
        for each in (await conn.execute(query.limit(MOST_LOOKED_AT))).scalars()
        if each is not None
    }
    host = _host(url)
    return sorted(found - {url}, key=lambda each: (_host(each) != host, each))[:MOST_TOLD]


async def kept_twins(conn: AsyncConnection, url: str) -> dict[int, Entry]:
    """Entries of other addresses of a page that have snapshots, by row id, in that order."""
    keys = [hash_url(each) for each in await twins_of(conn, url)]
    rows = await entries.rows_of(conn, keys) if keys else {}
    found = await entries.by_ids(conn, sorted(rows.values())) if rows else {}
    numbers = [rows[key] for key in keys if key in rows]
    return {each: found[each] for each in numbers if each in found and found[each].latest}


def _host(url: str) -> str:
    """As SURT has it: without scheme and ``www.``."""
    return surt(url).partition(")")[0]


def _by_captures(url: str) -> tuple[Select[str | None], ...]:
    own, key = capture.c, surt(url)
    leading = select(own.url).where(own.redirect_to == url).order_by(own.id)
    here = own.surt == key
    led_to = select(own.redirect_to).where(here, own.url == url, own.redirect_to.is_not(None))
    alike = select(own.url).where(here, own.url != url)
    return (leading, *(each.order_by(own.timestamp) for each in (led_to, alike)))


def _by_names(url: str) -> tuple[Select[str], ...]:
    canonical = snapshot.c.canonical
    mine = (
        select(canonical)
        .join(entry, entry.c.id == snapshot.c.entry_id)
        .where(entry.c.hash_url == hash_url(url), _NAMES_ANOTHER)
    )
    naming = select(entry.c.url).join(snapshot, snapshot.c.entry_id == entry.c.id)
    to_this = naming.where(canonical == url, _NAMES_ANOTHER).order_by(snapshot.c.id)
    beside = naming.where(canonical.in_(mine), _NAMES_ANOTHER).order_by(canonical, snapshot.c.id)
    return mine.order_by(snapshot.c.timestamp), to_this, beside
