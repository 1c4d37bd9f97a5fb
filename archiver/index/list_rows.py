"""The rows of a list, in the orders that an index holds."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, select, tuple_, union
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect.functions import Gathered
from archiver.index.entries import Filters, Place, narrowed, newest_query
from archiver.index.schema import entry, in_list
from archiver.model.listing import Sort


async def rows_in_order(
    conn: AsyncConnection,
    filters: Filters,
    *,
    beyond: Place | None,
    limit: int,
    order: Sort = Sort.NEWEST,
) -> list[Place]:
    """The places of entries beyond one, in an order that an index holds.

    That of ``Sort.CAPTURED`` is of all entries, whatever the filters; that of a list needs one.
    """
    if order is Sort.LIST and filters.list_id is not None:
        return await _places(conn, _arranged(filters, beyond, limit))
    if order is Sort.CAPTURED:
        return await _places(conn, _captured(beyond, limit), reverse=True)
    oldest_first = order is Sort.OLDEST
    if filters.any_of == ():
        return []
    if filters.any_of is not None:
        query = _of_any(filters.any_of, beyond, limit, oldest_first=oldest_first)
    else:
        query = newest_query(filters, below=beyond, limit=limit, oldest_first=oldest_first)
        query = query.with_only_columns(entry.c.added_at, entry.c.id)
    return await _places(conn, query, reverse=not oldest_first)


async def _places(
    conn: AsyncConnection, query: Select[*tuple[Any, ...]], *, reverse: bool = False
) -> list[Place]:
    """What a query of places selects, in its order: handed over at once, which keeps none."""
    rows = query.subquery("taken")
    firsts, numbers = (await conn.execute(select(*map(Gathered, rows.c)))).one()
    return sorted(map(Place, firsts or (), numbers or ()), reverse=reverse)


def _arranged(filters: Filters, beyond: Place | None, limit: int) -> Select[*tuple[Any, ...]]:
    """What lies in a list, in its order."""
    place = (in_list.c.place, in_list.c.entry_id)
    query = select(*place).join(entry, entry.c.id == in_list.c.entry_id)
    query = narrowed(query.where(in_list.c.list_id == filters.list_id), filters)
    if beyond is not None:
        query = query.where(tuple_(*place) > (beyond.first, beyond.row))
    return query.order_by(*place).limit(limit)


def _captured(beyond: Place | None, limit: int) -> Select[*tuple[Any, ...]]:
    """All entries, what was captured last first."""
    place = (entry.c.sort_at, entry.c.id)
    query = select(*place)
    if beyond is not None:
        query = query.where(tuple_(*place) < (beyond.first, beyond.row))
    return query.order_by(*(column.desc() for column in place)).limit(limit)


def _of_any(
    filters: Sequence[Filters], beyond: Place | None, limit: int, *, oldest_first: bool
) -> Select[*tuple[Any, ...]]:
    """So many of each, as its index has them, and of those so many, each once."""
    each = [
        newest_query(one, below=beyond, limit=limit, oldest_first=oldest_first)
        .with_only_columns(entry.c.added_at, entry.c.id)
        .subquery(f"found_{n}")
        for n, one in enumerate(filters)
    ]
    found = union(*(select(some) for some in each)).subquery("found")
    order = (found.c.added_at, found.c.id)
    query = select(found.c.added_at, found.c.id).limit(limit)
    return query.order_by(*order if oldest_first else (column.desc() for column in order))
