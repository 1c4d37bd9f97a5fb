"""Takes up what the dead left: indexes what they wrote, and gives back what they held."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from archiver.index import queue, segments
from archiver.index.database import Database
from archiver.ledger.rebuild import build_within
from archiver.logs import get_log
from archiver.store.segments import SegmentStore
from archiver.store.survey import PassedBy

LOGGED = 20

log = get_log(__name__)


async def take_up(
    db: Database, store: SegmentStore, left: Mapping[str, int], dead: Sequence[str]
) -> list[PassedBy]:
    """Index what the dead wrote, requeue what they held; return the segments that can't be read."""
    async with db.write() as conn:
        indexed = await segments.indexed(conn)
        tails = {
            name: indexed.get(name, 0) for name, size in left.items() if size > indexed.get(name, 0)
        }
        rebuilt = await build_within(conn, store, tails)
        for owner in dead:
            held = await queue.held_by(conn, owner)
            await queue.requeue(conn, held, owner=owner, interrupted=True, now=datetime.now(UTC))
    for place, why in rebuilt.problems[:LOGGED]:
        log.warning("damage passed over", segment=place.segment, offset=place.offset, problem=why)
    if dead or rebuilt.captures or rebuilt.snapshots:
        log.info("recovered", segments=len(tails), snapshots=rebuilt.snapshots, processes=len(dead))
    return [PassedBy(name, why, is_loss=True) for name, why in rebuilt.unreadable.items()]
