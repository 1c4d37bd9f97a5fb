"""Takes the rows of other machines' dead processes away, and gives back what they held."""

from archiver.index import holds, owners, queue, writers
from archiver.index.database import Database
from archiver.logs import get_log

log = get_log(__name__)


async def is_anybody_silent(db: Database) -> bool:
    """Whether somebody holds jobs and may be dead: it is not known before its lease is over."""
    if db.membership is None:
        return False
    async with db.read() as conn:
        holders = {*await owners.of_jobs(conn)}
        found = await writers.all_writers(conn)
    return any(each.is_silent and each.name in holders for each in found)


async def bury_the_silent(db: Database) -> None:
    """Take the rows of other machines' dead away, and give back what they held, at once each.

    Raises:
        IndexUnavailable: the index can't be read or written.
    """
    membership = db.membership
    if membership is None or not membership.is_steady:
        return
    async with db.glance() as conn:
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
