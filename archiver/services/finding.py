"""Finds a page of a list, in whatever order.

Newest and oldest first, and the order of a list, walk an index and are exact to the last entry.
Every other order needs to have seen what it puts in order, so it is that of the newest ``SORTED``
that match.
"""

from collections.abc import Sequence

from archiver.index import ordering
from archiver.index.connection import AsyncConnection
from archiver.index.entries import Place
from archiver.index.search import Question
from archiver.model.listing import Sort
from archiver.services.cursors import damaged
from archiver.services.ranked import best, candidates
from archiver.services.walking import Found, Walk
from archiver.values import frozen

SORTED = 3000
"""Entries that are put in another order than that of their coming."""
_WALKED = (Sort.NEWEST, Sort.OLDEST, Sort.LIST)


@frozen
class Page:
    """A page of a list.

    Attributes:
        entries: row ids, in order.
        beyond: where the next page begins; None if this is the last.
        is_of_newest: only the newest that match were put in this order.
        partial: how many of them, the last ones, lack a word that was looked for.
        is_nothing_whole: nothing on this page or any other has all words.
    """

    entries: tuple[int, ...]
    beyond: Place | None
    is_of_newest: bool = False
    partial: int = 0
    is_nothing_whole: bool = False


async def walked(
    conn: AsyncConnection,
    question: Question,
    sort: Sort,
    beyond: Place | None,
    limit: int,
    *,
    ahead: int = 0,
) -> Found:
    """What is walked through for a page of what a question matches: first of two steps.

    Args:
        conn: a connection.
        question: what is looked for.
        sort: what comes first.
        beyond: where the page begins; None for the first.
        limit: entries on it.
        ahead: so many of the newest are wanted besides, if they are on the way.
    """
    if sort is Sort.BEST:
        return await candidates(conn, question)
    if sort not in _WALKED:
        return await Walk(conn, question).page(None, SORTED)
    is_oldest, is_list = sort is Sort.OLDEST, sort is Sort.LIST
    walk = Walk(conn, question, oldest_first=is_oldest, arranged=is_list)
    return await walk.page(beyond, max(limit, ahead if is_from_newest(sort, beyond) else 0))


def is_from_newest(sort: Sort, beyond: Place | None) -> bool:
    """Whether what is walked through for a page are the newest."""
    return sort not in _WALKED or (sort is Sort.NEWEST and beyond is None)


async def page_of(
    conn: AsyncConnection,
    question: Question,
    sort: Sort,
    beyond: Place | None,
    limit: int,
    found: Found,
) -> Page:
    """A page of what was walked through for it.

    Raises:
        InputError: there is no such page.
    """
    if sort in _WALKED:
        shown = found.first(limit)
        return Page(shown.entries, shown.beyond)
    start = beyond.row if beyond else 0
    if start > SORTED:
        raise damaged()
    if sort is Sort.BEST:
        ranked = await best(conn, question, found)
        return _cut(ranked.entries, start, limit, ranked.partial, is_of_newest=ranked.is_cut)
    put = await ordering.in_order(conn, found.entries, sort)
    return _cut(put, start, limit, 0, is_of_newest=found.beyond is not None)


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
