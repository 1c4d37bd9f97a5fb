"""Lists of entries, and the navigation that shows them on every page.

List membership is part of an entry's user metadata, so each change is an edit that can be undone
(``editing``).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from time import monotonic

from archiver.db import counters, edit_history, entries, imports, jobs, tags_and_lists
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import InputError, InvalidQuery, NotFound
from archiver.http.text_decoders import well_formed
from archiver.model.annotation import Annotation
from archiver.model.entry_list import (
    MAX_DEPTH,
    MAX_LISTS,
    MAX_PLACE,
    EntryList,
    ListColour,
    as_tree,
    duplicate_counts,
    folder_names,
    folder_path,
    folders_above,
    is_within,
    moved_path,
    placed,
    shifted,
    unquoted,
    with_nested_counts,
    with_parents,
)
from archiver.model.job import QueueCounts
from archiver.model.listing import ListingQuery
from archiver.search.query_parser import parse_query
from archiver.search.query_tree import Condition, FieldCondition, query_text
from archiver.services.editing import BATCH, Edited, Editing, clean_paths, row_id_batches
from archiver.services.entries import find_entry
from archiver.services.search import Search, matching_entries

MAX_TYPED = 2_000
"""Maximum characters of a list path entered by a user."""
MAX_SEARCHES = 50
"""Maximum saved searches whose results are counted for the side bar."""
MAX_COUNT_SECONDS = 0.5
"""Maximum time that a page waits for counts; longer counts are finished in the background."""
RECOUNT_SECONDS = 30.0
"""Maximum age of a saved search's count, and minimum interval between counts."""


class ListPosition(StrEnum):
    """Target position of moved entries, which keep their relative order."""

    FIRST = "first"
    UP = "up"
    DOWN = "down"
    LAST = "last"


class EntryLists:
    """Lists of entries. ``on_changed`` is called after changes that have to be recorded."""

    def __init__(
        self,
        db: Database,
        editing: Editing,
        search: Search,
        on_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._editing = editing
        self._search = search
        self._on_changed = on_changed
        self._counted: dict[str, tuple[int, bool]] = {}
        self._duplicates: frozenset[tuple[str, int]] = frozenset()
        self._duplicates_of: tuple[EntryList, ...] = ()
        self._counted_in: object = None
        self._is_slow = False
        self._is_viewed = asyncio.Event()

    async def all(self) -> tuple[EntryList, ...]:
        """Return all lists in tree order.

        After a change, the counts of saved searches, and of lists with entries in several nested
        lists, are updated first. If this takes longer than ``MAX_COUNT_SECONDS``, the counts are
        outdated or missing until ``keep_counts_current`` has updated them.
        """
        async with self._db.read() as conn:
            lists = tuple(await tags_and_lists.all_lists(conn))
            state = lists, await counters.all_counters(conn), await edit_history.state(conn)
        if state != self._counted_in and not self._is_slow:
            try:
                async with asyncio.timeout(MAX_COUNT_SECONDS):
                    await self.count()
                self._counted_in = state
            except TimeoutError:
                self._is_slow = True
                self._is_viewed.set()
        if any(each.query for each in lists):
            self._is_viewed.set()
        return tuple(self._with_count(each) for each in _tree(lists, self._duplicates))

    async def make(self, path: str, query: str = "") -> EntryList:
        """Create a list, or save a search; a saved search with the same name is replaced.

        Raises:
            InputError: the name is empty, or a list has this name.
            InvalidQuery: the search can't be parsed.
        """
        query = well_formed(query.strip())
        new_list = EntryList(_path(path), query, None if query else 0)
        parse_query(new_list.query)
        async with self._db.write() as conn:
            lists = await tags_and_lists.all_lists(conn)
            existing = next((each for each in lists if each.path == new_list.path), None)
            if existing and (not existing.query or not new_list.query):
                raise InputError("The list “{path}” already exists.", path=new_list.path)
            if len(lists) >= MAX_LISTS:
                raise InputError("You can have at most {most} lists.", most=MAX_LISTS)
            new_list = replace(new_list, colour=existing.colour) if existing else new_list
            changed_lists = [new_list if each is existing else each for each in lists]
            await _arrange(conn, changed_lists if existing else [*changed_lists, new_list])
            await tags_and_lists.set_creator(
                conn, None, (*folders_above(new_list.path), new_list.path)
            )
        self._on_changed()
        return new_list

    async def rename(self, path: str, new: str) -> Edited | None:
        """Rename or move a list with its nested lists.

        If a list has the new name, the two lists are merged. Return None if no entry was changed.

        Raises:
            NotFound: there is no such list.
            InputError: the new name is empty, or nested in the list itself.
        """
        goal = _path(new)
        existing = await self._find(path)
        other = await self._find_any(goal)
        if other and goal != path and (existing.query or other.query):
            raise InputError(
                "“{goal}” already exists, and a saved search cannot be merged with it.", goal=goal
            )
        if goal != path and is_within(goal, path):
            raise InputError("A list cannot be moved into itself.")
        await self._refuse_too_deep(path, goal)

        def become(_: int, annotation: Annotation) -> Annotation:
            moved = {moved_path(each, path, goal): at for each, at in annotation.lists.items()}
            existing_positions = {
                each: at for each, at in annotation.lists.items() if each in moved
            }
            return annotation.in_lists({**moved, **existing_positions})

        edited = await self._apply_within(path, become)
        await self._rearrange(lambda lists: _renamed(lists, path, goal))
        return edited if edited.changed else None

    async def delete(self, path: str) -> Edited | None:
        """Delete a list with its nested lists, but not their entries.

        Return None if the list had no entries.

        Raises:
            NotFound: there is no such list.
        """
        await self._find(path)

        def become(_: int, annotation: Annotation) -> Annotation:
            remaining = {
                each: at for each, at in annotation.lists.items() if not is_within(each, path)
            }
            return annotation.in_lists(remaining)

        edited = await self._apply_within(path, become)
        await self._rearrange(
            lambda lists: [each for each in lists if not is_within(each.path, path)]
        )
        return edited if edited.changed else None

    async def move(self, path: str, *, down: bool) -> None:
        """Move a list one position up or down among its siblings.

        Raises:
            NotFound: there is no such list.
        """
        await self._find(path)
        await self._rearrange(lambda lists: shifted(lists, path, down=down))

    async def place(self, path: str, parent: str, before: str = "") -> Edited | None:
        """Move a list with its nested lists into another one, or to the top level.

        Args:
            path: path of the list to move.
            parent: path of the list that it will be nested in; empty for the top level.
            before: path of the sibling that the list is placed before; empty to place it last.

        Raises:
            NotFound: there is no such list.
            InputError: the list can't be nested in ``parent``, or its name is taken there.
        """
        existing = await self._find(path)
        if parent:
            await self._find(parent)
        goal = folder_path([*folder_names(parent), existing.name])
        if goal != path and await self._find_any(goal):
            raise InputError("The list “{path}” already exists.", path=goal)
        edited = await self.rename(path, goal) if goal != path else None
        await self._rearrange(lambda lists: placed(lists, goal, before))
        return edited

    async def set_colour(self, path: str, colour: ListColour) -> None:
        """Change the colour of a list.

        Raises:
            NotFound: there is no such list.
        """
        await self._find(path)
        await self._rearrange(
            lambda lists: [
                replace(each, colour=colour) if each.path == path else each for each in lists
            ]
        )

    async def order(self, path: str, refs: Sequence[str], position: ListPosition) -> Edited:
        """Move entries within a list.

        Raises:
            NotFound: there is no such list, or an entry is not in it.
        """
        await self._find(path)
        async with self._db.read() as conn:
            rows = await tags_and_lists.members_in_order(conn, path)
            moved = {(await find_entry(conn, each))[0] for each in refs}
        if not moved <= dict(rows).keys():
            raise NotFound("Some of these entries are not in “{path}”.", path=path)
        places = _places(rows, moved, position)

        def become(row: int, annotation: Annotation) -> Annotation:
            return annotation.in_lists({**annotation.lists, path: places[row]})

        return await self._editing.apply_to_all(row_id_batches([*places]), become)

    async def keep_counts_current(self) -> None:
        """Update the counts after lists are viewed, without end."""
        while True:
            await self._is_viewed.wait()
            self._is_viewed.clear()
            await self.count()
            self._is_slow = False
            await asyncio.sleep(RECOUNT_SECONDS)

    async def count(self) -> None:
        """Update the counts of saved searches and of entries that are in several nested lists."""
        async with self._db.read() as conn:
            lists = tuple(await tags_and_lists.all_lists(conn))
            if lists != self._duplicates_of:
                duplicates = duplicate_counts(await tags_and_lists.entries_in_several_lists(conn))
                self._duplicates, self._duplicates_of = frozenset(duplicates.items()), lists
        for each in [each for each in lists if each.query][:MAX_SEARCHES]:
            # A search saved by another version may be invalid in this one.
            with suppress(InvalidQuery):
                summary = await self._search.summary(ListingQuery(q=each.query))
                self._counted[each.query] = (summary.count, summary.has_more)

    def _with_count(self, saved_search: EntryList) -> EntryList:
        if not saved_search.query or saved_search.query not in self._counted:
            return saved_search
        count, is_more = self._counted[saved_search.query]
        return replace(saved_search, count=count, is_more=is_more)

    async def _find(self, path: str) -> EntryList:
        found_list = await self._find_any(path)
        if found_list is None:
            raise NotFound("There is no list “{path}”.", path=path)
        return found_list

    async def _find_any(self, path: str) -> EntryList | None:
        async with self._db.read() as conn:
            lists = as_tree(await tags_and_lists.all_lists(conn))
        return next((each for each in lists if each.path == path), None)

    async def _refuse_too_deep(self, path: str, goal: str) -> None:
        """Raise ``InputError`` if moved lists would be nested deeper than ``MAX_DEPTH``."""
        async with self._db.read() as conn:
            lists = await tags_and_lists.all_lists(conn)
        moved = (moved_path(each.path, path, goal) for each in lists if is_within(each.path, path))
        if any(len(folder_names(each)) > MAX_DEPTH for each in moved):
            raise InputError("Lists can be nested at most {most} levels deep.", most=MAX_DEPTH)

    async def _apply_within(
        self, path: str, become: Callable[[int, Annotation], Annotation]
    ) -> Edited:
        """Change all entries of a list and its nested lists, as one edit."""
        query = ListingQuery(q=query_text(FieldCondition(Condition.LIST, f"{unquoted(path)}/")))
        async with self._db.read() as conn:
            batches = matching_entries(conn, query, limit=BATCH)
            return await self._editing.apply_to_all(batches, become)

    async def _rearrange(self, become: Callable[[list[EntryList]], Iterable[EntryList]]) -> None:
        async with self._db.write() as conn:
            await _arrange(conn, become(as_tree(await tags_and_lists.all_lists(conn))))
        self._on_changed()


async def _arrange(conn: AsyncConnection, lists: Iterable[EntryList]) -> None:
    await tags_and_lists.arrange(conn, with_parents(lists))
    await tags_and_lists.add_pending_record(conn)


@lru_cache(1)
def _tree(
    lists: tuple[EntryList, ...], duplicates: frozenset[tuple[str, int]]
) -> tuple[EntryList, ...]:
    """Return lists in tree order, cached until they change."""
    return tuple(with_nested_counts(as_tree(lists), dict(duplicates)))


def _path(path: str) -> str:
    """Normalise a path.

    Raises:
        InputError: the path is empty or too long.
    """
    if len(path) > MAX_TYPED:
        raise InputError("The name of a list can have at most {most} characters.", most=MAX_TYPED)
    clean = clean_paths([path])
    if not clean:
        raise InputError("Enter a name for the list.")
    return clean[0]


def _renamed(lists: Iterable[EntryList], path: str, goal: str) -> list[EntryList]:
    """Rename a list and its nested lists; keep the first of several lists with the same path."""
    by_path: dict[str, EntryList] = {}
    for each in lists:
        name = moved_path(each.path, path, goal)
        by_path.setdefault(name, replace(each, path=name))
    return list(by_path.values())


def _places(
    rows: Sequence[tuple[int, int]], moved: set[int], position: ListPosition
) -> dict[int, int]:
    """Return the new sort keys by row id.

    Only the moved rows get new keys, unless there is no gap for them between the keys of the other
    rows. Then all rows get new keys.
    """
    block = [row for row, _ in rows if row in moved]
    remaining = [each for each in rows if each[0] not in moved]
    if not block or not remaining:
        return {}
    before = next(n for n, (row, _) in enumerate(rows) if row in moved)
    at = {
        ListPosition.FIRST: 0,
        ListPosition.UP: max(before - 1, 0),
        ListPosition.DOWN: min(before + 1, len(remaining)),
        ListPosition.LAST: len(remaining),
    }[position]
    low = remaining[at - 1][1] if at else remaining[0][1] - tags_and_lists.STEP * (len(block) + 1)
    high = remaining[at][1] if at < len(remaining) else low + tags_and_lists.STEP * (len(block) + 1)
    step = (high - low) // (len(block) + 1)
    if step and low + step > 0 and high <= MAX_PLACE:
        return {row: low + step * n for n, row in enumerate(block, 1)}
    put = [*(row for row, _ in remaining[:at]), *block, *(row for row, _ in remaining[at:])]
    return {row: tags_and_lists.MIDDLE + tags_and_lists.STEP * n for n, row in enumerate(put)}


SHOWN_TAGS = 12


@dataclass(frozen=True, slots=True)
class Activity:
    """Progress of the crawl since its queue was last empty.

    Attributes:
        open, saved, failed: number of jobs in each state; those of paused imports are not open.
        is_paused: whether fetching is paused, or all jobs are of paused imports.
        seconds_left: estimated seconds until all jobs are finished; None if unknown.
    """

    open: int = 0
    saved: int = 0
    failed: int = 0
    is_paused: bool = False
    seconds_left: int | None = None

    @property
    def done(self) -> int:
        """Number of finished jobs."""
        return self.saved + self.failed

    @property
    def total(self) -> int:
        """Number of all jobs."""
        return self.open + self.done


@dataclass(frozen=True, slots=True)
class Navigation:
    """Lists, most used tags with their counts, and the number of unread entries."""

    lists: tuple[EntryList, ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    unread: int = 0


class NavigationData:
    """Reader of the data of the navigation."""

    def __init__(self, db: Database, lists: EntryLists) -> None:
        self._db = db
        self._lists = lists
        self._idle = QueueCounts()
        self._has_counted = False
        self._unread = 0
        self._unread_in: object = None

    async def read(self) -> Navigation:
        """Return the current data.

        Unread entries are counted after a change, and every ``RECOUNT_SECONDS``: counting a million
        takes longer than the rest of a page.
        """
        lists = await self._lists.all()
        async with self._db.read() as conn:
            tags = await tags_and_lists.most_used(conn, SHOWN_TAGS)
            period = monotonic() // RECOUNT_SECONDS
            state = period, await counters.all_counters(conn), await edit_history.state(conn)
            if state != self._unread_in:
                self._unread, self._unread_in = await entries.count_unread(conn), state
            return Navigation(lists, tuple(tags), self._unread)

    async def activity(self) -> Activity:
        """Return the progress of the crawl since its queue was last empty."""
        async with self._db.read() as conn:
            counts = await jobs.queue_counts(conn)
            paused = await imports.paused_captures(conn) if counts.open else 0
            open_ = max(counts.open - paused, counts.fetching)
            is_paused = await jobs.is_paused(conn) or (paused > 0 and not open_)
            pace = await jobs.seconds_per_job(conn, datetime.now(UTC)) if open_ else None
        seconds_left = None if pace is None or is_paused else round(open_ * pace)
        if not open_ or not self._has_counted:
            self._idle, self._has_counted = counts, True
        saved, failed = counts.saved - self._idle.saved, counts.failed - self._idle.failed
        return Activity(open_, max(saved, 0), max(failed, 0), is_paused, seconds_left)
