"""Followed feeds and their seen items."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import text_values
from archiver.db.schema import entry, feed, feed_item, gone_entry
from archiver.db.statements import OnConflict, insert_rows
from archiver.model.capture import HashUrl
from archiver.model.feed import FeedState, feed_of, source_of

FORGOTTEN_SECONDS = 90 * 86400
"""Seconds after which an item that is no longer in its feed is deleted.

If the feed contains the item again later, it counts as new.
"""


async def states(conn: AsyncConnection) -> dict[str, FeedState]:
    """Return the state of each feed by URL."""
    rows = await conn.execute(select(feed))
    return {row.url: _state(row) for row in rows}


async def claim(
    conn: AsyncConnection, urls: Collection[str], *, now: datetime, seconds: int
) -> set[str]:
    """Claim feeds that are due, so that no other process fetches them; return their URLs.

    The feeds become due again after ``seconds``.
    """
    if not urls:
        return set()
    moment = int(now.timestamp())
    due = (feed.c.url.in_(text_values(urls)), feed.c.due_at <= moment)
    put_off = update(feed).where(*due).values(due_at=moment + seconds).returning(feed.c.url)
    return {*(await conn.execute(put_off)).scalars()}


async def put_state(conn: AsyncConnection, url: str, state: FeedState) -> None:
    """Set the state of a feed."""
    values = {
        "checked_at": int(state.checked_at.timestamp()),
        "due_at": int(state.due_at.timestamp()),
        "failures": state.failures,
        "problem": state.problem,
        "reason": state.reason,
        "is_gone": int(state.is_gone),
        "etag": state.etag,
        "modified": state.modified,
        "brought": state.saved_count,
    }
    updated = await conn.execute(update(feed).where(feed.c.url == url).values(values))
    if not updated.rowcount:
        await insert_rows(conn, feed, [{"url": url, **values}])


async def rename(conn: AsyncConnection, before: str, after: str) -> None:
    """Change the URL of a feed that has moved. Data stored for the new URL is deleted."""
    await forget(conn, after)
    await conn.execute(update(feed).where(feed.c.url == before).values(url=after))


async def forget(conn: AsyncConnection, url: str) -> None:
    """Delete all data of a feed."""
    feed_id = select(feed.c.id).where(feed.c.url == url)
    await conn.execute(delete(feed_item).where(feed_item.c.feed_id.in_(feed_id)))
    await conn.execute(delete(feed).where(feed.c.url == url))


async def store_items(
    conn: AsyncConnection, url: str, items: Sequence[HashUrl], *, now: datetime
) -> set[HashUrl]:
    """Store the current items of a feed, and delete its old items.

    An item is old if it was last seen more than ``FORGOTTEN_SECONDS`` ago.

    Returns:
        The items that are new.
    """
    feed_ids = await conn.execute(select(feed.c.id).where(feed.c.url == url))
    number, seconds = feed_ids.scalar_one(), int(now.timestamp())
    mine = feed_item.c.feed_id == number
    rows = await conn.execute(
        select(feed_item.c.hash_url).where(mine, feed_item.c.hash_url.in_(text_values(items)))
    )
    known_ids = set(rows.scalars())
    current = [{"feed_id": number, "hash_url": each, "seen_at": seconds} for each in items]
    await insert_rows(conn, feed_item, current, OnConflict.REPLACE)
    await conn.execute(
        delete(feed_item).where(mine, feed_item.c.seen_at < seconds - FORGOTTEN_SECONDS)
    )
    return {each for each in items if each not in known_ids}


async def known_or_deleted(conn: AsyncConnection, keys: Collection[HashUrl]) -> set[HashUrl]:
    """Return the hash_urls in ``keys`` that have an entry, or had an entry that was deleted."""
    existing = await conn.execute(
        select(entry.c.hash_url).where(entry.c.hash_url.in_(text_values(keys)))
    )
    deleted = await conn.execute(
        select(gone_entry.c.hash_url).where(gone_entry.c.hash_url.in_(text_values(keys)))
    )
    return {*existing.scalars(), *deleted.scalars()}


async def count_saved(conn: AsyncConnection, url: str, keys: Collection[HashUrl]) -> int:
    """Return how many of the entries with these hash_urls were saved from a feed."""
    query = select(func.count()).where(
        entry.c.hash_url.in_(text_values(keys)), entry.c.source == source_of(url)
    )
    return (await conn.execute(query)).scalar_one()


async def items_of(
    conn: AsyncConnection, url: str, *, after: str = "", limit: int
) -> list[HashUrl]:
    """Return stored items of a feed, sorted by hash_url, that follow the hash_url ``after``."""
    feed_id = select(feed.c.id).where(feed.c.url == url)
    rows = await conn.execute(
        select(feed_item.c.hash_url)
        .where(feed_item.c.feed_id.in_(feed_id), feed_item.c.hash_url > after)
        .order_by(feed_item.c.hash_url)
        .limit(limit)
    )
    return [HashUrl(each) for each in rows.scalars()]


async def newest_entries(
    conn: AsyncConnection, urls: Collection[str], *, each: int
) -> list[tuple[str, int]]:
    """Return (feed URL, entry row id) of up to ``each`` newest entries of every feed.

    The newest entries of all feeds are first, then the second newest of all feeds, and so on.
    """
    rank = func.row_number().over(partition_by=feed.c.id, order_by=entry.c.added_at.desc())
    ranked = (
        select(feed.c.url, entry.c.id, rank.label("rank"))
        .join(feed_item, feed_item.c.feed_id == feed.c.id)
        .join(entry, entry.c.hash_url == feed_item.c.hash_url)
        .where(feed.c.url.in_(text_values(urls)))
        .subquery()
    )
    newest = select(ranked.c.url, ranked.c.id).where(ranked.c.rank <= each).order_by(ranked.c.rank)
    return [(row.url, row.id) for row in await conn.execute(newest)]


async def count_unread(conn: AsyncConnection, urls: Collection[str]) -> dict[str, int]:
    """Return the number of unread entries of each feed by URL, if it is not 0."""
    query = (
        select(entry.c.source, func.count())
        .where(entry.c.source.in_([source_of(each) for each in urls]), entry.c.is_read == 0)
        .group_by(entry.c.source)
    )
    return {feed_of(source): count for source, count in await conn.execute(query)}


def _state(row: Row[*tuple[Any, ...]]) -> FeedState:
    return FeedState(
        checked_at=datetime.fromtimestamp(row.checked_at, UTC),
        due_at=datetime.fromtimestamp(row.due_at, UTC),
        failures=row.failures,
        problem=row.problem,
        reason=row.reason,
        is_gone=bool(row.is_gone),
        etag=row.etag,
        modified=row.modified,
        saved_count=row.brought,
    )
