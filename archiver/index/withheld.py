"""Captures of what was thrown away: out of every list, but known for as long as a record is there.

A payload that another capture revisits is found here until `archiver compact` moves it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Table, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import among, among_keys, among_texts
from archiver.index.captures import COLUMNS, to_capture
from archiver.index.digests import to_blob
from archiver.index.numbering import keep_numbers
from archiver.index.originals import original_of
from archiver.index.schema import capture, gone_capture, segment, withheld
from archiver.model.capture import Capture, PayloadDigest
from archiver.urls.surt import surt

MOST_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """A capture as far as it matters for who needs it."""

    id: int
    url: str
    timestamp: int
    redirect_to: str | None
    record_id: str


async def withhold(conn: AsyncConnection, row_ids: Collection[int]) -> None:
    """Take captures out of every list."""
    await keep_numbers(conn)
    await _move(conn, capture, withheld, row_ids)


async def give_back(conn: AsyncConnection, row_ids: Collection[int]) -> None:
    """Put captures back into every list."""
    await _move(conn, withheld, capture, row_ids)


async def withhold_gone(conn: AsyncConnection, *, after: int) -> None:
    """Take out captures that deletions name, copies too, of those whose rows come after one."""
    rows = await conn.execute(
        select(capture.c.id).where(
            capture.c.id > after, capture.c.record_id.in_(select(gone_capture.c.record_id))
        )
    )
    await withhold(conn, list(rows.scalars()))


async def around(conn: AsyncConnection, urls: Collection[str]) -> dict[str, list[Seen]]:
    """All captures of some URLs, and of those that lead to them or that they lead to; by URL.

    Each URL's captures are in the order of their time.
    """
    found: dict[str, list[Seen]] = {}
    wanted = set(urls)
    for _ in range(MOST_ROUNDS):
        fresh = wanted - found.keys()
        if not fresh:
            break
        found |= {url: [] for url in fresh}
        for each in await _of_urls(conn, fresh):
            found[each.url].append(each)
            if each.redirect_to:
                wanted.add(each.redirect_to)
        leading = await conn.execute(
            select(capture.c.url).where(capture.c.redirect_to.in_(among_texts(fresh))).distinct()
        )
        wanted |= set(leading.scalars())
    return found


async def seen(conn: AsyncConnection, row_ids: Collection[int]) -> list[Seen]:
    """Captures that are in lists, by their rows."""
    own = capture.c
    rows = await conn.execute(
        select(own.id, own.url, own.timestamp, own.redirect_to, own.record_id).where(
            own.id.in_(among(row_ids))
        )
    )
    return [Seen(*row) for row in rows]


async def _of_urls(conn: AsyncConnection, urls: Collection[str]) -> list[Seen]:
    own = capture.c
    rows = await conn.execute(
        select(own.id, own.url, own.timestamp, own.redirect_to, own.record_id)
        .where(
            own.surt.in_(among_keys({surt(url) for url in urls})), own.url.in_(among_texts(urls))
        )
        .order_by(own.timestamp, own.id)
    )
    return [Seen(*row) for row in rows]


async def holder_of(conn: AsyncConnection, digest: PayloadDigest) -> Capture | None:
    """The response record that holds a payload; one that was thrown away, if no other does."""
    if found := await original_of(conn, digest):
        return found
    query = _withheld().where(
        withheld.c.payload_digest == to_blob(digest),
        withheld.c.is_revisit == 0,
    )
    row = (await conn.execute(query.order_by(withheld.c.id).limit(1))).one_or_none()
    return to_capture(row) if row else None


async def between(conn: AsyncConnection, name: str, first: int, last: int) -> Mapping[int, Capture]:
    """The withheld captures of a segment whose records start between two bytes, by that byte."""
    rows = await conn.execute(
        _withheld().where(
            segment.c.name == name, withheld.c.offset >= first, withheld.c.offset <= last
        )
    )
    return {row.offset: to_capture(row) for row in rows}


async def is_any(conn: AsyncConnection) -> bool:
    """Whether records of what was thrown away are still to be erased, as far as is known."""
    return (await conn.execute(select(withheld.c.id).limit(1))).scalar() is not None


async def _move(
    conn: AsyncConnection, source: Table, target: Table, row_ids: Collection[int]
) -> None:
    if row_ids:
        names = [column.name for column in source.c]
        moved = source.c.id.in_(among(row_ids))
        await conn.execute(insert(target).from_select(names, select(source).where(moved)))
        await conn.execute(delete(source).where(moved))


def _withheld() -> Select[Any]:
    by_name = {column.name: column for column in withheld.c}
    columns = [by_name.get(column.name, column) for column in COLUMNS]
    return select(*columns).join(segment, segment.c.id == withheld.c.segment_id)
