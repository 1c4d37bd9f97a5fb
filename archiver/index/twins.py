"""Other addresses of one page, as captures and pages tell of them."""

from sqlalchemy import CompoundSelect, literal_column, select, union_all

from archiver.index import entries
from archiver.index.connection import AsyncConnection
from archiver.index.schema import capture, entry, snapshot
from archiver.model.entry import Entry
from archiver.urls.parse import hash_url
from archiver.urls.surt import surt

MOST_LOOKED_AT = 50
"""Captures and snapshots of either kind: one address may have many."""
_NAMES_ANOTHER = snapshot.c.canonical != literal_column("''")


async def twins_of(conn: AsyncConnection, url: str) -> list[str]:
    """Other addresses of the page at this one.

    They lead to it or it leads to them, they differ in scheme or ``www.``, or one names the other
    as its own, or both name a third.
    """
    told = {
        each
        for query in (_by_captures(url), _by_names(url))
        for each in (await conn.execute(query.limit(MOST_LOOKED_AT))).scalars()
        if each is not None
    }
    return sorted(told - {url})


async def kept_twins(conn: AsyncConnection, url: str) -> dict[int, Entry]:
    """Entries of other addresses of a page that have snapshots, by row id."""
    keys = [hash_url(each) for each in await twins_of(conn, url)]
    rows = await entries.rows_of(conn, keys) if keys else {}
    found = await entries.by_ids(conn, sorted(rows.values())) if rows else {}
    return {number: each for number, each in found.items() if each.latest}


def _by_captures(url: str) -> CompoundSelect[str | None]:
    own, key = capture.c, surt(url)
    leading = select(own.url).where(own.redirect_to == url)
    led_to = select(own.redirect_to).where(
        own.surt == key, own.url == url, own.redirect_to.is_not(None)
    )
    alike = select(own.url).where(own.surt == key, own.url != url)
    return union_all(leading, led_to, alike)


def _by_names(url: str) -> CompoundSelect[str]:
    said = snapshot.c.canonical
    mine = (
        select(said)
        .join(entry, entry.c.id == snapshot.c.entry_id)
        .where(entry.c.hash_url == hash_url(url), _NAMES_ANOTHER)
    )
    naming = select(entry.c.url).join(snapshot, snapshot.c.entry_id == entry.c.id)
    to_this = naming.where(said == url, _NAMES_ANOTHER)
    beside = naming.where(said.in_(mine), _NAMES_ANOTHER)
    return union_all(mine, to_this, beside)
