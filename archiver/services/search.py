"""Browsing and searching entries."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from archiver.db import counters, jobs, segment_rows
from archiver.db import entries as db_entries
from archiver.db import snapshots as db_snapshots
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Filters
from archiver.db.query_sql import SearchContext, is_full_text
from archiver.db.search import SearchRequest
from archiver.db.snapshots import SnapshotRow
from archiver.errors import InputError, InvalidQuery, InvalidUrl
from archiver.http.text_decoders import well_formed
from archiver.http.urls import parse_entry_url
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry
from archiver.model.job import Job, QueueCounts, State
from archiver.model.listing import MAX_EARLIER, ListingQuery, Sort, Summary
from archiver.search.query_parser import parse_query
from archiver.search.query_tree import (
    Condition,
    FieldCondition,
    Node,
    Term,
    conjunction,
    conjuncts,
    positive_terms,
    query_text,
    with_last_word_as_prefix,
)
from archiver.services.result_iteration import ResultIteration
from archiver.services.result_pages import (
    BatchPosition,
    Page,
    all_of,
    read_cursor,
    results_page,
    write_cursor,
)
from archiver.services.search_results import (
    ListedEntry,
    correction,
    excerpts_of,
    shown_of,
    summary_of,
)
from archiver.warc.segments import SegmentStore


def tree_of(query: ListingQuery) -> Node:
    """Parse the query and filters of a list.

    Raises:
        InvalidQuery: the query can't be parsed, or contains nothing to search for.
    """
    tree = parse_query(well_formed(query.q))
    if tree == conjunction([]) and query.q.strip():
        raise InvalidQuery(
            "The search contains no words. Use letters or digits.",
            at=0,
            length=len(query.q),
        )
    return tree


def request_of(tree: Node, query: ListingQuery) -> SearchRequest:
    """Prepare a parsed query for the database.

    Raises:
        InputError: the status is invalid.
    """
    filters = _filters(query)
    if filters.tag is not None:
        tree = conjunction([tree, FieldCondition(Condition.TAG, filters.tag)])
    return SearchRequest(tree, filters, SearchContext(datetime.now(UTC)))


def sort_of(query: ListingQuery, tree: Node) -> Sort:
    """Return the requested sort order, or the default order of the query.

    Raises:
        InputError: there is no such order.
    """
    has_words = any(map(is_full_text, conjuncts(tree)))
    if has_words and not query.sort:
        return Sort.BEST
    if query.sort == Sort.LIST or (query.sort in ("", Sort.BEST) and not has_words):
        return Sort.LIST if _only_list(tree) and not has_words else Sort.NEWEST
    try:
        return Sort(query.sort)
    except ValueError as error:
        raise InputError("sort must be one of {known}.", known=", ".join(Sort)) from error


def _only_list(tree: Node) -> str:
    """Return the path of the list in a query such as ``list:Recipes``; else empty.

    It is also empty for several lists, and for ``list:Recipes/``, which includes nested lists.
    """
    named = [
        each.value
        for each in conjuncts(tree)
        if isinstance(each, FieldCondition) and each.condition is Condition.LIST
    ]
    if len(named) != 1 or not isinstance(named[0], str) or named[0].endswith("/"):
        return ""
    return named[0]


def _filters(query: ListingQuery) -> Filters:
    state = status = None
    if query.status.isdecimal():
        status = int(query.status[:4])
    elif query.status:
        if query.status not in (State.SAVED, State.FAILED, State.QUEUED, State.LINK):
            raise InputError(
                "status must be saved, failed, queued, link, or an HTTP status such as 404."
            )
        state = State(query.status)
    tag, host = well_formed(query.tag), well_formed(query.host)
    return Filters(tag or None, host or None, state, status)


MAX_PER_PAGE = 200
MAX_WITH_EARLIER = 20
"""Maximum entries of a page for which earlier snapshots are also searched for excerpts."""
FEW = 3
"""Number of results below which a spelling suggestion is looked up."""

WEEK = timedelta(days=7)
MAX_NEW = 6
MAX_YEARS = 30
MAX_OF_A_YEAR = 2
_LEAP_DAY = (2, 29)


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list.

    Attributes:
        items: entries on the page.
        after: cursor of the next page; None on the last page.
        sort: sort order.
        is_newest_only: whether only the newest results were sorted, because there are too many.
        partial: number of entries at the end that lack a word of the query.
        used_query: the query that was run instead because the original found nothing; else empty.
        suggestion: spelling suggestion; empty if there is none.
    """

    items: tuple[ListedEntry, ...]
    after: str | None
    sort: Sort = Sort.NEWEST
    is_newest_only: bool = False
    partial: int = 0
    used_query: str = ""
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An adjacent entry in a list, and the cursor of the page that contains it."""

    entry: Entry
    after: str = ""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Previous and next entry in a list, which may be on adjacent pages."""

    query: ListingQuery
    previous: Neighbour | None
    next: Neighbour | None


@dataclass(frozen=True, slots=True)
class Overview:
    """Totals of the archive, and the jobs that are being fetched."""

    entries: int
    snapshots: int
    queue: QueueCounts
    warc_bytes: int
    running_jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True)
class HomePageContent:
    """Contents of the home page.

    Attributes:
        new: entries saved within the last week.
        on_this_day: entries saved on this day of earlier years, the latest year first.
    """

    new: tuple[ListedEntry, ...]
    on_this_day: tuple[ListedEntry, ...]


class Search:
    """Lists and searches of entries."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def listing(self, query: ListingQuery) -> Listing:
        """Return a page of entries.

        Raises:
            InvalidQuery: the query can't be parsed.
            InputError: the cursor, limit, sort or status is invalid.
        """
        if not 1 <= query.limit <= MAX_PER_PAGE:
            raise InputError("A page can have 1 to {most} entries.", most=MAX_PER_PAGE)
        tree = tree_of(query)
        async with self._db.read() as conn:
            request = request_of(tree, query)
            page, used_tree = await self._found(conn, request, query)
            shown = await self._shown(conn, page.entries, used_tree)
            is_poor = not query.after and len(page.entries) - page.partial < FEW
            suggestion = await correction(conn, tree) if is_poor else None
        return Listing(
            items=tuple(shown[each] for each in page.entries if each in shown),
            after=write_cursor(page.next_position) if page.next_position else None,
            sort=sort_of(query, tree),
            is_newest_only=page.is_newest_only,
            partial=page.partial,
            used_query="" if used_tree == request.tree else query_text(used_tree),
            suggestion=query_text(suggestion) if suggestion else "",
        )

    async def all_in_order(self, query: ListingQuery) -> AsyncGenerator[ListedEntry, None]:
        """Yield all entries of a list, in its requested or default sort order.

        Raises:
            InvalidQuery: the query can't be parsed.
            InputError: the sort or status is invalid.
        """
        tree = tree_of(query)
        async with self._db.read() as conn:
            request = request_of(tree, query)
            rows = await all_of(conn, request, sort_of(query, tree))
        for start in range(0, len(rows), MAX_PER_PAGE):
            batch = rows[start : start + MAX_PER_PAGE]
            async with self._db.read() as conn:
                shown = await self._shown(conn, batch, request.tree)
            for each in batch:
                if each in shown:
                    yield shown[each]

    async def _shown(
        self, conn: AsyncConnection, listed: Sequence[int], tree: Node
    ) -> dict[int, ListedEntry]:
        """Return list items of existing entries, with excerpts."""
        has_words = any(positive_terms(tree))
        newest = await _newest_snapshots(conn, listed, with_earlier=has_words)
        snapshots = {each: newest.get(each, []) for each in listed} if has_words else {}
        by_id = await db_entries.by_ids(conn, listed)
        items = await shown_of(conn, by_id, {n: newest[n][0] for n in by_id if n in newest})
        excerpts = await asyncio.to_thread(excerpts_of, self._store, [*snapshots.values()], tree)
        for each, (excerpt, at) in zip(snapshots, excerpts, strict=True):
            if each in items:
                items[each] = replace(items[each], excerpt=excerpt, found_at=at)
        return items

    async def _found(
        self, conn: AsyncConnection, request: SearchRequest, query: ListingQuery
    ) -> tuple[Page, Node]:
        """Return a page, and the query that was run for it.

        If no result has all words, the last word is treated as a prefix. If nothing has the URL
        that was searched, it is looked up among the other URLs of saved pages.
        """
        page = await self._attempt(conn, request, request.tree, query)
        is_unknown = not page.entries and not query.after and isinstance(request.tree, Term)
        if is_unknown and (other := await _by_other_url(conn, query.q)):
            return await self._attempt(conn, request, other, query), other
        prefix_tree = with_last_word_as_prefix(request.tree)
        is_best = sort_of(query, request.tree) is Sort.BEST
        if not is_best or prefix_tree == request.tree:
            return page, request.tree
        if not await self.has_only_partial_matches(conn, request, query, page):
            return page, request.tree
        longer = await self._attempt(conn, request, prefix_tree, query)
        return (page, request.tree) if longer.has_only_partial_matches else (longer, prefix_tree)

    async def has_only_partial_matches(
        self, conn: AsyncConnection, request: SearchRequest, query: ListingQuery, page: Page
    ) -> bool:
        """Return whether no result has all words; for an empty later page, check the first page."""
        place = read_cursor(query.after) if query.after else None
        if (
            not (isinstance(place, BatchPosition) and place.batch_start)
            or page.entries
            or page.next_position
        ):
            return page.has_only_partial_matches
        request, query = replace(request, newest_entry=place.known), replace(query, after="")
        first = await self._attempt(conn, request, request.tree, query)
        return first.has_only_partial_matches

    async def _attempt(
        self, conn: AsyncConnection, request: SearchRequest, tree: Node, query: ListingQuery
    ) -> Page:
        """Return a page for the query ``tree``."""
        sort, request = sort_of(query, request.tree), replace(request, tree=tree)
        place = read_cursor(query.after) if query.after else None
        if isinstance(place, BatchPosition):
            request = replace(request, newest_entry=place.known)
        return await results_page(conn, request, sort, place, query.limit)

    async def neighbours(
        self, query: ListingQuery, key: HashUrl, past: Sequence[str] = ()
    ) -> Neighbours | None:
        """Return the neighbours of an entry on a page; None if it is not on that page.

        Args:
            query: page of a list.
            key: hash_url of the entry.
            past: hash_urls of the neighbours when the entry was opened. They are used if the entry
                has left the list since.

        Raises:
            InvalidQuery: the query can't be parsed.
            InputError: the cursor, sort or status is invalid.
        """
        async with self._db.read() as conn:
            request = request_of(tree_of(query), query)
            page, _ = await self._found(conn, request, query)
            entries_by_id = await db_entries.by_ids(conn, page.entries)
            shown = [
                Neighbour(entries_by_id[each], query.after)
                for each in page.entries
                if each in entries_by_id
            ]
            at = next((n for n, each in enumerate(shown) if each.entry.hash_url == key), None)
            if at is None:
                return _neighbours_of_removed(query, shown, past)
            following = shown[at + 1] if at + 1 < len(shown) else None
            if following is None and page.next_position:
                after = write_cursor(page.next_position)
                further, _ = await self._found(conn, request, replace(query, after=after))
                heads = await db_entries.by_ids(conn, further.entries[:1])
                following = next((Neighbour(each, after) for each in heads.values()), None)
        return Neighbours(query, shown[at - 1] if at else None, following)

    async def summary(self, query: ListingQuery, used_query: str = "") -> Summary:
        """Return the entry count and facets of a list.

        The facets of a long list only count its newest entries.

        Args:
            query: query of the list.
            used_query: the query that ``listing`` used instead, if any.

        Raises:
            InvalidQuery: the query can't be parsed.
            InputError: the status is invalid.
        """
        async with self._db.read() as conn:
            typed = request = request_of(tree_of(query), query)
            if used_query:
                request = request_of(parse_query(used_query), query)
            return await summary_of(conn, request, typed.tree)

    async def home_page(self, now: datetime) -> HomePageContent:
        """Return the contents of the home page at the time ``now`` (aware).

        A day is a day in UTC.
        """
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        async with self._db.read() as conn:
            week = [_span(now - WEEK, now + timedelta(days=1))]
            new = await db_entries.added_within(conn, week, each=MAX_NEW)
            old = await db_entries.added_within(conn, years_before(today), each=MAX_OF_A_YEAR)
            ids = [*new, *old]
            by_id = await db_entries.by_ids(conn, ids)
            listed = await shown_of(conn, by_id, await db_snapshots.latest_of(conn, ids))
        return HomePageContent(
            tuple(listed[each] for each in new if each in listed),
            tuple(listed[each] for each in old if each in listed),
        )

    async def overview(self) -> Overview:
        """Return the totals of the archive."""
        async with self._db.read() as conn:
            counts = await counters.all_counters(conn)
            return Overview(
                entries=counts.get(counters.ENTRIES, 0),
                snapshots=counts.get(counters.SNAPSHOTS, 0),
                queue=await jobs.queue_counts(conn),
                warc_bytes=await segment_rows.total_bytes(conn),
                running_jobs=tuple(await jobs.fetching(conn, 20)),
            )


def _neighbours_of_removed(
    query: ListingQuery, entries: Sequence[Neighbour], past: Sequence[str]
) -> Neighbours | None:
    """Return the neighbours of an entry that left the list, if one of ``past`` is still there."""
    names: list[str] = [each.entry.hash_url for each in entries]
    before, following = (
        names.index(each) if each in names else None for each in (*past, "", "")[:2]
    )
    if before is None and following is None:
        return None
    at = following if following is not None else (before or 0) + 1
    return Neighbours(
        query, entries[at - 1] if at else None, entries[at] if at < len(entries) else None
    )


async def _by_other_url(conn: AsyncConnection, url: str) -> Node | None:
    """Return a query for the page that has ``url`` as another of its URLs; None if there is none.

    Other URLs are those of ``entries.aliases_of``, such as each step of a redirect.
    """
    with suppress(InvalidUrl):
        for alias in (await db_entries.saved_aliases(conn, parse_entry_url(url.strip()))).values():
            return parse_query(f'"{alias.url}"')
    return None


async def _newest_snapshots(
    conn: AsyncConnection, listed: Sequence[int], *, with_earlier: bool
) -> dict[int, list[SnapshotRow]]:
    """Return the newest snapshot of each entry, and earlier ones for the first few entries."""
    newest = await db_snapshots.latest_of(conn, listed)
    by_entry = {number: [each] for number, each in newest.items()}
    several = [n for n, each in newest.items() if with_earlier and each.snapshot_count > 1]
    for number in several[:MAX_WITH_EARLIER]:
        by_entry[number] = await db_snapshots.of_entry(conn, number, limit=1 + MAX_EARLIER)
    return by_entry


async def matching_entries(
    conn: AsyncConnection, query: ListingQuery, *, limit: int
) -> AsyncIterator[list[int]]:
    """Yield the row ids of all results of a query, newest first; ignore its cursor and sort order.

    Each yielded list has at most ``limit`` row ids.

    Raises:
        InvalidQuery: the query can't be parsed.
        InputError: the status is invalid.
    """
    request = request_of(tree_of(query), query)
    async for batch in ResultIteration(conn, request).all(limit=limit):
        yield batch


def years_before(today: datetime) -> list[tuple[int, int]]:
    """Return the start and end of the same day in earlier years, as Unix times."""
    years = [*range(today.year - 1, today.year - 1 - MAX_YEARS, -1)]
    if (today.month, today.day) == _LEAP_DAY:
        years = [year for year in years if year % 4 == 0 and (year % 100 or year % 400 == 0)]
    days = [today.replace(year=year) for year in years]
    return [_span(day, day + timedelta(days=1)) for day in days]


def _span(first: datetime, end: datetime) -> tuple[int, int]:
    return int(first.timestamp()), int(end.timestamp())
