"""Finds a page of a list, in whatever order.

Newest and oldest first, and the order of a list, walk an index and are exact to the last entry.
Every other order needs to have seen what it puts in order, so it is that of the newest ``SORTED``
that match. So are newest and oldest first where there are words, whose index is in the order in
which documents were made; behind so many come the next.
"""

from collections.abc import Sequence
from dataclasses import replace

from archiver.index import ordering
from archiver.index.connection import AsyncConnection
from archiver.index.entries import Filters, Place
from archiver.index.matching import split
from archiver.index.search import Question
from archiver.model.listing import Sort
from archiver.query.tree import EVERYTHING
from archiver.services.cursors import damaged
from archiver.services.ranked import behind, best, candidates
from archiver.services.walking import Found, Walk
from archiver.values import frozen

SORTED = 3000
"""Entries that are put in another order than that of their coming."""
_BY_DAY = (Sort.NEWEST, Sort.OLDEST)
_STRETCHED = (*_BY_DAY, Sort.BEST)


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
        return await candidates(conn, question, _stretch(sort, beyond))
    if not _is_walked(sort, question):
        walk = Walk(conn, question, order=sort if sort is Sort.OLDEST else Sort.NEWEST)
        return await walk.page(_stretch(sort, beyond), SORTED)
    most = max(limit, ahead if is_from_newest(sort, beyond, question) else 0)
    return await Walk(conn, question, order=sort).page(beyond, most)


def is_from_newest(sort: Sort, beyond: Place | None, question: Question) -> bool:
    """Whether what is walked through for a page are the newest."""
    if _is_walked(sort, question):
        return sort is Sort.NEWEST and beyond is None
    return sort is not Sort.OLDEST and _stretch(sort, beyond) is None


def _is_walked(sort: Sort, question: Question) -> bool:
    """Whether an index holds this order of what is looked for."""
    if sort in _BY_DAY:
        return not split(question.tree).match
    if sort is Sort.CAPTURED:
        return (question.tree, question.filters) == (EVERYTHING, Filters())
    return sort is Sort.LIST


def _stretch(sort: Sort, beyond: Place | None) -> Place | None:
    """Beyond which document those begin that are put in order for a page."""
    return Place(0, beyond.first) if sort in _STRETCHED and beyond and beyond.first else None


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
    if _is_walked(sort, question):
        shown = found.first(limit)
        return Page(shown.entries, shown.beyond)
    start = beyond.row if beyond else 0
    if start > SORTED:
        raise damaged()
    if sort is Sort.BEST:
        return await _best_of(conn, question, found, beyond, limit)
    put = await ordering.in_order(conn, found.entries, sort)
    page = _cut(put, start, limit, 0, is_of_newest=found.beyond is not None)
    if sort not in _BY_DAY:
        return page
    return replace(page, beyond=_beyond(page.beyond, _stretch(sort, beyond), found.beyond))


async def _best_of(
    conn: AsyncConnection, question: Question, found: Found, beyond: Place | None, limit: int
) -> Page:
    """A page of the best of a stretch, behind which the next is where so much was not looked at."""
    stretch, start = _stretch(Sort.BEST, beyond), beyond.row if beyond else 0
    ranked = await best(conn, question, found, is_further=stretch is not None)
    page = _cut(ranked.entries, start, limit, ranked.partial, is_of_newest=ranked.is_cut)
    further = behind(found)
    return replace(
        page,
        beyond=_beyond(page.beyond, stretch, further),
        is_nothing_whole=page.is_nothing_whole and not (stretch or further),
    )


def _beyond(here: Place | None, stretch: Place | None, further: Place | None) -> Place | None:
    """Where the next page begins: in a stretch, or in the one behind it."""
    if here is None:
        return Place(further.row, 0) if further else None
    return Place(stretch.row if stretch else 0, here.row)


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
