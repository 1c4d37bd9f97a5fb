"""Which processes are dead, that hold jobs or read files.

Of its own machine each process knows by locks, at once. Others are known by their rows: they are
dead once those are gone, and somebody takes a row away when its lease is over
(docs/decisions/0127-several-machines.md).
"""

import asyncio
from collections.abc import Sequence

from archiver.index import holds, queue, writers
from archiver.index.database import AsyncConnection, Database
from archiver.logs import get_log
from archiver.store.locks import RunLock

log = get_log(__name__)


async def dead_among(
    conn: AsyncConnection, names: Sequence[str], db: Database, lock: RunLock
) -> list[str]:
    """Those of these processes that are dead."""
    silent = await asyncio.to_thread(_not_held, names, lock)
    if not (silent and db.membership):
        return silent
    machine = db.membership.member.machine
    elsewhere = {each.name for each in await writers.all_writers(conn) if each.machine != machine}
    return [each for each in silent if each not in elsewhere]


async def dead_here(conn: AsyncConnection, db: Database, lock: RunLock) -> list[str]:
    """Processes of this machine that have a row and are dead."""
    if db.membership is None:
        return []
    machine = db.membership.member.machine
    own = [each.name for each in await writers.all_writers(conn) if each.machine == machine]
    return await asyncio.to_thread(_not_held, own, lock)


async def is_anybody_silent(db: Database) -> bool:
    """Whether somebody holds jobs and may be dead: it is not known before its lease is over."""
    if db.membership is None:
        return False
    async with db.read() as conn:
        owners = {*await queue.owners(conn)}
        found = await writers.all_writers(conn)
    return any(each.is_silent and each.name in owners for each in found)


async def bury_the_silent(db: Database) -> None:
    """Take the rows of other machines' dead away, and give back what they held, at once each.

    Raises:
        IndexUnavailable: the index can't be read or written.
    """
    membership = db.membership
    if membership is None or not membership.is_steady:
        return
    async with db.read() as conn:
        found = await writers.all_writers(conn)
    for each in found:
        if each.is_overdue and each.machine != membership.member.machine:
            await bury(db, each)


async def bury(db: Database, silent: writers.Writer) -> None:
    """Give back what a process held, unless it has given a sign of life after all."""
    async with db.write() as conn:
        if not await writers.bury(conn, silent.name):
            return
        await holds.let_go_of_all(conn, silent.name)
        held = await queue.held_by(conn, silent.name)
        await queue.requeue(conn, held, owner=silent.name, interrupted=True, now=conn.now())
    log.warning("a process was silent for too long", machine=silent.machine, jobs=len(held))


def _not_held(names: Sequence[str], lock: RunLock) -> list[str]:
    return [name for name in names if not lock.is_alive(name)]
