"""Pages of search results and their cursors.

Newest and oldest first, and the order of a list, walk an index and are exact to the last entry.
Every other order needs to have seen what it puts in order, so it is that of the newest ``SORTED``
that match. So are newest and oldest first where there are words, whose index is in the order in
which documents were made; behind so many come the next.

The next page of such an order is behind the entry that was shown last, of those that there were
when the first was shown: what is saved meanwhile moves nothing to another page.
"""

import re
from array import array
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from archiver.db import entries as db_entries
from archiver.db import list_order, search
from archiver.db.engine import AsyncConnection
from archiver.db.entries import Filters, Place
from archiver.db.query_sql import split
from archiver.db.search import Question
from archiver.errors import InputError
from archiver.model.listing import Sort
from archiver.search.query_tree import EVERYTHING
from archiver.services.result_iteration import (
    LEAST_LOOK,
    MOST_LOOK,
    MOST_LOOKED_AT,
    Found,
    Walk,
    behind,
    best,
    candidates,
)

_PLACE = re.compile(r"(-?[0-9]{1,18})\.([0-9]{1,18})?")
"""Numbers that a row of the index can hold; a moment before 1970 is below 0."""
_TURN = re.compile(
    r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})(?:\.([0-9]{1,18}))?"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A place in an order that no index holds: what was put in order, and how far it was shown.

    Attributes:
        known: the newest entry that there was when the first page was shown; none that came later
            is among what is put in order. 0 where that is the first page.
        stretch: the document behind which those begin that are put in order; 0 for the first.
        count: so many of them were shown.
        last: the entry that was shown last; 0 if none of this stretch was.
        end: the document that they ended with, so that none comes in between as others go; 0 if
            there were no others behind them.
    """

    known: int = 0
    stretch: int = 0
    count: int = 0
    last: int = 0
    end: int = 0


def write_cursor(place: Place | Turn) -> str:
    """A place as text."""
    if isinstance(place, Turn):
        numbers = f"{place.known}.{place.stretch}.{place.count}.{place.last}"
        numbers += f".{place.end}" if place.end else ""
    else:
        numbers = f"{place.first}.{place.row}"
    return urlsafe_b64encode(numbers.encode()).decode().rstrip("=")


def read_cursor(packed: str) -> Place | Turn:
    """The place that such a text names.

    Raises:
        InputError: it names none, or numbers beyond what a row of the index can hold.
    """
    unpacked = _unpack(packed)
    if turn := _TURN.fullmatch(unpacked):
        return Turn(*map(int, turn.groups(default="0")))
    found = _PLACE.fullmatch(unpacked)
    if found is None:
        raise damaged()
    return Place(int(found[1]), int(found[2] or 0))


def _unpack(packed: str) -> str:
    try:
        return urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode("ascii")
    except ValueError as error:
        raise damaged() from error


def damaged() -> InputError:
    """What is said of a cursor that leads nowhere."""
    return InputError("This page's address is damaged; start from the first page.")


SORTED = 3000
"""Entries that are put in another order than that of their coming."""
_BY_DAY = (Sort.NEWEST, Sort.OLDEST)


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
    beyond: Place | Turn | None
    is_of_newest: bool = False
    partial: int = 0
    is_nothing_whole: bool = False


async def walked(
    conn: AsyncConnection,
    question: Question,
    sort: Sort,
    beyond: Place | Turn | None,
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

    Raises:
        InputError: there is no such page.
    """
    if _is_walked(sort, question):
        most = max(limit, ahead if is_from_newest(sort, beyond, question) else 0)
        return await Walk(conn, question, order=sort).page(_place(beyond), most)
    turn = _turn(beyond)
    stretch = _stretch(turn)
    if sort is Sort.BEST:
        return _up_to(turn.end, await candidates(conn, question, stretch))
    walk = Walk(conn, question, order=sort if sort is Sort.OLDEST else Sort.NEWEST)
    found = await walk.page(stretch, SORTED, goes_on=sort in _BY_DAY)
    return _up_to(turn.end, found, oldest_first=sort is Sort.OLDEST)


def _up_to(end: int, found: Found, *, oldest_first: bool = False) -> Found:
    """Those of a stretch that were in it at first: where one left, another would have come in."""
    sign = -1 if oldest_first else 1
    count = sum(sign * each >= sign * end for each in found.rows)
    if not end or count == len(found.rows):
        return found
    return replace(found.first(count), beyond=Place(0, end))


def is_from_newest(sort: Sort, beyond: Place | Turn | None, question: Question) -> bool:
    """Whether what is walked through for a page are the newest."""
    if _is_walked(sort, question):
        return sort is Sort.NEWEST and beyond is None
    return sort is not Sort.OLDEST and not _turn(beyond).stretch


def _is_walked(sort: Sort, question: Question) -> bool:
    """Whether an index holds this order of what is looked for."""
    if sort in _BY_DAY:
        return not split(question.tree).match
    if sort is Sort.CAPTURED:
        return (question.tree, question.filters) == (EVERYTHING, Filters())
    return sort is Sort.LIST


def _place(beyond: Place | Turn | None) -> Place | None:
    if isinstance(beyond, Turn):
        raise damaged()
    return beyond


def _turn(beyond: Place | Turn | None) -> Turn:
    if isinstance(beyond, Place) or (beyond and beyond.count > SORTED):
        raise damaged()
    return beyond or Turn()


def _stretch(turn: Turn) -> Place | None:
    """Beyond which document those begin that are put in order for a page."""
    return Place(0, turn.stretch) if turn.stretch else None


async def page_of(
    conn: AsyncConnection,
    question: Question,
    sort: Sort,
    beyond: Place | Turn | None,
    limit: int,
    found: Found,
) -> Page:
    """A page of what was walked through for it.

    Raises:
        InputError: there is no such page.
    """
    if _is_walked(sort, question):
        shown = found.first(limit)
        return Page(tuple(shown.entries), shown.beyond)
    turn = _turn(beyond)
    if sort is Sort.BEST:
        page = await _best_of(conn, question, found, turn, limit)
    else:
        put = await _put(conn, found, turn, sort)
        further = found.beyond if sort in _BY_DAY else None
        page = _cut(put, turn, limit, further, is_of_newest=found.beyond is not None)
    if isinstance(page.beyond, Turn) and not turn.known:
        known = await db_entries.last_row(conn)
        page = replace(page, beyond=replace(page.beyond, known=known))
    return page


async def all_of(
    conn: AsyncConnection, question: Question, sort: Sort, most: int | None = None
) -> Sequence[int]:
    """Row ids of all that a question matches in any order; of the best the others behind them.

    Where ``most`` says how many are wanted, those behind them may be left out.
    """
    if most is not None and sort in _BY_DAY:
        nearest = await _first_of(conn, question, sort, most)
        if nearest is not None:
            return nearest
    found = array("q")
    async for some in Walk(conn, question).all(limit=SORTED):
        found.extend(some)
    if sort is not Sort.BEST:
        return await list_order.in_order(conn, found, sort)
    ranked = await best(conn, question, await candidates(conn, question))
    first = dict.fromkeys(ranked.entries[: len(ranked.entries) - ranked.partial])
    return [*first, *(each for each in found if each not in first)]


async def _first_of(
    conn: AsyncConnection, question: Question, sort: Sort, count: int
) -> Sequence[int] | None:
    """The first so many by the day of saving, also with words; None where too few match.

    Entries are looked at by that day, so those that were saved at one moment are met together.
    """
    filters = await list_order.walked(conn, question.tree, question.filters)
    found: list[Place] = []
    beyond, looked_at, look = None, 0, max(LEAST_LOOK, min(2 * count, MOST_LOOK))
    while looked_at < MOST_LOOKED_AT + count:
        rows = await list_order.rows_in_order(conn, filters, beyond=beyond, limit=look, order=sort)
        passing = await search.passing(conn, [each.row for each in rows], question)
        found += [each for each in rows if each.row in passing]
        is_last = len(rows) < look
        if is_last or (len(found) >= count and found[count - 1].first != rows[-1].first):
            return (await list_order.by_day(conn, found, sort))[:count]
        beyond, looked_at, look = rows[-1], looked_at + look, min(look * 4, MOST_LOOK)
    return None


async def _best_of(
    conn: AsyncConnection, question: Question, found: Found, turn: Turn, limit: int
) -> Page:
    """A page of the best of a stretch, behind which the next is where so much was not looked at."""
    ranked = await best(conn, question, found, is_further=turn.stretch > 0)
    further = behind(found)
    page = _cut(ranked.entries, turn, limit, further, is_of_newest=ranked.is_cut)
    whole = len(ranked.entries) - ranked.partial
    left = max(0, whole - _start(ranked.entries, turn, limit))
    return replace(
        page,
        partial=max(0, len(page.entries) - left),
        is_nothing_whole=not (whole or turn.stretch or further),
    )


async def _put(conn: AsyncConnection, found: Found, turn: Turn, sort: Sort) -> Sequence[int]:
    """What was walked through, in another order than that of its coming; ties stay as given."""
    # Where the last page ended is told even by an entry that is no longer one of these.
    is_other = turn.last and turn.last not in found.entries
    if is_other or sort not in _BY_DAY:
        several = (turn.last, *found.entries) if is_other else found.entries
        return await list_order.in_order(conn, several, sort)
    places = sorted(
        range(len(found.entries)), key=found.firsts.__getitem__, reverse=sort is Sort.NEWEST
    )
    return [found.entries[each] for each in places]


def _cut(
    put: Sequence[int], turn: Turn, limit: int, further: Place | None, *, is_of_newest: bool
) -> Page:
    """A page of what was put in order, and where the next one begins: in it, or further on."""
    start = _start(put, turn, limit)
    end = min(start + limit, len(put))
    following = None
    if end < len(put):
        stretch_end = further.row if further else 0
        following = replace(turn, count=end, last=put[end - 1], end=stretch_end)
    elif further:
        following = Turn(turn.known, further.row)
    return Page(tuple(put[start:end]), following, is_of_newest)


def _start(put: Sequence[int], turn: Turn, limit: int) -> int:
    """How many come before a page: more are shown twice, and none is left out, if none is known.

    None came between those that were shown: one that stands further back was itself changed.
    """
    if turn.last in put:
        found = put.index(turn.last) + 1
        return found if found <= turn.count else max(0, turn.count - 1)
    return max(0, turn.count - limit)
