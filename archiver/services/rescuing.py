"""Rescuing: asking public archives for pages that are gone from the web."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from archiver.config import Settings
from archiver.errors import InputError
from archiver.index import entries, oversight, queue, rescues
from archiver.index.database import AsyncConnection, Database
from archiver.model.listing import ListingQuery
from archiver.services.naming import find_entry
from archiver.services.search import matching_entries
from archiver.urls.parse import host

BATCH = 500
OFF = (
    "No public archive may be asked yet, for each question tells it what you read. Name some in "
    "ARCHIVER_RESCUE, such as wayback."
)


class Rescuing:
    """Queues questions to public archives; ``on_queued`` hears of them."""

    def __init__(self, db: Database, settings: Settings, on_queued: Callable[[], None]) -> None:
        self._db = db
        self._gates = settings.rescue
        self._on_queued = on_queued

    @property
    def archives(self) -> tuple[str, ...]:
        """The hosts of the archives that may be asked."""
        return tuple(map(host, self._gates))

    async def rescue(self, refs: Sequence[str]) -> int:
        """Ask for the pages of entries, named by hash_url or URL; how many those are.

        Raises:
            NotFound: one of them is not there; nothing is asked then.
            InputError: no archive may be asked.
        """
        self._refuse_if_off()
        async with self._db.write() as conn:
            numbers = [(await find_entry(conn, each))[0] for each in refs]
            found = await entries.by_ids(conn, numbers)
            wanted = [(number, each.host) for number, each in found.items()]
            return await self._queue(conn, wanted, priority=queue.INTERACTIVE)

    async def rescue_gone(self) -> int:
        """Ask for every page that is gone and of which there is no snapshot; how many those are.

        Raises:
            InputError: no archive may be asked.
        """
        return await self._each(rescues.gone)

    async def rescue_failed_of(self, reason: str) -> int:
        """Ask for the pages that failed for one reason; how many those are.

        Raises:
            InputError: no archive may be asked, or there is no such reason.
        """
        if not reason.strip():
            raise InputError("Say which failures the archives are to be asked for.")
        return await self._each(partial(oversight.failed_of, why=reason))

    async def rescue_found(self, query: ListingQuery) -> int:
        """Ask for what a list shows and of which there is no snapshot; how many those are.

        Raises:
            InvalidQuery: the query can't be read.
            InputError: no archive may be asked.
        """
        self._refuse_if_off()
        count = 0
        async with self._db.read() as conn:
            found = [some async for some in matching_entries(conn, query, limit=BATCH)]
        for some in found:
            async with self._db.write() as conn:
                wanted = await rescues.without_snapshot(conn, some)
                count += await self._queue(conn, wanted, priority=queue.BULK)
        return count

    async def _each(self, find: Callable[..., Awaitable[Sequence[tuple[int, str]]]]) -> int:
        """Ask for all that are found, some at a time."""
        self._refuse_if_off()
        last = count = 0
        while True:
            async with self._db.write() as conn:
                found = await find(conn, after=last, limit=BATCH)
                count += await self._queue(conn, found, priority=queue.BULK)
            if not found:
                return count
            last = found[-1][0]

    def _refuse_if_off(self) -> None:
        if not self._gates:
            raise InputError(OFF)

    async def _queue(
        self, conn: AsyncConnection, wanted: Sequence[tuple[int, str]], *, priority: int
    ) -> int:
        waiting = await rescues.open_jobs(conn, [number for number, _ in wanted])
        fresh = [each for each in wanted if each[0] not in waiting]
        made = await queue.enqueue(conn, fresh, priority=priority, now=datetime.now(UTC))
        await oversight.await_again(conn, [*made])
        await rescues.ask_archives(conn, [*waiting.values(), *made.values()])
        self._on_queued()
        return len(wanted)
