"""Pages of search results and their cursors.

Newest, oldest and list order, and capture order of the whole archive, are read from an index of the
database, so all results are in order. For other orders, the newest ``SORTED`` results are sorted in
memory, and the list ends after them. For best match, the newest candidates are ranked
(``result_iteration.CANDIDATES``). If reading stopped before that many were found, further results
follow in batches that are ranked separately.

The results of a query with words are sorted in memory even in newest or oldest order, because the
word index is ordered by document id. Further results follow in batches that are sorted separately.

The cursor of a page that was sorted in memory contains the last shown entry, and the entry that was
the newest when the first page was shown: entries saved later are excluded, so they do not shift the
pages.
"""

import re
from array import array
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from archiver.db import entries as db_entries
from archiver.db import list_order
from archiver.db.engine import AsyncConnection
from archiver.db.entries import Filters, Place
from archiver.db.query_sql import split
from archiver.db.search import SearchRequest
from archiver.errors import InputError
from archiver.model.listing import Sort
from archiver.search.query_tree import EVERYTHING
from archiver.services.result_iteration import (
    Found,
    ResultIteration,
    best,
    position_after,
    ranking_candidates,
)

_PLACE = re.compile(r"(-?[0-9]{1,18})\.([0-9]{1,18})?")
"""A ``Place``: sort key, which is negative for times before 1970, and row id."""
_BATCH_POSITION = re.compile(
    r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})(?:\.([0-9]{1,18}))?"
)


@dataclass(frozen=True, slots=True)
class BatchPosition:
    """Position in a sorted batch.

    Attributes:
        known: row id of the newest entry when the first page was shown; later entries are excluded.
            0 on the first page.
        batch_start: row id of the document after which the batch begins; 0 for the first batch.
        count: number of entries of this batch that were shown so far.
        last: row id of the last shown entry of this batch; 0 if none was shown.
        end: row id of the last document of the batch; 0 if no results follow the batch. The end
            stays the same if documents of the batch are deleted.
    """

    known: int = 0
    batch_start: int = 0
    count: int = 0
    last: int = 0
    end: int = 0


def write_cursor(place: Place | BatchPosition) -> str:
    """Serialise a position."""
    if isinstance(place, BatchPosition):
        numbers = f"{place.known}.{place.batch_start}.{place.count}.{place.last}"
        numbers += f".{place.end}" if place.end else ""
    else:
        numbers = f"{place.first}.{place.row}"
    return urlsafe_b64encode(numbers.encode()).decode().rstrip("=")


def read_cursor(packed: str) -> Place | BatchPosition:
    """Parse a cursor.

    Raises:
        InputError: the cursor is invalid, or has numbers out of range.
    """
    unpacked = _unpack(packed)
    if position := _BATCH_POSITION.fullmatch(unpacked):
        return BatchPosition(*map(int, position.groups(default="0")))
    match = _PLACE.fullmatch(unpacked)
    if match is None:
        raise damaged()
    return Place(int(match[1]), int(match[2] or 0))


def _unpack(packed: str) -> str:
    try:
        return urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode("ascii")
    except ValueError as error:
        raise damaged() from error


def damaged() -> InputError:
    """Return the error for an invalid cursor."""
    return InputError("This link to a page of results is damaged. Start again from the first page.")


SORTED = 3000
"""Number of newest results that are sorted in memory."""
_BY_DAY = (Sort.NEWEST, Sort.OLDEST)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list.

    Attributes:
        entries: row ids, in order.
        next_position: where the next page begins; None if this is the last.
        is_newest_only: whether only the newest results were sorted.
        partial: number of entries at the end that lack a word of the query.
        has_only_partial_matches: whether no result has all words of the query.
    """

    entries: tuple[int, ...]
    next_position: Place | BatchPosition | None
    is_newest_only: bool = False
    partial: int = 0
    has_only_partial_matches: bool = False


async def _read_batch(
    conn: AsyncConnection, request: SearchRequest, sort: Sort, position: BatchPosition
) -> Found:
    """Read the results of a batch, which is then sorted."""
    start = Place(0, position.batch_start) if position.batch_start else None
    if sort is Sort.BEST:
        return _up_to(position.end, await ranking_candidates(conn, request, start))
    walk = ResultIteration(conn, request, order=sort if sort is Sort.OLDEST else Sort.NEWEST)
    results = await walk.page(start, SORTED, can_continue=sort in _BY_DAY)
    return _up_to(position.end, results, oldest_first=sort is Sort.OLDEST)


def _up_to(end: int, results: Found, *, oldest_first: bool = False) -> Found:
    """Drop results after the original end of a batch.

    They are read because other results of the batch were deleted in the meantime.
    """
    sign = -1 if oldest_first else 1
    count = sum(sign * each >= sign * end for each in results.rows)
    if not end or count == len(results.rows):
        return results
    return replace(results.first(count), continue_after=Place(0, end))


def _has_index_order(sort: Sort, request: SearchRequest) -> bool:
    """Return whether results can be read from a database index in this order."""
    if sort in _BY_DAY:
        return not split(request.tree).match
    if sort is Sort.CAPTURED:
        return (request.tree, request.filters) == (EVERYTHING, Filters())
    return sort is Sort.LIST


def _place(after: Place | BatchPosition | None) -> Place | None:
    if isinstance(after, BatchPosition):
        raise damaged()
    return after


def _position_of(after: Place | BatchPosition | None) -> BatchPosition:
    if isinstance(after, Place) or (after and after.count > SORTED):
        raise damaged()
    return after or BatchPosition()


async def results_page(
    conn: AsyncConnection,
    request: SearchRequest,
    sort: Sort,
    after: Place | BatchPosition | None,
    limit: int,
) -> Page:
    """Return the page that begins at ``after``, or the first page.

    Raises:
        InputError: there is no such page.
    """
    if _has_index_order(sort, request):
        results = await ResultIteration(conn, request, order=sort).page(_place(after), limit)
        return Page(tuple(results.entries), results.continue_after)
    position = _position_of(after)
    results = await _read_batch(conn, request, sort, position)
    if sort is Sort.BEST:
        page = await _best_of(conn, request, results, position, limit)
    else:
        ordered = await _sort(conn, results, position, sort)
        further = results.continue_after if sort in _BY_DAY else None
        page = _slice_page(
            ordered, position, limit, further, is_newest_only=results.continue_after is not None
        )
    if isinstance(page.next_position, BatchPosition) and not position.known:
        newest_row = await db_entries.last_row(conn)
        page = replace(page, next_position=replace(page.next_position, known=newest_row))
    return page


async def all_of(conn: AsyncConnection, request: SearchRequest, sort: Sort) -> Sequence[int]:
    """Return row ids of all results, sorted.

    For best match, only ``result_iteration.ranking_candidates`` are ranked; all others follow.
    """
    rows_of_results = array("q")
    async for batch in ResultIteration(conn, request).all(limit=SORTED):
        rows_of_results.extend(batch)
    if sort is not Sort.BEST:
        return await list_order.in_order(conn, rows_of_results, sort)
    ranked = await best(conn, request, await ranking_candidates(conn, request))
    first = dict.fromkeys(ranked.entries[: len(ranked.entries) - ranked.partial])
    return [*first, *(each for each in rows_of_results if each not in first)]


async def _best_of(
    conn: AsyncConnection,
    request: SearchRequest,
    results: Found,
    position: BatchPosition,
    limit: int,
) -> Page:
    """Return a page of a batch, best results first."""
    ranked = await best(conn, request, results, is_later_batch=position.batch_start > 0)
    further = position_after(results)
    page = _slice_page(ranked.entries, position, limit, further, is_newest_only=ranked.is_cut)
    whole = len(ranked.entries) - ranked.partial
    remaining = max(0, whole - _start(ranked.entries, position, limit))
    return replace(
        page,
        partial=max(0, len(page.entries) - remaining),
        has_only_partial_matches=not (whole or position.batch_start or further),
    )


async def _sort(
    conn: AsyncConnection, results: Found, position: BatchPosition, sort: Sort
) -> Sequence[int]:
    """Sort results; ties keep their order."""
    # The last shown entry marks the position even if it is no longer a result.
    is_other = position.last and position.last not in results.entries
    if is_other or sort not in _BY_DAY:
        several = (position.last, *results.entries) if is_other else results.entries
        return await list_order.in_order(conn, several, sort)
    places = sorted(
        range(len(results.entries)), key=results.sort_keys.__getitem__, reverse=sort is Sort.NEWEST
    )
    return [results.entries[each] for each in places]


def _slice_page(
    ordered: Sequence[int],
    position: BatchPosition,
    limit: int,
    further: Place | None,
    *,
    is_newest_only: bool,
) -> Page:
    """Return a page of sorted results.

    The next page continues this batch. If the batch has no more results, the next page is the first
    page of the batch that begins after ``further``.
    """
    start = _start(ordered, position, limit)
    end = min(start + limit, len(ordered))
    following = None
    if end < len(ordered):
        batch_end = further.row if further else 0
        following = replace(position, count=end, last=ordered[end - 1], end=batch_end)
    elif further:
        following = BatchPosition(position.known, further.row)
    return Page(tuple(ordered[start:end]), following, is_newest_only)


def _start(ordered: Sequence[int], position: BatchPosition, limit: int) -> int:
    """Return the index of the page's first entry.

    If changed entries have moved to another position, some may be shown again, but none is skipped.
    New entries are excluded and cannot push the last shown entry back. So if that entry is further
    back than before, it was changed itself, and the page begins at its former position.
    """
    if position.last in ordered:
        index = ordered.index(position.last) + 1
        return index if index <= position.count else max(0, position.count - 1)
    return max(0, position.count - limit)
