"""Recovery after a crash: unindexed records, leases and interrupted imports.

A process is dead if its lock is free. With SQLite all processes are on one machine, and the lock is
a file in ``run/``. With PostgreSQL it is a worker lock of the server (``db.worker_locks``).

The truncated tail of a dead process's last segment is moved to a file. Then its unindexed records
are indexed, which also ends the jobs that they belong to. Only then do the other jobs of the
process return to the queue. Unusable files are reported and skipped.

A process that reads an import file owns the import. If the process died, the next server continues
with a file that is stored in the archive. For any other file, the import ends with an error that
states how much was read and what to do.

Every command runs the recovery, and it rarely finds anything, so the large module ``rebuild`` is
imported when it is needed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from archiver.db import imports, queue, segment_rows
from archiver.db.engine import Database
from archiver.db.worker_locks import all_workers
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.warc.locks import RunLock
from archiver.warc.segment_inventory import SegmentFile, Survey, UnusableFile
from archiver.warc.segments import SegmentStore

MAX_LOGGED = 20
RECONNECT_SECONDS = 3.0
"""Time for which a worker that lost its connection to PostgreSQL may reconnect."""


async def dead_among(names: Sequence[str], db: Database, lock: RunLock) -> list[str]:
    """Return the dead processes among ``names``.

    The names must be read from the index before the call, so that a process that starts during the
    check is not among them.
    """
    candidates = [name for name in names if name != lock.name]
    if not candidates:
        return []
    if not db.is_shared:
        return await asyncio.to_thread(
            lambda: [name for name in candidates if not lock.is_alive(name)]
        )
    dead = await _without_worker_lock(candidates, db)
    if dead and not await asyncio.to_thread(lambda: all(map(lock.is_abandoned, dead))):
        await asyncio.sleep(RECONNECT_SECONDS)
        dead = await _without_worker_lock(dead, db)
    return dead


async def _without_worker_lock(names: Sequence[str], db: Database) -> list[str]:
    async with db.read() as conn:
        alive = {each.name for each in await all_workers(conn)}
    return [name for name in names if name not in alive]


INTERRUPTED = (
    "The import stopped after {read:,} {what} because its process ended. Everything read until "
    "then is saved. Import the file again to read the rest; known links are skipped."
)

log = get_log(__name__)


async def settle_interrupted(db: Database, lock: RunLock) -> None:
    """Settle the imports that dead processes were reading.

    An import whose file is stored in the archive is released, so that a server can continue it. Any
    other import ends with an error.

    Safe to call at any time.

    Raises:
        IndexUnavailable: the index can't be read or written.
    """
    async with db.read() as conn:
        readers = await queue.import_owners(conn)
    dead = await dead_among(readers, db, lock)
    for owner in dead:
        async with db.write() as conn:
            await imports.release(conn, owner)
            for each in await imports.owned_by(conn, owner):
                contents = "captures" if each.is_archive else "links"
                reason = INTERRUPTED.format(read=each.read, what=contents)
                await imports.finish(conn, each.id, error=reason)
                log.info("import interrupted", name=each.name, read=each.read)


async def recover(db: Database, store: SegmentStore) -> None:
    """Recover the state of all dead processes.

    Safe to call at any time.

    Raises:
        StoreError: the index or the directory of the segments can't be read.
    """
    async with db.read() as conn:
        indexed = await segment_rows.indexed_sizes(conn)
        holders, readers = await queue.job_owners(conn), await queue.import_owners(conn)
    dead = await dead_among(holders, db, store.lock)
    survey = await asyncio.to_thread(store.storage.survey_local)
    if survey.superseded:
        await _settle_versions(db, store, survey.superseded)
        survey = await asyncio.to_thread(store.storage.survey_local)
        async with db.read() as conn:
            indexed = await segment_rows.indexed_sizes(conn)
    unindexed, uncut = await asyncio.to_thread(
        _cut_truncated_tails, store, survey.segments, indexed
    )
    if readers:
        await settle_interrupted(db, store.lock)
    await asyncio.to_thread(store.lock.remove_dead)
    unreadable = await _index_and_requeue(db, store, unindexed, dead)
    _set_unusable_files(store, survey, (*uncut, *unreadable))


async def finish_compactions(db: Database, store: SegmentStore) -> None:
    """Finish interrupted compactions of all machines; ``recover`` handles only this machine.

    Raises:
        StoreError: the segments can't be listed.
    """
    survey = await asyncio.to_thread(store.storage.survey)
    if survey.superseded:
        await _settle_versions(db, store, survey.superseded)


async def _settle_versions(
    db: Database, store: SegmentStore, superseded: Mapping[str, str]
) -> None:
    """Remove the version of a segment that the index does not use, after a killed compaction.

    A version gets its final name in the transaction that switches the index to it.

    Args:
        db: the database.
        store: the segment store.
        superseded: the name of each earlier version, with the name of the last version.
    """
    for was, last in superseded.items():
        try:
            async with db.write() as conn:
                is_used = bool(await segment_rows.indexed_of(conn, [was]))
                await asyncio.to_thread(store.storage.remove, last if is_used else was)
        except StoreError as error:
            log.warning("two versions of a segment remain", segment=was, reason=str(error))
        else:
            log.info("version removed", segment=last if is_used else was)


async def _index_and_requeue(
    db: Database, store: SegmentStore, unindexed: Mapping[str, int], dead: Sequence[str]
) -> list[UnusableFile]:
    """Index unindexed records, then requeue the jobs of dead processes.

    Args:
        db: the database.
        store: the segment store.
        unindexed: sizes of segments with unindexed records.
        dead: names of the dead processes.

    Returns:
        The segments that can't be read.
    """
    if not (unindexed or dead):
        return []
    from archiver.crawl.rebuild import build_within

    async with db.write() as conn:
        indexed = await segment_rows.indexed_sizes(conn)
        tails = {
            name: indexed.get(name, 0)
            for name, size in unindexed.items()
            if size > indexed.get(name, 0)
        }
        rebuilt = await build_within(conn, store, tails)
        for owner in dead:
            await queue.requeue_all(conn, owner, now=datetime.now(UTC))
    for place, why in rebuilt.problems[:MAX_LOGGED]:
        log.warning(
            "skipping damaged bytes", segment=place.segment, offset=place.offset, problem=why
        )
    if dead or rebuilt.captures or rebuilt.snapshots:
        log.info("recovered", segments=len(tails), snapshots=rebuilt.snapshots, processes=len(dead))
    return [UnusableFile(name, why, has_lost_data=True) for name, why in rebuilt.unreadable.items()]


def _cut_truncated_tails(
    store: SegmentStore, files: Sequence[SegmentFile], indexed: Mapping[str, int]
) -> tuple[dict[str, int], list[UnusableFile]]:
    """Cut the truncated tails of dead processes' segments.

    Returns:
        The sizes of segments with unindexed bytes, and the segments that can't be read or cut.
    """
    lengths, uncut = {}, []
    for each in files:
        start = indexed.get(each.name, 0)
        if each.size <= start or store.lock.is_alive(each.writer):
            continue
        is_known = start > 0 or store.lock.is_abandoned(each.writer)
        lengths[each.name] = each.size
        try:
            lengths[each.name] = store.storage.cut_truncated_tail(
                each.name, from_offset=start, is_writer_known=is_known
            )
        except StoreError as error:
            uncut.append(UnusableFile(each.name, str(error), has_lost_data=True))
    return {name: size for name, size in lengths.items() if size > indexed.get(name, 0)}, uncut


def _set_unusable_files(store: SegmentStore, survey: Survey, more: Sequence[UnusableFile]) -> None:
    """Set the store's list of unusable files; log the files that were not in it before."""
    before = set(store.storage.unusable_files)
    unusable_files = {each.name: each for each in (*survey.unusable_files, *more)}
    store.storage.unusable_files = tuple(unusable_files[name] for name in sorted(unusable_files))
    for each in store.storage.unusable_files:
        if each not in before:
            log.warning("file ignored", file=each.name, problem=each.problem)
