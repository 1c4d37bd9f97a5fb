"""Browsing and finding: pages of entries, narrowed by a query, tag, host or state."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from archiver.errors import InputError, InvalidQuery
from archiver.index import (
    counters,
    documents,
    entries,
    jobs,
    search,
    segments,
    snapshots,
    tags,
)
from archiver.index.conditions import Setting
from archiver.index.database import AsyncConnection, Database
from archiver.index.entries import Filters
from archiver.index.matching import is_worded
from archiver.index.search import Question
from archiver.index.snapshots import Told
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry
from archiver.model.findable import MOST_EARLIER
from archiver.model.job import Job, QueueCounts, State
from archiver.model.listing import ListingQuery, Sort, Summary
from archiver.query.parse import parse_query
from archiver.query.tree import (
    Condition,
    Is,
    Node,
    conjuncts,
    every,
    half_typed,
    sought,
    write,
)
from archiver.services.corrections import correction
from archiver.services.cursors import read_cursor, write_cursor
from archiver.services.excerpts import excerpts_of
from archiver.services.facets import MOST_COUNTED, summary_of
from archiver.services.finding import Page, page_of
from archiver.services.listed import ListedEntry, shown_of
from archiver.services.walking import Walk
from archiver.store.segments import SegmentStore
from archiver.values import frozen

MOST_PER_PAGE = 200
MOST_LOOKED_BACK = 20
"""Entries of a page in whose earlier snapshots words are looked for, too."""
FEW = 3
"""Where a search finds fewer, another spelling may have been meant."""
NOTHING = Summary(0, has_more=False)


@frozen
class Listing:
    """A page of a list.

    Attributes:
        items: its entries.
        after: the cursor of the next one; None if this is the last.
        sort: what comes first.
        is_of_newest: only the newest that match were put in this order: they are many.
        partial: how many of these entries, the last ones, lack a word that was looked for.
        answers: the query that was answered, where nothing was found for what was asked.
        meant: the query that was probably meant; empty if it is the one that was asked.
    """

    items: tuple[ListedEntry, ...]
    after: str | None
    sort: Sort = Sort.NEWEST
    is_of_newest: bool = False
    partial: int = 0
    answers: str = ""
    meant: str = ""


@frozen
class Neighbour:
    """An entry beside another one in a list, and the cursor of the page it is on."""

    entry: Entry
    after: str = ""


@frozen
class Beside:
    """What stands before and behind an entry on a page of a list, and at the head of the next."""

    query: ListingQuery
    before: Neighbour | None
    behind: Neighbour | None


@frozen
class Overview:
    """The archive in numbers, and what is being fetched now."""

    entries: int
    snapshots: int
    queue: QueueCounts
    warc_bytes: int
    under_way: tuple[Job, ...]


@frozen
class _Looked:
    """What a search for a page came to: the entries on it, and what is told of their snapshots."""

    asked: Node
    question: Question
    answered: Node
    page: Page
    listed: Mapping[int, Entry]
    told: Mapping[int, Sequence[Told]]


class Search:
    """Lists of entries."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def listing(self, query: ListingQuery) -> Listing:
        """A page of entries.

        Raises:
            InvalidQuery: the query can't be read.
            InputError: the cursor, limit, sort or status is not one.
        """
        listing, _ = await self._look(query)
        return listing

    async def overseen(self, query: ListingQuery) -> tuple[Listing, Summary]:
        """A page of entries, and what all of that list are, from one walk through them.

        Raises:
            InvalidQuery: the query can't be read.
            InputError: the cursor, limit, sort or status is not one.
        """
        return await self._look(query, ahead=MOST_COUNTED)

    async def _look(self, query: ListingQuery, ahead: int = 0) -> tuple[Listing, Summary]:
        """A page, and a summary of so many ahead of it; of none an empty one."""
        if not 1 <= query.limit <= MOST_PER_PAGE:
            raise InputError("A page has 1 to {most} entries.", most=MOST_PER_PAGE)
        tree = _tree(query)
        async with self._db.read() as conn:
            question = await _question(conn, tree, query)
            page, answered = await _page(conn, question, query, ahead)
            listed = await entries.by_ids(conn, page.entries)
            has_words = any(sought(answered))
            told = await _told(conn, listed, with_earlier=has_words)
            looked = _Looked(tree, question, answered, page, listed, told)
            own = [told.get(each, []) for each in listed] if has_words else []
            # Segments are read while the index is.
            (shown, meant, summary), excerpts = await asyncio.gather(
                _shown(conn, looked, is_first=not query.after, is_counted=ahead > 0),
                asyncio.to_thread(excerpts_of, self._store, own, answered),
            )
        for each, (excerpt, at) in zip(listed, excerpts, strict=False):
            shown[each] = replace(shown[each], excerpt=excerpt, found_at=at)
        listing = Listing(
            items=tuple(shown[each] for each in page.entries if each in shown),
            after=write_cursor(page.beyond) if page.beyond else None,
            sort=_sort(query, tree),
            is_of_newest=page.is_of_newest,
            partial=page.partial,
            answers="" if answered == question.tree else write(answered),
            meant=write(meant) if meant else "",
        )
        return listing, summary

    async def beside(self, query: ListingQuery, key: HashUrl) -> Beside | None:
        """What stands beside an entry on a page of a list; None where it is not on that page.

        Raises:
            InvalidQuery: the query can't be read.
            InputError: the cursor, sort or status is not one.
        """
        async with self._db.read() as conn:
            question = await _question(conn, _tree(query), query)
            page, _ = await _page(conn, question, query)
            known = await entries.by_ids(conn, page.entries)
            shown = [Neighbour(known[each], query.after) for each in page.entries if each in known]
            at = next((n for n, each in enumerate(shown) if each.entry.hash_url == key), None)
            if at is None:
                return None
            behind = shown[at + 1] if at + 1 < len(shown) else None
            if behind is None and page.beyond:
                after = write_cursor(page.beyond)
                further, _ = await _page(conn, question, replace(query, after=after))
                heads = await entries.by_ids(conn, further.entries[:1])
                behind = next((Neighbour(each, after) for each in heads.values()), None)
        return Beside(query, shown[at - 1] if at else None, behind)

    async def summary(self, query: ListingQuery) -> Summary:
        """How many entries a list has, and what they are of; the newest of them, if they are many.

        Raises:
            InvalidQuery: the query can't be read.
            InputError: the status is not one.
        """
        async with self._db.read() as conn:
            question = await _question(conn, _tree(query), query)
            return await summary_of(conn, question, None, question.tree)

    async def owed_share(self) -> float:
        """Which share of all entries is still to be made findable by words, 0 to 1."""
        async with self._db.read() as conn:
            return await documents.owed_share(conn)

    async def tags(self, limit: int = 100) -> list[tuple[str, int]]:
        """(name, number of entries) of the tags used most."""
        async with self._db.read() as conn:
            return await tags.most_used(conn, limit)

    async def overview(self) -> Overview:
        """The archive in numbers."""
        async with self._db.read() as conn:
            known = await counters.all_counters(conn)
            return Overview(
                entries=known.get(counters.ENTRIES, 0),
                snapshots=known.get(counters.SNAPSHOTS, 0),
                queue=await jobs.queue_counts(conn),
                warc_bytes=await segments.total_bytes(conn),
                under_way=tuple(await jobs.under_way(conn, 20)),
            )


async def _shown(
    conn: AsyncConnection, looked: _Looked, *, is_first: bool, is_counted: bool
) -> tuple[dict[int, ListedEntry], Node | None, Summary]:
    """What a page shows of entries, what was meant where it has few, and what the list holds."""
    question, page, summary = looked.question, looked.page, NOTHING
    if is_counted:  # first: it is the engine's work for the most part, beside that of excerpts
        answering = replace(question, tree=looked.answered)
        summary = await summary_of(conn, answering, page.newest, question.tree)
    newest = {row: of[0] for row, of in looked.told.items()}
    shown = await shown_of(conn, looked.listed, newest)
    is_poor = is_first and len(page.entries) - page.partial < FEW
    meant = await correction(conn, question.setting.parts, looked.asked) if is_poor else None
    return shown, meant, summary


async def _told(
    conn: AsyncConnection, listed: Mapping[int, Entry], *, with_earlier: bool
) -> dict[int, list[Told]]:
    """The newest snapshot of each entry; of a few also those before it."""
    newest = await snapshots.told_of_newest(conn, [*listed])
    told = {number: [each] for number, each in newest.items()}
    several = [each for each in told if with_earlier and listed[each].snapshot_count > 1]
    for number in several[:MOST_LOOKED_BACK]:
        told[number] = await snapshots.told_of(conn, number, limit=1 + MOST_EARLIER)
    return told


async def matching_entries(
    conn: AsyncConnection, query: ListingQuery, *, limit: int
) -> AsyncIterator[list[int]]:
    """Row ids of all that a list would show, newest first, whatever page and order it asks for.

    ``limit`` rows are looked at in one go.

    Raises:
        InvalidQuery: the query can't be read.
        InputError: the status is none.
    """
    question = await _question(conn, _tree(query), query)
    async for some in Walk(conn, question).all(limit=limit):
        yield some


def _tree(query: ListingQuery) -> Node:
    """What is asked for.

    Raises:
        InvalidQuery: it can't be read, or nothing in it can be looked for.
    """
    tree = parse_query(query.q)
    if tree == every([]) and query.q.strip():
        raise InvalidQuery(
            "There is nothing to look for in this: words have letters or digits.",
            at=0,
            length=len(query.q),
        )
    return tree


async def _question(conn: AsyncConnection, tree: Node, query: ListingQuery) -> Question:
    filters = _filters(query)
    if filters.tag is not None:
        tree = every([tree, Is(Condition.TAG, filters.tag)])
    return Question(tree, filters, Setting(datetime.now(UTC), await search.parts_of(conn)))


async def _page(
    conn: AsyncConnection, question: Question, query: ListingQuery, ahead: int = 0
) -> tuple[Page, Node]:
    """A page, and the tree that it answers: words are taken for beginnings if nothing has them."""
    place = read_cursor(query.after) if query.after else None
    sort = _sort(query, question.tree)
    page = await page_of(conn, question, sort, place, query.limit, ahead=ahead)
    begun = half_typed(question.tree)
    if not page.is_nothing_whole or sort is not Sort.BEST or begun == question.tree:
        return page, question.tree
    begun_so = replace(question, tree=begun)
    other = await page_of(conn, begun_so, sort, place, query.limit, ahead=ahead)
    return (page, question.tree) if other.is_nothing_whole else (other, begun)


def _sort(query: ListingQuery, tree: Node) -> Sort:
    has_words = any(map(is_worded, conjuncts(tree)))
    if has_words and not query.sort:
        return Sort.BEST
    if query.sort == Sort.LIST or (query.sort in ("", Sort.BEST) and not has_words):
        return Sort.LIST if the_list(tree) and not has_words else Sort.NEWEST
    if query.sort not in set(Sort):
        raise InputError("sort is one of {known}.", known=", ".join(Sort))
    return Sort(query.sort)


def the_list(tree: Node) -> str:
    """The one list that is asked for, so that its order can be kept to; empty if there is none."""
    named = [
        each.value
        for each in conjuncts(tree)
        if isinstance(each, Is) and each.condition is Condition.LIST
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
            raise InputError("status is saved, failed, queued, link, or an HTTP status, as 404.")
        state = State(query.status)
    return Filters(query.tag or None, query.host or None, state, status)
