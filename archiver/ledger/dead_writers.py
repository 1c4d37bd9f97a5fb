"""Which processes are dead, that hold jobs or read files.

Of its own machine each process knows by locks, at once. Others are known by their rows: they are
dead once those are gone, and somebody takes a row away when its lease is over.
"""

import asyncio
from collections.abc import Sequence

from archiver.index import writers
from archiver.index.database import AsyncConnection, Database
from archiver.index.writers import Writer
from archiver.store.locks import RunLock


async def known_writers(conn: AsyncConnection, db: Database) -> Sequence[Writer]:
    """Those who have a row, where the index is shared."""
    return await writers.all_writers(conn) if db.membership else ()


async def dead_among(
    names: Sequence[str], there: Sequence[Writer], db: Database, lock: RunLock
) -> list[str]:
    """Those of these processes that are dead; ``there`` are ``known_writers``."""
    elsewhere = {each.name for each in there if each.machine != db.machine}
    silent = await asyncio.to_thread(_not_held, names, lock)
    return [each for each in silent if each not in elsewhere]


async def dead_here(there: Sequence[Writer], db: Database, lock: RunLock) -> list[str]:
    """Processes of this machine that have a row and are dead."""
    own = [each.name for each in there if each.machine == db.machine]
    return await asyncio.to_thread(_not_held, own, lock)


def _not_held(names: Sequence[str], lock: RunLock) -> list[str]:
    return [name for name in names if not lock.is_alive(name)]
