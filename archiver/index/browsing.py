"""Which index a list without words walks: the one that leaves least to be looked at."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Column, ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import hosts
from archiver.index.conditions import lists_named
from archiver.index.entries import Filters
from archiver.index.schema import entry_list, tag
from archiver.model.job import State
from archiver.query.tree import Condition, Is, Mark, Node, conjuncts
from archiver.query.words import fold

MOST_WALKED = 64
"""Hosts of a site, spellings of a tag or lists in a list that are walked each by itself; what has
more is common enough to be met."""
_STATES = {Mark.FAILED: State.FAILED, Mark.WAITING: State.QUEUED, Mark.LINK: State.LINK}
_T = TypeVar("_T")


async def walked(conn: AsyncConnection, tree: Node, filters: Filters) -> Filters:
    """The filters to walk a list by, so that nothing that the query matches is passed over."""
    for node in conjuncts(tree):
        if isinstance(node, Is) and isinstance(node.value, str):
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
        return _marked(value, filters)
    return await _named(conn, which, value, filters)


async def _named(conn: AsyncConnection, which: Condition, value: str, filters: Filters) -> Filters:
    """By what has names: a list, a tag in every spelling, a site."""
    if which is Condition.LIST and filters.list_id is None:
        found = await _few(conn, entry_list.c.id, lists_named(value))
        if len(found) == 1:
            return replace(filters, list_id=found[0])
        return _any_of(filters, [Filters(list_id=each) for each in found])
    if which is Condition.TAG and filters.tag is None:
        names = await _few(conn, tag.c.name, tag.c.folded == fold(value))
        if len(names) == 1:
            return replace(filters, tag=names[0])
        return _any_of(filters, [Filters(tag=each) for each in names])
    if which is Condition.SITE:
        found_hosts = await hosts.of_site(conn, value, limit=MOST_WALKED + 1)
        return _any_of(filters, [Filters(host=each) for each in found_hosts])
    return filters


async def _few(conn: AsyncConnection, wanted: Column[_T], test: ColumnElement[bool]) -> list[_T]:
    """What is named so; no more of it than tells that it is too much."""
    rows = await conn.execute(select(wanted).where(test).limit(MOST_WALKED + 1))
    return list(rows.scalars())


def _any_of(filters: Filters, few: Sequence[Filters]) -> Filters:
    """Narrowed to what passes one of a few; as it was where they are many, or another narrows."""
    if not few:
        return replace(filters, any_of=())
    return (
        Filters(any_of=tuple(few)) if filters == Filters() and len(few) <= MOST_WALKED else filters
    )


def _marked(value: str, filters: Filters) -> Filters:
    mark = Mark(value)
    state = _STATES.get(mark)
    if state:
        return filters if filters.state else replace(filters, state=state)
    return replace(
        filters,
        is_highlighted=filters.is_highlighted or mark is Mark.HIGHLIGHTED,
        is_changed=filters.is_changed or mark is Mark.CHANGED,
        is_starred=filters.is_starred or mark is Mark.STARRED,
        is_read=filters.is_read or mark is Mark.READ,
    )
