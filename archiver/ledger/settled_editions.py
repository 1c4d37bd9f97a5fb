"""Completes interrupted compactions: keeps one of two versions of a segment.

The index refers to the earlier version or to the later one. If it refers to the earlier version,
records are looked up in the later one by id and the index is switched to it. If the later version
lacks a record that is wanted by now, the later version is removed.

Safe to call at any time, also by several processes at once.
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
    """Remove each replaced version of a segment once nothing refers to it."""
    for was, to in superseded.items():
        await _settle_edition(db, store, was, to)


async def _settle_edition(db: Database, store: SegmentStore, was: str, to: str) -> None:
    try:
        holds = await _settle(db, store, was, to)
        await asyncio.to_thread(store.shelf.remove, was if holds else to)
    except StoreError as error:
        log.warning("two editions of a segment left", segment=was, reason=str(error))
    else:
        log.info("compaction finished", segment=to if holds else was)


async def _settle(db: Database, store: SegmentStore, was: str, to: str) -> bool:
    """Switch the index to the later version; return whether that was possible."""
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
