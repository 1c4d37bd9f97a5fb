"""Finds the entries of a list: a page at a time, or all of them, with or without words.

Newest and oldest first walk an index and are exact to the last entry. Every other order needs to
have seen what it puts in order, so it is that of the newest ``SORTED`` that match.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from archiver.errors import InputError
from archiver.index import browsing, entries, ordering, search
from archiver.index.connection import AsyncConnection
from archiver.index.entries import Filters, Place
from archiver.index.matching import Split, split
from archiver.index.search import Question
from archiver.model.listing import Sort
from archiver.services.ranked import best

SORTED = 5000
"""Entries that are put in another order than that of their coming."""
LEAST_LOOK, MOST_LOOK = 100, 5000
"""Rows that are looked at in one go; it grows while few of them pass."""
MOST_LOOKED_AT = 30_000
"""Rows that a page looks at before it says that there may be more."""
_DAMAGED = "This page's address is damaged; start from the first page."


@dataclass(frozen=True, slots=True)
class Spot:
    """An entry of a walk, and the place beyond which the walk goes on."""

    entry_id: int
    place: Place


@dataclass(frozen=True, slots=True)
class Found:
    """Entries of a stretch of a walk, in order.

    Attributes:
        entries: row ids.
        beyond: where the next stretch begins; None if this is the last.
    """

    entries: tuple[int, ...]
    beyond: Place | None


@dataclass(frozen=True, slots=True)
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


class Walk:
    """One walk through what a question matches, newest first or oldest first."""

    def __init__(self, conn: AsyncConnection, question: Question, sort: Sort) -> None:
        self._conn = conn
        self._question = question
        self._parted: Split = split(question.tree)
        self._oldest_first = sort is Sort.OLDEST
        self._filters: Filters | None = None

    async def page(self, beyond: Place | None, limit: int) -> Found:
        """So many entries beyond a place; fewer, with a place to go on, where few of many pass."""
        found: list[Spot] = []
        looked_at, look = 0, max(LEAST_LOOK, limit + 1)
        while looked_at < MOST_LOOKED_AT:
            some, last = await self._look(beyond, look)
            found += some
            if len(found) > limit:
                return Found(_ids(found[:limit]), found[limit - 1].place)
            if last is None:
                return Found(_ids(found), None)
            beyond, looked_at, look = last, looked_at + look, min(look * 4, MOST_LOOK)
        return Found(_ids(found), beyond)

    async def all(self, *, limit: int) -> AsyncIterator[list[int]]:
        """Row ids of all that match, so many rows at a time."""
        beyond: Place | None = None
        while True:
            some, beyond = await self._look(beyond, limit)
            yield [each.entry_id for each in some]
            if beyond is None:
                return

    async def _look(self, beyond: Place | None, count: int) -> tuple[list[Spot], Place | None]:
        """Those that pass among so many rows beyond a place, and the last row; None at the end."""
        if self._parted.match:
            return await self._look_at_documents(beyond, count)
        return await self._look_at_entries(beyond, count)

    async def _look_at_documents(
        self, beyond: Place | None, count: int
    ) -> tuple[list[Spot], Place | None]:
        question = self._question
        found = await search.matching(
            self._conn,
            self._parted.match,
            question.setting.parts,
            beyond=beyond.row if beyond else None,
            count=count,
            oldest_first=self._oldest_first,
        )
        passing = await search.entries_of(self._conn, found, self._parted.rest, question)
        spots = [Spot(passing[each], Place(0, each)) for each in found if each in passing]
        return spots, Place(0, found[-1]) if len(found) == count else None

    async def _look_at_entries(
        self, beyond: Place | None, count: int
    ) -> tuple[list[Spot], Place | None]:
        question = self._question
        if self._filters is None:
            self._filters = await browsing.walked(self._conn, question.tree, question.filters)
        rows = await entries.rows_in_order(
            self._conn, self._filters, beyond=beyond, limit=count, oldest_first=self._oldest_first
        )
        passing = await search.passing(self._conn, [place.row for place in rows], question)
        spots = [Spot(place.row, place) for place in rows if place.row in passing]
        return spots, rows[-1] if len(rows) == count else None


async def page_of(
    conn: AsyncConnection, question: Question, sort: Sort, beyond: Place | None, limit: int
) -> Page:
    """A page of what a question matches.

    Raises:
        InputError: there is no such page.
    """
    if sort in (Sort.NEWEST, Sort.OLDEST):
        found = await Walk(conn, question, sort).page(beyond, limit)
        return Page(found.entries, found.beyond)
    start = beyond.row if beyond else 0
    if start > SORTED:
        raise InputError(_DAMAGED)
    if sort is Sort.BEST:
        ranked = await best(conn, question)
        return _cut(ranked.entries, start, limit, ranked.partial, is_of_newest=ranked.is_cut)
    newest = await Walk(conn, question, Sort.NEWEST).page(None, SORTED)
    put = await ordering.in_order(conn, newest.entries, sort)
    return _cut(put, start, limit, 0, is_of_newest=newest.beyond is not None)


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


def _ids(found: Sequence[Spot]) -> tuple[int, ...]:
    return tuple(each.entry_id for each in found)
