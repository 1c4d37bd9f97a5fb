"""Other addresses of one page, as captures tell of them."""

from sqlalchemy import select, union_all

from archiver.index.connection import AsyncConnection
from archiver.index.schema import capture
from archiver.urls.surt import surt

MOST_LOOKED_AT = 50
"""Captures: one address may have many."""


async def twins_of(conn: AsyncConnection, url: str) -> list[str]:
    """Addresses that lead to this one, that it leads to, or that differ in scheme or ``www.``."""
    own, key = capture.c, surt(url)
    leading = select(own.url).where(own.redirect_to == url)
    led_to = select(own.redirect_to).where(
        own.surt == key, own.url == url, own.redirect_to.is_not(None)
    )
    alike = select(own.url).where(own.surt == key, own.url != url)
    rows = await conn.execute(union_all(leading, led_to, alike).limit(MOST_LOOKED_AT))
    return sorted({*rows.scalars()} - {url})
