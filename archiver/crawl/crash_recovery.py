"""Recovery after a crash: unindexed records, leases and interrupted imports.

With SQLite all processes are on one machine, and a dead one has released the lock on its file in
``run/``. On a server a dead one has released its worker lock (``index.worker_locks``).

A process that reads a file of links or captures owns the import, by the name of its run lock. A
file that is kept here waits for the next service; of any other, a person is told what was read of
it, and what to do.

A process is dead when nobody holds its run lock. The torn end of its last segment is put beside
it, what the index has not read is indexed, which ends the jobs whose entry records are there; only
then do its remaining jobs go back into the queue. Files that it was reading wait, or are ended
(``interrupted_imports``). A file that can't be used is named and passed by.

Every command begins with it and seldom finds anything: what mends is large, and loaded only then.
"""

import asyncio
from collections.abc import Mapping, Sequence
from importlib import import_module

from archiver.db import imports, queue, segment_rows
from archiver.db.engine import Database
from archiver.db.worker_locks import alive_workers
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.warc.locks import RunLock
from archiver.warc.segment_inventory import PassedBy, SegmentFile, Survey
from archiver.warc.segments import SegmentStore


async def dead_among(names: Sequence[str], db: Database, lock: RunLock) -> list[str]:
    """Return the dead ones among these processes, which must have been read before."""
    others = [name for name in names if name != lock.name]
    if not others:
        return []
    if not db.is_shared:
        return await asyncio.to_thread(_not_held, others, lock)
    async with db.read() as conn:
        alive = await alive_workers(conn)
    return await asyncio.to_thread(db.given_up.among, others, alive, lock.left_behind)


def _not_held(names: Sequence[str], lock: RunLock) -> list[str]:
    return [name for name in names if not lock.is_alive(name)]


INTERRUPTED = (
    "Reading was interrupted after {read:,} {what}: the process that read it ended. What was read "
    "is kept. Give the file again to read the rest: what is known is passed over."
)

log = get_log(__name__)


async def settle_interrupted(db: Database, lock: RunLock) -> None:
    """Take imports from owners that are dead. Safe to call at any time.

    Raises:
        IndexUnavailable: the index can't be read or written.
    """
    async with db.read() as conn:
        readers = await queue.import_owners(conn)
    dead = await dead_among(readers, db, lock)
    for owner in dead:
        async with db.write() as conn:
            await imports.disown(conn, owner)
            for each in await imports.owned_by(conn, owner):
                what = "captures" if each.is_archive else "links"
                reason = INTERRUPTED.format(read=each.read, what=what)
                await imports.finish(conn, each.id, error=reason)
                log.info("import interrupted", name=each.name, read=each.read)


async def recover(db: Database, store: SegmentStore) -> None:
    """Recover everything that belongs to no living process. Safe to call at any time.

    Raises:
        StoreError: the directory of the segments, or the index, can't be read.
    """
    async with db.read() as conn:
        indexed = await segment_rows.indexed(conn)
        holders, readers = await queue.job_owners(conn), await queue.import_owners(conn)
    dead = await dead_among(holders, db, store.lock)
    found = await asyncio.to_thread(store.shelf.survey_here)
    if found.superseded:
        settling = import_module("archiver.crawl.compaction")
        await settling.settle_editions(db, store, found.superseded)
        found = await asyncio.to_thread(store.shelf.survey_here)
        async with db.read() as conn:
            indexed = await segment_rows.indexed(conn)
    left, uncut = await asyncio.to_thread(_cut_torn_ends, store, found.segments, indexed)
    if readers:
        settling = import_module("archiver.crawl.crash_recovery")
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
        settling = import_module("archiver.crawl.compaction")
        await settling.settle_editions(db, store, found.superseded)


async def _take_up(
    db: Database, store: SegmentStore, left: Mapping[str, int], dead: Sequence[str]
) -> list[PassedBy]:
    """Index what was left, where anything was."""
    if not (left or dead):
        return []
    orphans = import_module("archiver.crawl.rebuild")
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
