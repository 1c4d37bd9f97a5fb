"""Takes the rows of other machines' dead processes away, and gives back what they held."""

from collections.abc import Sequence
from datetime import UTC, datetime

from archiver.index import holds, owners, queue, writers
from archiver.index.database import Database
from archiver.logs import get_log

log = get_log(__name__)


async def signs_of_holders(db: Database) -> dict[str, int]:
    """The last sign of life (ms, the server's clock) of every other process that holds jobs."""
    if db.membership is None:
        return {}
    async with db.read() as conn:
        holders = await owners.of_jobs(conn)
        found = await writers.all_writers(conn)
    others = {*holders} - {db.membership.member.name}
    return {each.name: each.beat_ms for each in found if each.name in others}


async def bury_the_silent(db: Database, there: Sequence[writers.Writer]) -> bool:
    """Take the rows of other machines' dead away, and give back what they held, at once each.

    Returns whether there were such among ``there``.

    Raises:
        IndexUnavailable: the index can't be read or written.
    """
    if not (db.membership and db.membership.is_steady):
        return False
    overdue = [each for each in there if each.is_overdue and each.machine != db.machine]
    for each in overdue:
        await bury(db, each)
    return bool(overdue)


async def bury(db: Database, silent: writers.Writer) -> None:
    """Give back what a process held, unless it has given a sign of life after all."""
    async with db.write() as conn:
        if not await writers.bury(conn, silent.name):
            return
        await holds.let_go_of_all(conn, silent.name)
        held = await queue.held_by(conn, silent.name)
        await queue.requeue(conn, held, owner=silent.name, interrupted=True, now=datetime.now(UTC))
    log.warning("a process was silent for too long", machine=silent.machine, jobs=len(held))
