"""Scores snapshots that an older version of the index had, from their records."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from archiver.errors import ArchiverError
from archiver.html.score import score_of
from archiver.index import scores
from archiver.index.database import Database
from archiver.ledger.snapshot_records import read_snapshot_record
from archiver.model.appearance import WHOLE
from archiver.model.capture import Location
from archiver.store.segments import SegmentStore

STRETCH = 250


async def score_owed(db: Database, store: SegmentStore) -> int:
    """Score some of those that nobody scored yet; how many."""
    async with db.read() as conn:
        places = await scores.unscored(conn, limit=STRETCH)
    if places:
        found = await asyncio.to_thread(_scored, store, places)
        async with db.write() as conn:
            await scores.settle(conn, found)
    return len(places)


def _scored(store: SegmentStore, places: Mapping[int, Location]) -> list[tuple[int, int]]:
    return [(row_id, _score(store, place)) for row_id, place in places.items()]


def _score(store: SegmentStore, place: Location) -> int:
    """The score that a record tells of; one that can't be read tells of no flaw."""
    with suppress(ArchiverError):
        kept = read_snapshot_record(store, place)
        return score_of(kept.rendering, kept.requisites, kept.appearance).hundredths
    return WHOLE
