"""Sort orders of entry lists; most of them are read from a database index."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Select, func, select, tuple_, union
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import host_queue
from archiver.db.dialects import THESE, ArrayAggregate
from archiver.db.entries import Filters, Place, narrowed, newest_query
from archiver.db.query_sql import lists_named, with_document
from archiver.db.schema import document, entry, entry_list, in_list, tag
from archiver.model.job import State
from archiver.model.listing import Sort
from archiver.search.query_tree import Condition, FieldCondition, IsValue, Node, conjuncts
from archiver.search.words import fold


async def rows_in_order(
    conn: AsyncConnection,
    filters: Filters,
    *,
    after: Place | None,
    limit: int,
    order: Sort = Sort.NEWEST,
) -> list[Place]:
    """Return the positions of the next entries in an order that a database index has.

    Args:
        conn: a connection.
        filters: filters of the list. ``CAPTURED`` ignores them, and ``LIST`` requires ``list_id``.
        after: position after which to continue; None for the start.
        limit: maximum number of entries.
        order: ``NEWEST``, ``OLDEST``, ``CAPTURED`` or ``LIST``.
    """
    if order is Sort.LIST and filters.list_id is not None:
        return await _places(conn, _arranged(filters, after, limit))
    if order is Sort.CAPTURED:
        return await _places(conn, _captured(after, limit), reverse=True)
    oldest_first = order is Sort.OLDEST
    if filters.any_of == ():
        return []
    if filters.any_of is not None:
        query = _of_any(filters.any_of, after, limit, oldest_first=oldest_first)
    else:
        query = newest_query(filters, below=after, limit=limit, oldest_first=oldest_first)
        query = query.with_only_columns(entry.c.added_at, entry.c.id)
    return await _places(conn, query, reverse=not oldest_first)


async def _places(
    conn: AsyncConnection, query: Select[*tuple[Any, ...]], *, reverse: bool = False
) -> list[Place]:
    """Return the positions that a query selects.

    They are selected as two lists in one row (see ``ArrayAggregate``). The order of these lists is
    not defined, so the positions are sorted here.
    """
    rows = query.subquery("taken")
    firsts, numbers = (await conn.execute(select(*map(ArrayAggregate, rows.c)))).one()
    return sorted(map(Place, firsts or (), numbers or ()), reverse=reverse)


def _arranged(filters: Filters, after: Place | None, limit: int) -> Select[*tuple[Any, ...]]:
    """Return the query for entries of a list, in the order of the list."""
    place = (in_list.c.place, in_list.c.entry_id)
    query = select(*place).join(entry, entry.c.id == in_list.c.entry_id)
    query = narrowed(query.where(in_list.c.list_id == filters.list_id), filters)
    if after is not None:
        query = query.where(tuple_(*place) > (after.first, after.row))
    return query.order_by(*place).limit(limit)


def _captured(after: Place | None, limit: int) -> Select[*tuple[Any, ...]]:
    """Return the query for all entries, last captured first."""
    place = (entry.c.sort_at, entry.c.id)
    query = select(*place)
    if after is not None:
        query = query.where(tuple_(*place) < (after.first, after.row))
    return query.order_by(*(column.desc() for column in place)).limit(limit)


def _of_any(
    filters: Sequence[Filters], after: Place | None, limit: int, *, oldest_first: bool
) -> Select[*tuple[Any, ...]]:
    """Return the query for entries that pass at least one of the filters, without duplicates."""
    each = [
        newest_query(one, below=after, limit=limit, oldest_first=oldest_first)
        .with_only_columns(entry.c.added_at, entry.c.id)
        .subquery(f"found_{n}")
        for n, one in enumerate(filters)
    ]
    ids = union(*(select(selection) for selection in each)).subquery("found")
    order = (ids.c.added_at, ids.c.id)
    query = select(ids.c.added_at, ids.c.id).limit(limit)
    return query.order_by(*order if oldest_first else (column.desc() for column in order))


MAX_ITERATED = 64
"""Maximum number of hosts, tag spellings or nested lists that are queried separately.

If there are more, all entries are read and tested one by one.
"""
_STATES = {IsValue.FAILED: State.FAILED, IsValue.WAITING: State.QUEUED, IsValue.LINK: State.LINK}
_T = TypeVar("_T")


async def iteration_filters(conn: AsyncConnection, tree: Node, filters: Filters) -> Filters:
    """Return the filters, with those conditions of a query added that a database index can test.

    Every entry that the query matches passes the returned filters.
    """
    for node in conjuncts(tree):
        if isinstance(node, FieldCondition) and isinstance(node.value, str):
            filters = await _narrower(conn, node.condition, node.value, filters)
    return filters


async def _narrower(
    conn: AsyncConnection, which: Condition, value: str, filters: Filters
) -> Filters:
    if which is Condition.STATUS and value in set(State):
        return filters if filters.state else replace(filters, state=State(value))
    if which is Condition.FAILED:
        return filters if filters.state else replace(filters, state=State.FAILED)
    if which is Condition.STATUS and value.isdecimal():
        return filters if filters.status else replace(filters, status=int(value))
    if which is Condition.IS:
        return _narrowed_by_mark(value, filters)
    return await _narrowed_by_name(conn, which, value, filters)


async def _narrowed_by_name(
    conn: AsyncConnection, which: Condition, value: str, filters: Filters
) -> Filters:
    """Narrow the filters by a list, a tag in any spelling, or a site."""
    if which is Condition.LIST and filters.list_id is None:
        list_ids = await _limited_values(conn, entry_list.c.id, lists_named(value))
        if len(list_ids) == 1:
            return replace(filters, list_id=list_ids[0])
        return _any_of(filters, [Filters(list_id=each) for each in list_ids])
    if which is Condition.TAG and filters.tag is None:
        names = await _limited_values(conn, tag.c.name, tag.c.folded == fold(value))
        if len(names) == 1:
            return replace(filters, tag=names[0])
        return _any_of(filters, [Filters(tag=each) for each in names])
    if which is Condition.SITE:
        found_hosts = await host_queue.of_site(conn, value, limit=MAX_ITERATED + 1)
        return _any_of(filters, [Filters(host=each) for each in found_hosts])
    return filters


async def _limited_values(
    conn: AsyncConnection, column: Column[_T], test: ColumnElement[bool]
) -> list[_T]:
    """Return up to ``MAX_ITERATED + 1`` values of a column.

    If there are more than ``MAX_ITERATED``, they are too many to query each of them separately.
    """
    rows = await conn.execute(select(column).where(test).limit(MAX_ITERATED + 1))
    return list(rows.scalars())


def _any_of(filters: Filters, few: Sequence[Filters]) -> Filters:
    """Return filters that an entry passes if it passes at least one of ``few``.

    If ``few`` is empty, no entry passes. ``filters`` are returned unchanged if they have conditions
    already, or if ``few`` has more than ``MAX_ITERATED`` items.
    """
    if not few:
        return replace(filters, any_of=())
    return (
        Filters(any_of=tuple(few)) if filters == Filters() and len(few) <= MAX_ITERATED else filters
    )


def _narrowed_by_mark(value: str, filters: Filters) -> Filters:
    mark = IsValue(value)
    state = _STATES.get(mark)
    if state:
        return filters if filters.state else replace(filters, state=state)
    return replace(
        filters,
        is_highlighted=filters.is_highlighted or mark is IsValue.HIGHLIGHTED,
        is_changed=filters.is_changed or mark is IsValue.CHANGED,
        is_starred=filters.is_starred or mark is IsValue.STARRED,
        is_read=filters.is_read or mark is IsValue.READ,
    )


_TITLE = func.coalesce(func.nullif(entry.c.given_title, ""), func.nullif(entry.c.page_title, ""))
_ORDERS: dict[Sort, ColumnElement[object]] = {
    Sort.NEWEST: entry.c.added_at.desc(),
    Sort.OLDEST: entry.c.added_at.asc(),
    Sort.CAPTURED: entry.c.sort_at.desc(),
    Sort.TITLE: func.lower(func.coalesce(_TITLE, entry.c.url)),
    Sort.LENGTH: document.c.word_count.desc().nulls_last(),
    Sort.SCORE: entry.c.score.asc().nulls_last(),
}


def _ranking(sort: Sort) -> Select[*tuple[Any, ...]]:
    """Return the query for ids and ranks of the entries in the parameter ``these``.

    They are selected as two lists in one row (see ``ArrayAggregate``).
    """
    rank = func.dense_rank().over(order_by=_ORDERS[sort])
    query = select(entry.c.id, rank.label("rank")).select_from(entry)
    if sort is Sort.LENGTH:
        query = with_document(query)
    ranked = query.where(entry.c.id.in_(THESE)).subquery("ranked")
    return select(ArrayAggregate(ranked.c.id), ArrayAggregate(ranked.c.rank))


_RANKINGS = {sort: _ranking(sort) for sort in _ORDERS}


async def in_order(conn: AsyncConnection, entry_ids: Sequence[int], sort: Sort) -> list[int]:
    """Return entry ids in a sort order; entries with the same rank keep their order."""
    places = {entry_id: place for place, entry_id in enumerate(entry_ids)}
    ids, ranks = (await conn.execute(_RANKINGS[sort], {"these": entry_ids})).one()
    ordered = sorted(zip(ranks or (), map(places.__getitem__, ids or ()), strict=True))
    return [entry_ids[place] for _, place in ordered]
