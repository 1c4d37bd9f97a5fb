"""Finishes what a killed compaction began: of two editions of a segment one stays.

The index points at the earlier or at the later one. Where it points at the earlier, the places in
the later are found by record ids, and it is pointed there; where the later lacks something that is
wanted by now, it is the later that goes. Safe to call at any time, by several processes at once.
"""

import asyncio
from collections.abc import Mapping

from archiver.errors import StoreError
from archiver.index import relocation, segments
from archiver.index.database import Database
from archiver.ledger.compaction import compare_editions
from archiver.logs import get_log
from archiver.store.segments import SegmentStore

log = get_log(__name__)


async def settle_editions(db: Database, store: SegmentStore, superseded: Mapping[str, str]) -> None:
    """Remove each of these segments, by their next editions, once nothing needs it."""
    for was, to in superseded.items():
        try:
            holds = await _settle(db, store, was, to)
            await asyncio.to_thread(store.shelf.remove, was if holds else to)
        except StoreError as error:
            log.warning("two editions of a segment left", segment=was, reason=str(error))
        else:
            log.info("compaction finished", segment=to if holds else was)


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
