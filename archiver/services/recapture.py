"""Recapture of incomplete pages, and recovery from public archives."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus

from archiver.config import Settings
from archiver.crawl.stored_content import snapshot_record_of
from archiver.db import crawl_status, entries, jobs, queue, snapshots
from archiver.db.engine import AsyncConnection, Database
from archiver.db.statements import in_batches
from archiver.errors import InputError, StoreError
from archiver.http.urls import host
from archiver.model.listing import ListingQuery
from archiver.services.entries import Entries, find_entry
from archiver.services.search import matching_entries
from archiver.warc.metadata_records import SnapshotRecord
from archiver.warc.segments import SegmentStore

BATCH = 500
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
AUTOMATIC = ""
"""Source of recaptures: empty, so that entries from feeds keep the feed as their source."""


class Recaptures:
    """Recapture of entries with problems."""

    def __init__(self, db: Database, store: SegmentStore, to_save: Entries) -> None:
        self._db = db
        self._store = store
        self._entries = to_save

    async def gaps(self) -> tuple[int, int]:
        """Queue entries with incomplete newest snapshots; return the numbers queued and skipped.

        An entry is skipped if the server returned 404 or 410 for all missing requisites of its
        newest snapshot, both in this snapshot and in the one before.
        """
        queued = lost = 0
        async for urls in in_batches(self._db, entries.with_gaps, most=BATCH):
            async with self._db.read() as conn:
                rows = {each: await snapshots.of_entry(conn, each, limit=2) for each in urls}
            unrecoverable = await asyncio.to_thread(self._unrecoverable, rows)
            if recoverable := [url for each, url in urls.items() if each not in unrecoverable]:
                await self._entries.save(recoverable, source=AUTOMATIC)
            queued, lost = queued + len(recoverable), lost + len(unrecoverable)
        return queued, lost

    async def entries(self, refs: Sequence[str]) -> int:
        """Queue entries by hash_url or URL; return their number.

        Raises:
            NotFound: an entry does not exist; then no entry is queued.
        """
        async with self._db.read() as conn:
            numbers = [(await find_entry(conn, each))[0] for each in refs]
        return await self._save(numbers)

    async def matching(self, query: ListingQuery) -> int:
        """Queue all results of a search; return their number.

        Raises:
            InvalidQuery: the query can't be parsed.
        """
        async with self._db.read() as conn:
            batches = [batch async for batch in matching_entries(conn, query, limit=BATCH)]
        return sum([await self._save(batch) for batch in batches])

    async def _save(self, numbers: Sequence[int]) -> int:
        async with self._db.read() as conn:
            entries_by_id = await entries.by_ids(conn, numbers)
        if entries_by_id:
            await self._entries.save(
                [each.url for each in entries_by_id.values()], source=AUTOMATIC
            )
        return len(entries_by_id)

    async def unrendered(self) -> int:
        """Queue entries that need a browser but were not rendered; return their number."""
        queued = 0
        async for urls in in_batches(self._db, entries.unrendered, most=BATCH):
            await self._entries.save([*urls.values()], source=AUTOMATIC, render=True)
            queued += len(urls)
        return queued

    async def below(self, score: int, *, render: bool) -> int:
        """Queue entries whose quality score is below ``score``, lowest first; return their number.

        Args:
            score: score in percent; only entries below it are queued.
            render: whether to render the entries in a browser.
        """
        queued, scored = 0, partial(snapshots.scored_below, score=score)
        async for urls in in_batches(self._db, scored, after=(-1, 0), most=BATCH):
            await self._entries.save(urls, source=AUTOMATIC, render=render)
            queued += len(urls)
        return queued

    def _unrecoverable(self, newest_rows: dict[int, list[snapshots.SnapshotRow]]) -> set[int]:
        return {number for number, each in newest_rows.items() if self._is_unrecoverable(each)}

    def _is_unrecoverable(self, newest_rows: Sequence[snapshots.SnapshotRow]) -> bool:
        with suppress(StoreError):
            lost = [_lost(snapshot_record_of(self._store, each)[0]) for each in newest_rows]
            return (
                len(lost) > 1
                and None not in lost[0].values()
                and lost[0].items() <= lost[1].items()
            )
        return False


def _lost(record: SnapshotRecord) -> dict[str, int | None]:
    """Return the missing requisites by URL: the status if it is 404 or 410, else None."""
    return {
        each.url: each.status if each.status in GONE else None
        for each in record.requisites
        if each.is_missing
    }


OFF = (
    "Archive lookup is off, because it tells public archives what you read. Choose "
    "archives under “Public archives” in Settings."
)


class PublicArchiveRecovery:
    """Recovery of pages from public archives; ``on_queued`` is called after entries are queued."""

    def __init__(self, db: Database, settings: Settings, on_queued: Callable[[], None]) -> None:
        self._db = db
        self._gates = settings.rescue
        self._on_queued = on_queued

    @property
    def archives(self) -> tuple[str, ...]:
        """Hosts of the configured public archives."""
        return tuple(map(host, self._gates))

    async def rescue(self, refs: Sequence[str]) -> int:
        """Queue the recovery of entries by hash_url or URL; return their number.

        Raises:
            NotFound: an entry does not exist; then no entry is queued.
            InputError: no archive is configured.
        """
        self._refuse_if_off()
        async with self._db.write() as conn:
            numbers = [(await find_entry(conn, each))[0] for each in refs]
            by_id = await entries.by_ids(conn, numbers)
            pairs = [(number, each.host) for number, each in by_id.items()]
            return await self._queue(conn, pairs, priority=queue.INTERACTIVE)

    async def rescue_any(self, refs: Sequence[str] | None, query: str | None) -> int:
        """Queue the given entries, else the results of a search, else all missing pages.

        Missing pages are entries without a snapshot whose page no longer exists.

        Raises:
            NotFound: an entry does not exist; then no entry is queued.
            InvalidQuery: the query can't be parsed.
            InputError: no archive is configured.
        """
        if refs:
            return await self.rescue(refs)
        if query:
            return await self.rescue_found(ListingQuery(query))
        return await self._each(jobs.with_page_gone)

    async def rescue_failed_of(self, reason: str) -> int:
        """Queue the entries that failed for the given reason; return their number.

        Raises:
            InputError: no archive is configured, or the reason is empty.
        """
        if not reason.strip():
            raise InputError("Choose the failures to look up in public archives.")
        return await self._each(partial(crawl_status.failed_of, why=reason))

    async def rescue_found(self, query: ListingQuery) -> int:
        """Queue the search results that failed and have no snapshot; return their number.

        Raises:
            InvalidQuery: the query can't be parsed.
            InputError: no archive is configured.
        """
        self._refuse_if_off()
        count = 0
        async with self._db.read() as conn:
            batches = [batch async for batch in matching_entries(conn, query, limit=BATCH)]
        for batch in batches:
            async with self._db.write() as conn:
                failed = await jobs.without_snapshot(conn, batch)
                count += await self._queue(conn, failed, priority=queue.BULK)
        return count

    async def _each(self, find: Callable[..., Awaitable[Sequence[tuple[int, str]]]]) -> int:
        """Queue all entries that ``find`` returns, in batches; return their number."""
        self._refuse_if_off()
        last = count = 0
        while True:
            async with self._db.write() as conn:
                batch = await find(conn, after=last, limit=BATCH)
                count += await self._queue(conn, batch, priority=queue.BULK)
            if not batch:
                return count
            last = batch[-1][0]

    def _refuse_if_off(self) -> None:
        if not self._gates:
            raise InputError(OFF)

    async def _queue(
        self, conn: AsyncConnection, entries: Sequence[tuple[int, str]], *, priority: int
    ) -> int:
        waiting = await jobs.open_jobs(conn, [number for number, _ in entries])
        fresh = [each for each in entries if each[0] not in waiting]
        new_jobs = await queue.enqueue(conn, fresh, priority=priority, now=datetime.now(UTC))
        await crawl_status.set_queued(conn, [*new_jobs])
        await jobs.mark_for_recovery(conn, [*waiting.values(), *new_jobs.values()])
        self._on_queued()
        return len(entries)
