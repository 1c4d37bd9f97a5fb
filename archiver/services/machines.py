"""Who works an archive: the processes that write, by machine."""

from archiver.index import writers
from archiver.index.database import Database
from archiver.index.writers import Writer
from archiver.store.segments import SegmentStore


class Machines:
    """The machines at a shared index; an index in a file has none but this."""

    def __init__(self, db: Database, _store: SegmentStore) -> None:
        self._db = db

    @property
    def own(self) -> str:
        """The name of this machine; empty where no other can be."""
        return self._db.membership.member.machine if self._db.membership else ""

    async def processes(self) -> list[Writer]:
        """The processes that write, of every machine, by machine."""
        async with self._db.read() as conn:
            return [*await writers.all_writers(conn)]
