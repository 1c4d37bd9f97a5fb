"""Finishes what a killed compaction or joining began: of two editions of a segment one stays.

The index points at the earlier or at the later one. Where it points at the earlier, the places in
the later are found by record ids, and it is pointed there; where the later lacks something that is
wanted by now, it is the later that goes. Of joined segments the index knows all or none of what
they hold: where it does not know one, that goes again, if all its parts are there.

Safe to call at any time, by several processes at once.
"""

import asyncio
from collections.abc import Mapping, Sequence

from archiver.errors import StoreError
from archiver.index import relocation, segments
from archiver.index.database import Database
from archiver.ledger.compaction import compare_editions
from archiver.logs import get_log
from archiver.store.editions import is_joined, is_made_of, serials_of
from archiver.store.segments import SegmentStore

log = get_log(__name__)


async def settle_editions(db: Database, store: SegmentStore, superseded: Mapping[str, str]) -> None:
    """Remove each of these segments, by what is there in its place, once nothing needs it."""
    joined: dict[str, list[str]] = {}
    for was, to in superseded.items():
        if serials_of(was) == serials_of(to):
            await _settle_edition(db, store, was, to)
        else:
            joined.setdefault(to, []).append(was)
    for to, others in joined.items():
        await _settle_joined(db, store, to, others)


async def _settle_edition(db: Database, store: SegmentStore, was: str, to: str) -> None:
    try:
        holds = await _settle(db, store, was, to)
        await asyncio.to_thread(store.shelf.remove, was if holds else to)
    except StoreError as error:
        log.warning("two editions of a segment left", segment=was, reason=str(error))
    else:
        log.info("compaction finished", segment=to if holds else was)


async def _settle_joined(
    db: Database, store: SegmentStore, place: str, others: Sequence[str]
) -> None:
    """Remove what a joined segment holds, or that one itself; or one that came to nothing.

    What came to nothing is the joined one itself, or an edition of a part of it that a compaction
    had written when it was killed, before the index knew.
    """
    async with db.write() as conn:
        indexed = await segments.indexed_of(conn, [place, *others])
        is_nothing = is_made_of(place, others) if is_joined(place) else bool(indexed)
        if place not in indexed and is_nothing:
            # Whoever joins looks whether it is still there before the index is pointed at it.
            await asyncio.to_thread(store.shelf.remove, place)
    if place in indexed:
        for name in set(others) - indexed.keys():
            await asyncio.to_thread(store.shelf.remove, name)


async def _settle(db: Database, store: SegmentStore, was: str, to: str) -> bool:
    """Point the index at the later edition; whether it can be."""
    async with db.write() as conn:
        indexed = await segments.indexed(conn)
        if was not in indexed:
            return True
        moved = await asyncio.to_thread(compare_editions, store, was, to)
        wanted = await relocation.wanted(conn, was)
        if not wanted <= {each.old for each in moved}:
            return False
        size = await asyncio.to_thread(store.shelf.size, to)
        await relocation.switch(conn, was, to, moved, size=size)
    return True
