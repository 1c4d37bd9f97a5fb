"""Data of the navigation that every page shows."""

from dataclasses import dataclass

from archiver.db import entries, jobs, tags_and_lists
from archiver.db.engine import Database
from archiver.model.entry_list import EntryList
from archiver.model.job import QueueCounts
from archiver.services.lists import EntryLists

SHOWN_TAGS = 12


@dataclass(frozen=True, slots=True)
class Activity:
    """Progress of the crawl since its queue was last empty.

    Attributes:
        open, saved, failed: jobs by state.
        is_paused: whether fetching is paused.
    """

    open: int = 0
    saved: int = 0
    failed: int = 0
    is_paused: bool = False

    @property
    def done(self) -> int:
        """Finished jobs."""
        return self.saved + self.failed

    @property
    def total(self) -> int:
        """All jobs."""
        return self.open + self.done


@dataclass(frozen=True, slots=True)
class Navigation:
    """Lists, most used tags with their counts, and the number of unread entries."""

    lists: tuple[EntryList, ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    unread: int = 0


class NavigationData:
    """Reads the data of the navigation."""

    def __init__(self, db: Database, lists: EntryLists) -> None:
        self._db = db
        self._lists = lists
        self._idle = QueueCounts()
        self._has_counted = False

    async def read(self) -> Navigation:
        """Return the current data."""
        lists = await self._lists.all()
        async with self._db.read() as conn:
            tags = await tags_and_lists.most_used(conn, SHOWN_TAGS)
            return Navigation(lists, tuple(tags), await entries.count_unread(conn))

    async def activity(self) -> Activity:
        """Return the progress of the crawl; jobs that ended before an empty queue don't count."""
        async with self._db.read() as conn:
            counts = await jobs.queue_counts(conn)
            is_paused = await jobs.is_paused(conn)
        if not counts.open or not self._has_counted:
            self._idle, self._has_counted = counts, True
        saved, failed = counts.saved - self._idle.saved, counts.failed - self._idle.failed
        return Activity(counts.open, max(saved, 0), max(failed, 0), is_paused)
