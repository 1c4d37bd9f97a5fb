"""Which processes are dead, that hold jobs or read files.

Of its own machine each process knows by locks, at once. Others are known by their rows: they are
dead once those are gone, and somebody takes a row away when its lease is over
(docs/decisions/0127-several-machines.md).
"""

import asyncio
from collections.abc import Sequence

from archiver.index import writers
from archiver.index.database import AsyncConnection, Database
from archiver.store.locks import RunLock


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


def _not_held(names: Sequence[str], lock: RunLock) -> list[str]:
    return [name for name in names if not lock.is_alive(name)]
