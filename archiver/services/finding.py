"""Finds a page of a list, in whatever order.

Newest and oldest first, and the order of a list, walk an index and are exact to the last entry.
Every other order needs to have seen what it puts in order, so it is that of the newest ``SORTED``
that match.
"""

from collections.abc import Sequence
from dataclasses import replace

from archiver.index import ordering
from archiver.index.connection import AsyncConnection
from archiver.index.entries import Place
from archiver.index.search import Question
from archiver.model.listing import Sort
from archiver.services.cursors import damaged
from archiver.services.ranked import best
from archiver.services.walking import Found, Walk
from archiver.values import frozen

SORTED = 3000
"""Entries that are put in another order than that of their coming."""


@frozen
class Page:
    """A page of a list.

    Attributes:
        entries: row ids, in order.
        beyond: where the next page begins; None if this is the last.
        is_of_newest: only the newest that match were put in this order.
        partial: how many of them, the last ones, lack a word that was looked for.
        is_nothing_whole: nothing on this page or any other has all words.
        newest: the newest that match, as far as they were walked through on the way here; None if
            they were not, from the newest on.
    """

    entries: tuple[int, ...]
    beyond: Place | None
    is_of_newest: bool = False
    partial: int = 0
    is_nothing_whole: bool = False
    newest: Found | None = None


async def page_of(
    conn: AsyncConnection,
    question: Question,
    sort: Sort,
    beyond: Place | None,
    limit: int,
    *,
    ahead: int = 0,
) -> Page:
    """A page of what a question matches.

    Args:
        conn: a connection.
        question: what is looked for.
        sort: what comes first.
        beyond: where the page begins; None for the first.
        limit: entries on it.
        ahead: so many of the newest are wanted besides, if they are on the way.

    Raises:
        InputError: there is no such page.
    """
    if sort in (Sort.NEWEST, Sort.OLDEST, Sort.LIST):
        is_oldest, is_list = sort is Sort.OLDEST, sort is Sort.LIST
        walk = Walk(conn, question, oldest_first=is_oldest, arranged=is_list)
        from_newest = sort is Sort.NEWEST and beyond is None
        found = await walk.page(beyond, max(limit, ahead if from_newest else 0))
        shown = found.first(limit)
        return Page(shown.entries, shown.beyond, newest=found if from_newest else None)
    start = beyond.row if beyond else 0
    if start > SORTED:
        raise damaged()
    if sort is Sort.BEST:
        ranked = await best(conn, question)
        page = _cut(ranked.entries, start, limit, ranked.partial, is_of_newest=ranked.is_cut)
        return replace(page, newest=ranked.newest)
    newest = await Walk(conn, question).page(None, SORTED)
    put = await ordering.in_order(conn, newest.entries, sort)
    page = _cut(put, start, limit, 0, is_of_newest=newest.beyond is not None)
    return replace(page, newest=newest)


def _cut(put: Sequence[int], start: int, limit: int, partial: int, *, is_of_newest: bool) -> Page:
    end = min(start + limit, len(put))
    whole = len(put) - partial
    return Page(
        entries=tuple(put[start:end]),
        beyond=Place(0, end) if end < len(put) else None,
        is_of_newest=is_of_newest,
        partial=max(0, end - max(start, whole)),
        is_nothing_whole=not whole,
    )
