"""How far imports have come, as it is: one whose reader died is never said to be read."""

from archiver.index import imports
from archiver.index.database import Database
from archiver.ledger.interrupted_imports import settle_interrupted
from archiver.model.importing import ImportStatus
from archiver.store.segments import SegmentStore

_LAST_NUMBER = (1 << 63) - 1


class ImportStatuses:
    """The imports of an archive; ``store`` knows which processes live."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._lock = store.lock

    async def find(self, number: int) -> ImportStatus | None:
        """How far an import has come; None if there is none of that number."""
        found = await self._find(number)
        if found and found.reading:
            await settle_interrupted(self._db, self._lock)
            found = await self._find(number)
        return found

    async def recent(self, limit: int = 20) -> list[ImportStatus]:
        """The newest imports, newest first."""
        await settle_interrupted(self._db, self._lock)
        async with self._db.read() as conn:
            return await imports.recent(conn, limit)

    async def is_any_left(self) -> bool:
        """Whether there is a kept file that nobody reads."""
        await settle_interrupted(self._db, self._lock)
        async with self._db.read() as conn:
            return await imports.is_any_unclaimed(conn)

    async def _find(self, number: int) -> ImportStatus | None:
        if number > _LAST_NUMBER:
            return None
        async with self._db.read() as conn:
            return await imports.status(conn, number)
