"""Captures in the order of their SURT keys, a stretch at a time: never by counting from a start."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.captures import CAPTURES, to_capture
from archiver.index.schema import capture
from archiver.model.capture import Capture

_KEYS = (capture.c.surt, capture.c.timestamp, capture.c.id)


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A stretch of the index by SURT key and time.

    Attributes:
        first_key, last_key: from the one up to, but not with, the other.
        first, last: timestamps as integers, both within.
        newest_first: walk it backwards.
    """

    first_key: str
    last_key: str
    first: int = 0
    last: int = 99991231235959
    newest_first: bool = False


Place = tuple[str, int, int]
"""A place in the order of the index: SURT key, timestamp, row id."""
Placed = tuple[Place, Capture]


async def in_range(
    conn: AsyncConnection, wanted: KeyRange, *, after: Place | None, limit: int
) -> list[Placed]:
    """Captures by SURT key, time and row, each with its place; those that come after one."""
    query = in_range_query(wanted, after=after, limit=limit).add_columns(capture.c.surt)
    rows = await conn.execute(query)
    return [((row.surt, row.timestamp, row.id), to_capture(row)) for row in rows]


def in_range_query(wanted: KeyRange, *, after: Place | None, limit: int) -> Select[Any]:
    """The statement behind ``in_range``; it walks the index by key."""
    return _walk(CAPTURES, wanted, after).limit(limit)


async def place_of(conn: AsyncConnection, row_id: int) -> Place | None:
    """Where a row stands; None if there is none."""
    row = (await conn.execute(select(*_KEYS).where(capture.c.id == row_id))).one_or_none()
    return (row.surt, row.timestamp, row.id) if row else None


async def block_after(
    conn: AsyncConnection, wanted: KeyRange, *, after: Place | None, size: int
) -> Place | None:
    """Where the next block of so many captures begins after the one that begins at a place.

    None where the range ends before. It reads ``size`` entries of an index and no row.
    """
    query = _walk(select(*_KEYS), wanted, after).limit(1).offset(size - 1 if after else 0)
    row = (await conn.execute(query)).one_or_none()
    return (row.surt, row.timestamp, row.id) if row else None


def _walk(query: Select[Any], wanted: KeyRange, after: Place | None) -> Select[Any]:
    keys: tuple[Any, ...] = _KEYS
    last: tuple[Any, ...] | None = after
    query = query.where(capture.c.timestamp.between(wanted.first, wanted.last))
    if wanted.last_key == wanted.first_key + "\0":
        keys, last = keys[1:], last and last[1:]
        query = query.where(capture.c.surt == wanted.first_key)
    elif last is None:
        # Not BETWEEN: PostgreSQL takes no collation there, which a text brings along.
        query = query.where(capture.c.surt >= wanted.first_key, capture.c.surt <= wanted.last_key)
    elif wanted.newest_first:
        query = query.where(capture.c.surt >= wanted.first_key)
    else:
        query = query.where(capture.c.surt < wanted.last_key)
    if last is not None:
        # With no other bound at this end: SQLite would walk from the looser of two.
        here = tuple_(*keys)
        query = query.where(here < last if wanted.newest_first else here > last)
    return query.order_by(*([key.desc() for key in keys] if wanted.newest_first else keys))
