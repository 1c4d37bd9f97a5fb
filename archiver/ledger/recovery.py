"""Takes up what a killed process left: torn ends, records without rows, leases.

A process is dead when nobody holds its run lock. The torn end of its last segment is put beside
it, what the index has not read is indexed, which ends the jobs whose entry records are there; only
then do its remaining jobs go back into the queue. Files that it was reading wait, or are ended
(``interrupted_imports``). A file that can't be used is named and passed by.

Every command begins with it and seldom finds anything: what mends is large, and loaded only then.
"""

import asyncio
from collections.abc import Mapping, Sequence
from importlib import import_module

from archiver.errors import StoreError
from archiver.index import owners, segments
from archiver.index.database import Database
from archiver.ledger.dead_writers import dead_among
from archiver.logs import get_log
from archiver.store.segments import SegmentStore
from archiver.store.survey import PassedBy, SegmentFile, Survey

log = get_log(__name__)


async def recover(db: Database, store: SegmentStore) -> None:
    """Recover everything that belongs to no living process. Safe to call at any time.

    Raises:
        StoreError: the directory of the segments, or the index, can't be read.
    """
    async with db.read() as conn:
        indexed = await segments.indexed(conn)
        holders, readers = await owners.of_jobs(conn), await owners.of_imports(conn)
    dead = await dead_among(holders, db, store.lock)
    found = await asyncio.to_thread(store.shelf.survey_here)
    if found.superseded:
        settling = import_module("archiver.ledger.settled_editions")
        await settling.settle_editions(db, store, found.superseded)
        found = await asyncio.to_thread(store.shelf.survey_here)
        async with db.read() as conn:
            indexed = await segments.indexed(conn)
    left, uncut = await asyncio.to_thread(_cut_torn_ends, store, found.segments, indexed)
    if readers:
        settling = import_module("archiver.ledger.interrupted_imports")
        await settling.settle_interrupted(db, store.lock)
    await asyncio.to_thread(store.lock.sweep)
    unreadable = await _take_up(db, store, left, dead)
    _keep(store, found, (*uncut, *unreadable))


async def settle_everywhere(db: Database, store: SegmentStore) -> None:
    """Finish what a killed compaction began, wherever segments lie; ``recover`` looks here alone.

    Raises:
        StoreError: the segments can't be listed.
    """
    found = await asyncio.to_thread(store.shelf.survey)
    if found.superseded:
        settling = import_module("archiver.ledger.settled_editions")
        await settling.settle_editions(db, store, found.superseded)


async def _take_up(
    db: Database, store: SegmentStore, left: Mapping[str, int], dead: Sequence[str]
) -> list[PassedBy]:
    """Index what was left, where anything was."""
    if not (left or dead):
        return []
    orphans = import_module("archiver.ledger.orphans")
    unreadable: list[PassedBy] = await orphans.take_up(db, store, left, dead)
    return unreadable


def _cut_torn_ends(
    store: SegmentStore, found: Sequence[SegmentFile], indexed: Mapping[str, int]
) -> tuple[dict[str, int], list[PassedBy]]:
    """Cut the torn ends of the dead.

    Returns:
        The sizes of the segments that hold more than is indexed; those that can't be read or cut.
    """
    left, uncut = {}, []
    for each in found:
        start = indexed.get(each.name, 0)
        if each.size <= start or store.lock.is_alive(each.writer):
            continue
        is_known = start > 0 or store.lock.left_behind(each.writer)
        left[each.name] = each.size
        try:
            left[each.name] = store.shelf.cut_torn_end(
                each.name, from_offset=start, is_writer_known=is_known
            )
        except StoreError as error:
            uncut.append(PassedBy(each.name, str(error), is_loss=True))
    return {name: size for name, size in left.items() if size > indexed.get(name, 0)}, uncut


def _keep(store: SegmentStore, found: Survey, more: Sequence[PassedBy]) -> None:
    """Keep for whoever asks what was found; tell of what can't be used, once."""
    known = set(store.shelf.passed_by)
    passed_by = {each.name: each for each in (*found.passed_by, *more)}
    store.shelf.passed_by = tuple(passed_by[name] for name in sorted(passed_by))
    for each in store.shelf.passed_by:
        if each not in known:
            log.warning("file passed by", file=each.name, problem=each.problem)
