"""Imports whose reader died: nobody reads them, so none may say that it is being read.

A process that reads a file of links or captures owns the import, by the name of its run lock. A
file that is kept here waits for the next service; of any other, a person is told what was read of
it, and what to do.
"""

from archiver.index import imports, owners
from archiver.index.database import Database
from archiver.ledger.dead_writers import dead_among
from archiver.logs import get_log
from archiver.store.locks import RunLock

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
        readers = await owners.of_imports(conn)
    dead = await dead_among(readers, db, lock)
    for owner in dead:
        async with db.write() as conn:
            await imports.disown(conn, owner)
            for each in await imports.owned_by(conn, owner):
                what = "captures" if each.is_archive else "links"
                reason = INTERRUPTED.format(read=each.read, what=what)
                await imports.finish(conn, each.id, error=reason)
                log.info("import interrupted", name=each.name, read=each.read)
