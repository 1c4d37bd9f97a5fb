"""The tags, lists and sites of an archive: which are nearly called what was typed."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import hosts
from archiver.index.conditions import lists_named
from archiver.index.schema import entry_list, host, tag
from archiver.query.keys import list_key, reversed_host
from archiver.query.spelling import distance
from archiver.query.tree import Condition
from archiver.query.words import fold

SHORTEST, LONG = 3, 8
"""Letters of a name that may have a slip, and from which on two."""
MOST_READ = 2000
"""Names that are held against one, of those that begin nearly as it does."""
_BEYOND = "\U0010ffff"


async def nearest(conn: AsyncConnection, which: Condition, value: str) -> str | None:
    """The name nearest to one that nothing has: a slip away, or longer; None if there is none.

    Of several the one that most entries have. None, too, where something is called so.
    """
    wanted, most = _wanted(which, value), 2 if len(value) >= LONG else 1
    if len(wanted) < SHORTEST or await _is_there(conn, which, value):
        return None
    best: tuple[int, int, str] | None = None
    for name, written, count in await _names(conn, which, value):
        away = distance(wanted, name, most) if abs(len(name) - len(wanted)) <= most else None
        if away is None and name.startswith(wanted):
            away = most + 1
        if away is not None and (best is None or (away, -count, written) < best):
            best = away, -count, written
    return best[2] if best else None


def _wanted(which: Condition, value: str) -> str:
    """A name as it is looked for."""
    if which is Condition.LIST:
        return list_key(value.removesuffix("/"))
    return fold(value)


async def _names(
    conn: AsyncConnection, which: Condition, value: str
) -> Iterable[tuple[str, str, int]]:
    """Names that begin nearly as one does: as they are looked for and written, how many have it."""
    if which is Condition.SITE:
        return await _sites(conn, value)
    own: Select[*tuple[Any, ...]] = select(tag.c.folded, tag.c.name, tag.c.entry_count)
    own, column = own.where(tag.c.entry_count > 0), tag.c.folded
    if which is Condition.LIST:
        own = select(entry_list.c.folded, entry_list.c.path, entry_list.c.entry_count)
        column = entry_list.c.folded
    found = []
    for beginning in _beginnings(_wanted(which, value)):
        rows = await conn.execute(own.where(*_begins(column, beginning)).limit(MOST_READ))
        found += [(row[0], row[1], row[2]) for row in rows]
    return found


async def _sites(conn: AsyncConnection, value: str) -> Iterable[tuple[str, str, int]]:
    """Domains of as many labels as one, that end as it does and begin nearly so."""
    last, _, others = reversed_host(value).partition(".")
    depth, domains = value.count(".") + 1, dict[str, int]()
    for beginning in _beginnings(others):
        own = _begins(host.c.reversed, f"{last}.{beginning}")
        rows = await conn.execute(select(host.c.reversed).where(*own).limit(MOST_READ))
        for name in rows.scalars():
            domain = ".".join(reversed(name.removesuffix(".").split(".")[:depth]))
            domains[domain] = domains.get(domain, 0) + 1
    return [(domain, domain, count) for domain, count in domains.items()]


def _beginnings(name: str) -> Iterator[str]:
    """What a name that was meant may begin with: as this, or with a slip in its first letters."""
    if len(name) >= SHORTEST:
        first, second, third = name[0], name[1], name[2]
        yield from dict.fromkeys((name[:2], second + first, first + third, second + third, first))


def _begins(column: ColumnElement[str], beginning: str) -> tuple[ColumnElement[bool], ...]:
    return column >= beginning, column < beginning + _BEYOND


async def _is_there(conn: AsyncConnection, which: Condition, value: str) -> bool:
    """Whether anything is called so."""
    if which is Condition.SITE:
        return bool(await hosts.of_site(conn, value, limit=1))
    own = select(tag.c.id).where(tag.c.folded == fold(value), tag.c.entry_count > 0)
    if which is Condition.LIST:
        own = select(entry_list.c.id).where(lists_named(value))
    return (await conn.execute(own.limit(1))).scalar() is not None
