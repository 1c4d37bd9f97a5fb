"""Takes up what a killed process left: torn tails, records without rows, leases.

A process is dead when nobody holds its run lock. Its segments are cut back to their last complete
record, what the index has not read of them is indexed, which ends the jobs whose statements are
there; only then do its remaining jobs go back into the queue.
"""

import asyncio
from datetime import UTC, datetime

import structlog

from archiver.index import queue, segments
from archiver.index.database import Database
from archiver.ledger.rebuild import build_within
from archiver.store import scanning
from archiver.store.segments import SegmentStore

log = structlog.get_logger()


async def recover(db: Database, store: SegmentStore) -> None:
    """Recover everything that belongs to no living process. Safe to call at any time.

    Raises:
        StoreError: a segment can't be read or cut.
    """
    async with db.read() as conn:
        indexed = await segments.indexed(conn)
        owners = await queue.owners(conn)
    left = await asyncio.to_thread(_cut_tails, store, indexed)
    dead = [owner for owner in owners if not store.lock.is_alive(owner)]
    await asyncio.to_thread(store.lock.sweep)
    if not left and not dead:
        return
    async with db.write() as conn:
        now_indexed = await segments.indexed(conn)
        tails = {
            name: now_indexed.get(name, 0)
            for name, size in left.items()
            if size > now_indexed.get(name, 0)
        }
        rebuilt = await build_within(conn, store, tails)
        for owner in dead:
            held = await queue.held_by(conn, owner)
            await queue.requeue(conn, held, interrupted=True, now=datetime.now(UTC))
    log.info("recovered", segments=len(tails), snapshots=rebuilt.snapshots, processes=len(dead))


def _cut_tails(store: SegmentStore, indexed: dict[str, int]) -> dict[str, int]:
    """Cut torn tails; return the sizes of the dead's segments that hold more than is indexed."""
    left = {}
    for found in scanning.segments(store.directory):
        start = indexed.get(found.name, 0)
        path = store.directory / found.name
        if found.size <= start or store.lock.is_alive(found.writer):
            continue
        size = scanning.cut_torn_tail(path, from_offset=start)
        if size > start:
            left[found.name] = size
    return left
