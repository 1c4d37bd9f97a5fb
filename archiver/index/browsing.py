"""Which index a list without words walks: the one that leaves least to be looked at."""

from dataclasses import replace

from sqlalchemy import select

from archiver.index import hosts
from archiver.index.conditions import lists_named
from archiver.index.connection import AsyncConnection
from archiver.index.entries import Filters
from archiver.index.schema import entry_list, tag
from archiver.model.job import State
from archiver.query.tree import Condition, Is, Mark, Node, conjuncts
from archiver.query.words import fold

MOST_HOSTS = 64
"""Hosts of a site that are walked each by itself; one with more is common enough to be met."""
NOWHERE: tuple[str, ...] = ()
"""The hosts of what nothing can match: no walk goes anywhere to find that out."""
_STATES = {Mark.FAILED: State.FAILED, Mark.WAITING: State.QUEUED, Mark.LINK: State.LINK}


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
    if which is Condition.STATUS and value.isdecimal():
        return filters if filters.status else replace(filters, status=int(value))
    if which is Condition.IS:
        return _marked(value, filters)
    if which in (Condition.TAG, Condition.LIST):
        return await _labelled(conn, which, value, filters)
    if which is Condition.SITE and filters == Filters():
        found = await hosts.of_site(conn, value, limit=MOST_HOSTS + 1)
        return replace(filters, hosts=tuple(found)) if len(found) <= MOST_HOSTS else filters
    return filters


async def _labelled(
    conn: AsyncConnection, which: Condition, value: str, filters: Filters
) -> Filters:
    """By a tag or a list, where one alone reads so; nowhere, where none does."""
    if which is Condition.LIST:
        if filters.list_id is not None:
            return filters
        rows = await conn.execute(select(entry_list.c.id).where(lists_named(value)).limit(2))
        found = list(rows.scalars())
        narrower = replace(filters, list_id=found[0]) if len(found) == 1 else filters
        return narrower if found else replace(filters, hosts=NOWHERE)
    if filters.tag is not None:
        return filters
    rows = await conn.execute(select(tag.c.name).where(tag.c.folded == fold(value)).limit(2))
    names = list(rows.scalars())
    narrower = replace(filters, tag=names[0]) if len(names) == 1 else filters
    return narrower if names else replace(filters, hosts=NOWHERE)


def _marked(value: str, filters: Filters) -> Filters:
    if value == Mark.HIGHLIGHTED:
        return replace(filters, is_highlighted=True)
    if value == Mark.CHANGED:
        return replace(filters, is_changed=True)
    state = _STATES.get(Mark(value))
    return replace(filters, state=state) if state and not filters.state else filters
