"""Keeps what entries are found by, and how well they were kept, up to date with what is known."""

import asyncio

from archiver.index import documents, search_parts
from archiver.index.database import Database
from archiver.ledger.comparisons import compare_owed
from archiver.ledger.documents import remake_stale, repay_owed
from archiver.ledger.scores import score_owed
from archiver.store.segments import SegmentStore

LOOK_SECONDS = 2.0
REST_SECONDS = 0.05
"""Between two stretches, so that whoever waits to write comes first."""


class Documents:
    """The documents of the search index."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def owed_share(self) -> float:
        """Which share of them is still to be made, after an older version; 0 to 1."""
        async with self._db.read() as conn:
            return await documents.owed_share(conn)

    async def keep_up_to_date(self) -> None:
        """Make those that are out of date or owed, for ever.

        Raises:
            ArchiverError: the disk or the index refused.
        """
        while True:
            has_more = await remake_stale(self._db, self._store) > 0
            has_more |= await repay_owed(self._db, self._store)
            has_more |= await compare_owed(self._db, self._store) > 0
            has_more |= await score_owed(self._db, self._store) > 0
            has_more |= await self.put_parts_together()
            await asyncio.sleep(REST_SECONDS if has_more else LOOK_SECONDS)

    async def put_parts_together(self) -> bool:
        """Put some of what lies in pieces in a full part together; whether there may be more.

        Raises:
            IndexUnavailable: the index refused.
        """
        async with self._db.read() as conn:
            part = await search_parts.in_pieces(conn)
        if part is None:
            return False
        async with self._db.write() as conn:
            await search_parts.put_together(conn, part)
        return True
