"""Checks that a reindex loses nothing that the current index knows.

Segments can be missing for harmless reasons: a disk that is not mounted, the wrong folder, an
object store that lists too little. An index built without them would lack their entries, so
``reindexing`` refuses unless the user accepts that.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from archiver.errors import RecordsMissing
from archiver.index import entries, segments
from archiver.index.database import Database
from archiver.services.stretches import stretches
from archiver.store.editions import is_replaced
from archiver.store.segments import SegmentStore
from archiver.store.survey import Survey

MOST_NAMED = 10
_WHAT_TO_DO = (
    "The current index was left as it is. Mount the disk, correct --data or ARCHIVER_STORE, or "
    "restore the segments from a backup, then run `archiver reindex` again. To build an index "
    "without what they held, run `archiver reindex --accept-missing`."
)
_NO_SEGMENTS = (
    "There are no segments in {place}, but there is an index, which can't be read. " + _WHAT_TO_DO
)
_MISSING = "{count} segments that the current index uses can't be read:\n{segments}\n" + _WHAT_TO_DO
_LOST = (
    "The segments hold {entries} entries and {snapshots} snapshots less than the current index: "
    "some records are damaged, see `archiver verify`. " + _WHAT_TO_DO
)


@dataclass(frozen=True, slots=True)
class Losses:
    """Entries and snapshots of one index that another one lacks."""

    entries: int
    snapshots: int

    def __bool__(self) -> bool:
        return bool(self.entries or self.snapshots)


async def require_segments(old: Database, store: SegmentStore) -> None:
    """Check that every segment the current index uses is there, and not shorter than it was.

    Raises:
        RecordsMissing: one is not; the message names it.
        StoreError: the segments can't be listed.
    """
    async with old.read() as conn:
        indexed = await segments.indexed(conn)
    found = await asyncio.to_thread(store.shelf.survey)
    require_readable(dict(_missing(indexed, found)))


def require_any_segment(found: Survey, place: str) -> None:
    """Check that there are segments at all, where an index exists that can't be read.

    Raises:
        RecordsMissing: there are none.
    """
    if not found.segments:
        raise RecordsMissing(_NO_SEGMENTS, place=place)


def require_readable(unreadable: Mapping[str, str]) -> None:
    """Check that there are no segments that can't be read.

    Args:
        unreadable: why each one can't be, by name.

    Raises:
        RecordsMissing: there are some; the message names them.
    """
    if not unreadable:
        return
    named = [f"  {name}: {why}" for name, why in sorted(unreadable.items())]
    if len(named) > MOST_NAMED:
        named[MOST_NAMED:] = [f"  and {len(named) - MOST_NAMED:,} more"]
    raise RecordsMissing(_MISSING, count=len(unreadable), segments="\n".join(named))


async def require_same_entries(old: Database, new: Database) -> None:
    """Check that a new index has every entry and snapshot of the current one.

    Raises:
        RecordsMissing: it has not.
    """
    if losses := await compare(old, new):
        raise RecordsMissing(_LOST, entries=losses.entries, snapshots=losses.snapshots)


async def compare(old: Database, new: Database) -> Losses:
    """Count the entries and snapshots of one index that another one lacks."""
    lost_entries = lost_snapshots = 0
    async for batch in stretches(old, entries.snapshot_counts_after):
        async with new.read() as conn:
            known = await entries.snapshot_counts(conn, [key for key, _ in batch])
        lost_entries += sum(key not in known for key, _ in batch)
        lost_snapshots += sum(max(0, count - known.get(key, 0)) for key, count in batch)
    return Losses(lost_entries, lost_snapshots)


def _missing(indexed: Mapping[str, int], found: Survey) -> Iterator[tuple[str, str]]:
    sizes = {each.name: each.size for each in found.segments}
    unusable = {each.name: each.problem for each in found.passed_by}
    for name, end in indexed.items():
        if not end or name in found.superseded:
            continue
        if name in sizes:
            if sizes[name] < end:
                yield name, f"It has {sizes[name]:,} bytes of at least {end:,}."
        elif name in unusable:
            yield name, unusable[name]
        elif not is_replaced(name, sizes):
            yield name, "It is missing."
