"""Compares the newest article of each recaptured entry with the one before, from what is stored."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING

from archiver.errors import StoreError
from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.index import comparisons, snapshots
from archiver.index.database import Database
from archiver.index.snapshots import Held
from archiver.store.segments import SegmentStore

if TYPE_CHECKING:
    from archiver.model.comparison import Comparison

STRETCH = 50


async def compare_owed(db: Database, store: SegmentStore) -> int:
    """Make some of the comparisons that are owed; how many."""
    async with db.read() as conn:
        ids = await comparisons.owed(conn, limit=STRETCH)
        held = {each: await snapshots.of_entry(conn, each, limit=2) for each in ids}
    if ids:
        found = [
            (number, _latest(each), await asyncio.to_thread(_hundredths, store, each))
            for number, each in held.items()
        ]
        async with db.write() as conn:
            await comparisons.settle(conn, found)
    return len(ids)


def _latest(held: Sequence[Held]) -> int:
    return int(held[0].snapshot.timestamp) if held else 0


def _hundredths(store: SegmentStore, held: Sequence[Held]) -> int:
    """By how many hundredths of its words an article differs from the one before: 0 to 100."""
    if len(held) < 2 or held[0].snapshot.article == held[1].snapshot.article:
        return 0
    if not all(each.snapshot.extractor for each in held):
        return 0
    compare = import_module("archiver.html.comparison").compare  # of a page that came again alone
    change: Comparison = compare(_text(store, held[1]), _text(store, held[0]))
    differing = max(change.put_in, change.taken_out)
    return min(ceil(100 * differing / change.words), 100) if change.words else 0


def _text(store: SegmentStore, held: Held) -> str:
    place = held.snapshot.article
    if place is None:
        return ""
    try:
        return to_text(read_article_document(store.read(place).block.read())[1])
    except StoreError:
        return ""
