"""Which processes that own jobs or imports are dead.

With SQLite all processes are on one machine, and a dead one has released the lock on its file in
``run/``. On a server a dead one has released its worker lock (``index.worker_locks``).
"""

import asyncio
from collections.abc import Sequence

from archiver.index.database import Database
from archiver.index.worker_locks import alive_workers
from archiver.store.locks import RunLock


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
