"""Iteration over search results, by date or by rank."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from archiver.db import list_order, ranking, search
from archiver.db.engine import AsyncConnection
from archiver.db.entries import Filters, Place
from archiver.db.query_sql import Split, split
from archiver.db.search import SearchRequest
from archiver.model.listing import Sort
from archiver.search.query_tree import EVERYTHING, Node, Term, conjunction, conjuncts, disjunction

MIN_ROWS, MAX_ROWS = 100, 5000
"""Minimum and maximum number of rows per query; the number grows if few rows match."""
MAX_EXAMINED = 10_000
"""Number of examined rows after which a page is returned, even if it is not full."""
ENOUGH_READ = 64
"""Number of results after which a page is returned, if the index can't find phrases.

See ``search.must_test_phrases``.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """Results of one batch in order, as parallel sequences.

    Attributes:
        entries: row ids of the matching entries.
        rows: row ids of the results in the iterated table: documents or entries.
        sort_keys: primary sort keys of the results; for documents, the time of saving.
        continue_after: position after which the next batch begins; None if this is the last batch.
    """

    entries: Sequence[int]
    rows: Sequence[int]
    sort_keys: Sequence[int]
    continue_after: Place | None

    def first(self, count: int) -> "Found":
        """Return the first ``count`` results."""
        if len(self.entries) <= count:
            return self
        last = Place(self.sort_keys[count - 1], self.rows[count - 1])
        return Found(self.entries[:count], self.rows[:count], self.sort_keys[:count], last)

    def then(self, more: "Found") -> "Found":
        """Return these results followed by those of the next batch."""
        return Found(
            [*self.entries, *more.entries],
            [*self.rows, *more.rows],
            [*self.sort_keys, *more.sort_keys],
            more.continue_after,
        )


class ResultIteration:
    """Iteration over the results of a query in the order of a database index.

    The results of a query with words are in the order in which the search documents were created,
    newest or oldest first.
    """

    def __init__(
        self,
        conn: AsyncConnection,
        request: SearchRequest,
        *,
        order: Sort = Sort.NEWEST,
    ) -> None:
        self._conn = conn
        self._request = request
        self._split_query: Split = split(request.tree)
        self._order = order
        self._filters: Filters | None = None
        self._tests_phrases = search.must_test_phrases(conn, self._split_query)

    async def page(self, after: Place | None, limit: int, *, can_continue: bool = True) -> Found:
        """Return the results after a position.

        If few of the examined rows match, the page has fewer than ``limit`` results, and its
        ``after`` is the position at which to continue.

        Args:
            after: position after which to continue; None for the first page.
            limit: maximum number of entries.
            can_continue: whether the caller can read another page. If so, a page may end after
                ``ENOUGH_READ`` results.
        """
        enough = min(limit, ENOUGH_READ) if can_continue else limit
        results = Found((), (), (), after)
        examined, rows_to_read = 0, max(MIN_ROWS, limit + 1)
        while examined < MAX_EXAMINED:
            rows_to_read = min(rows_to_read, MAX_EXAMINED - examined)
            batch = await self._read_batch(results.continue_after, rows_to_read)
            results = results.then(batch)
            count = len(results.entries)
            if batch.continue_after is None or count > limit:
                return replace(results, continue_after=None).first(limit)
            if self._tests_phrases and count > enough:
                # The last result is left for the next page, which might otherwise be empty.
                return results.first(count - 1)
            examined, rows_to_read = examined + rows_to_read, min(rows_to_read * 4, MAX_ROWS)
        return results

    async def all(self, *, limit: int) -> AsyncIterator[list[int]]:
        """Yield row ids of all results in batches."""
        after: Place | None = None
        while True:
            batch = await self._read_batch(after, limit)
            yield [*batch.entries]
            after = batch.continue_after
            if after is None:
                return

    async def _read_batch(self, after: Place | None, count: int) -> Found:
        """Read ``count`` rows after a position."""
        if self._split_query.match:
            return await self._read_documents(after, count)
        return await self._read_entries(after, count)

    async def _read_documents(self, after: Place | None, count: int) -> Found:
        places = await search.matching_documents(
            self._conn,
            self._split_query,
            self._request,
            after=after.row if after else None,
            count=count,
            oldest_first=self._order is Sort.OLDEST,
        )
        examined = len(places.documents)
        last = Place(0, places.documents[-1]) if examined == count else None
        passing = places if all(places.entries) else places.where(places.entries)
        entries, moments = map(_without_null, (passing.entries, passing.times))
        return Found(entries, passing.documents, moments, last)

    async def _read_entries(self, after: Place | None, count: int) -> Found:
        request = self._request
        if self._filters is None:
            self._filters = await list_order.iteration_filters(
                self._conn, request.tree, request.filters
            )
        rows = await list_order.rows_in_order(
            self._conn,
            self._filters,
            after=after,
            limit=count,
            order=self._order,
        )
        passing = {place.row for place in rows}
        if request.tree != EVERYTHING or request.filters != self._filters:
            passing = await search.results_among(self._conn, [*passing], request)
        places = [each for each in rows if each.row in passing and request.includes(each.row)]
        row_ids = [each.row for each in places]
        last = rows[-1] if len(rows) == count else None
        return Found(row_ids, row_ids, [each.first for each in places], last)


def _without_null(values: Sequence[int | None]) -> list[int]:
    """Return the values as integers, for type checkers; matching rows have no NULL."""
    return [each for each in values if each is not None]


CANDIDATES = 1000
"""Number of newest matches that are ranked, in addition to some matches in title or tags."""
MIN_FULL_MATCHES = 10
"""Number of full matches below which entries that lack one word of the query are appended."""
MAX_WORDS = 8


@dataclass(frozen=True, slots=True)
class Ranked:
    """Ranked results, best first.

    Attributes:
        entries: row ids of the entries.
        partial: number of entries at the end that lack a word of the query.
        is_cut: whether more entries match than were ranked.
    """

    entries: tuple[int, ...]
    partial: int
    is_cut: bool


async def ranking_candidates(
    conn: AsyncConnection, request: SearchRequest, after: Place | None = None
) -> Found:
    """Return the newest results after a position, for ranking."""
    return await ResultIteration(conn, request).page(after, CANDIDATES)


def position_after(results: Found) -> Place | None:
    """Return the position at which the next batch begins; None if no batch follows.

    No batch follows if all results were read. No batch follows ``CANDIDATES`` results either: they
    are enough for a ranking, and older results are left out.
    """
    return results.continue_after if len(results.entries) < CANDIDATES else None


async def best(
    conn: AsyncConnection, request: SearchRequest, newest: Found, *, is_later_batch: bool = False
) -> Ranked:
    """Rank the results of a query with words.

    Entries that lack a word come after all full matches, so they are only added if no further batch
    of full matches can follow.

    Args:
        conn: a connection.
        request: the query.
        newest: a batch that ``ranking_candidates`` returned.
        is_later_batch: whether this is not the first batch. A later batch is ranked separately, and
            without the matches in title or tags that were already ranked with the first batch.
    """
    if is_later_batch:
        before = await _in_title_or_tags(conn, request)
        passing = {
            row: each
            for row, each in zip(newest.rows, newest.entries, strict=True)
            if row not in before
        }
        ranked = await _in_order(conn, request, passing)
        return Ranked(tuple(ranked), 0, is_cut=True)
    by_rank = await _ranked(conn, request, newest)
    fewer = _without_one_word(request.tree)
    if len(by_rank) >= MIN_FULL_MATCHES or fewer is None or position_after(newest):
        return Ranked(tuple(by_rank), 0, newest.continue_after is not None)
    partly = replace(request, tree=fewer)
    other = await ranking_candidates(conn, partly)
    more = await _ranked(conn, partly, other)
    added = [each for each in more if each not in by_rank]
    is_cut = newest.continue_after is not None or other.continue_after is not None
    return Ranked((*by_rank, *added), len(added), is_cut)


async def _ranked(conn: AsyncConnection, request: SearchRequest, newest: Found) -> list[int]:
    """Return the entries of the best matches, best first.

    The newest matches are ranked, and some older ones that match in title or tags.
    """
    passing = dict(zip(newest.rows, newest.entries, strict=True))
    if newest.continue_after is not None:
        passing |= await _in_title_or_tags(conn, request)
    return await _in_order(conn, request, passing)


async def _in_order(
    conn: AsyncConnection, request: SearchRequest, passing: Mapping[int, int]
) -> list[int]:
    """Return the entries of documents, best first; ``passing`` maps document ids to entry ids."""
    match = split(request.tree).match
    scored = await ranking.scored(conn, match, request.tree, passing)
    return [passing[each] for each in scored]


async def _in_title_or_tags(conn: AsyncConnection, request: SearchRequest) -> dict[int, int]:
    """Return the newest documents that match in title or tags: entry ids by document id."""
    match = ranking.in_titles(split(request.tree).match, request.tree)
    if not match:
        return {}
    named = replace(split(request.tree), match=match)
    places = await search.matching_documents(conn, named, request, count=CANDIDATES // 5)
    pairs = zip(places.documents, places.entries, strict=True)
    return {row: entry_id for row, entry_id in pairs if entry_id is not None}


def _without_one_word(tree: Node) -> Node | None:
    """Return the query for entries that lack at most one word of a query.

    The result is None unless the query has 2 to ``MAX_WORDS`` words.
    """
    nodes = conjuncts(tree)
    words = [each for each in nodes if isinstance(each, Term) and each.column is None]
    if not 2 <= len(words) <= MAX_WORDS:
        return None
    remaining = [each for each in nodes if each not in words]
    fewer = [conjunction([each for each in words if each is not left_out]) for left_out in words]
    return conjunction([disjunction(fewer), *remaining])
