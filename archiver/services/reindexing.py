"""Builds the index again from the WARC files, and carries over what only the old one knew.

The one thing that is in no segment is the queue: wishes that no attempt was made for yet. They are
taken from the old index where it can still be read.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter

from archiver.crawl.rebuild import Rebuilt, build
from archiver.index import imports, queue, wishes
from archiver.index.database import Database
from archiver.services.fixity import Finding
from archiver.store import recovery
from archiver.store.segments import SegmentStore

CHUNK = 1000


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What was built, what was carried over, and what could not be used."""

    segments: int
    records: int
    captures: int
    snapshots: int
    queued: int
    problems: tuple[Finding, ...]


async def build_index(
    db: Database,
    store: SegmentStore,
    old: Database | None,
    on_progress: Callable[[Rebuilt], None] = lambda _: None,
) -> ReindexReport:
    """Fill an empty index from every segment; ``old`` is the one it takes the place of.

    Raises:
        StoreError: a segment can't be read.
    """
    found = await asyncio.to_thread(recovery.segments, store.directory)
    for each in found:
        await asyncio.to_thread(recovery.cut_torn_tail, store.directory / each.name, from_offset=0)
    async with db.write() as conn:
        told = await build(conn, store, {each.name: 0 for each in found}, on_progress)
    queued = await _carry_over(old, db) if old else 0
    problems = tuple(
        Finding(f"{place.segment} at byte {place.offset:,}", problem)
        for place, problem in told.problems
    )
    return ReindexReport(len(found), told.records, told.captures, told.snapshots, queued, problems)


async def _carry_over(old: Database, new: Database) -> int:
    """Take open wishes and unfinished imports over; return how many wishes."""
    async with old.read() as conn:
        left = await imports.unfinished(conn)
    async with new.write() as conn:
        for each in left:
            await imports.restore(conn, each, now=datetime.now(UTC))
    after = count = 0
    while True:
        async with old.read() as conn:
            found, after = await queue.open_wishes(conn, after, limit=CHUNK)
        if not found:
            return count
        async with new.write() as conn:
            for moment, group in groupby(found, key=itemgetter(0)):
                made = [wish for _, wish in group]
                await wishes.receive(conn, made, now=moment, recapture=False)
        count += len(found)
