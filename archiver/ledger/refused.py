"""Records that are on disk and whose rows the index refused: taken up before anything is repeated.

Their jobs are still leased. Were those given back first, each would be visited again, and the
index would have two snapshots of one visit once ``recovery`` reads what was written.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from archiver.errors import IndexUnavailable, StoreError, StoreUnavailable
from archiver.index import segments
from archiver.index.database import Database
from archiver.logs import get_log
from archiver.model.capture import Location
from archiver.store.segments import SegmentStore

MOST_TRIES = 3
"""Of what the index does not take though it answers: that is left to ``recovery``."""

log = get_log(__name__)


class RefusedRecords:
    """The segments of this process that hold more than the index has."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._names: set[str] = set()
        self._tries = 0

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._names)

    @contextmanager
    def noted_unless_indexed(self, places: Sequence[Location]) -> Iterator[None]:
        """Note records unless the block puts their rows into the index."""
        try:
            yield
        except BaseException:
            self._names.update(place.segment for place in places)
            raise

    async def take_up(self) -> None:
        """Index them, all or none, and end their jobs. None of their segments is written to."""
        if not self._names:
            return
        try:
            ledger = import_module("archiver.ledger.rebuild")  # a crawl that is well does without
            async with self._db.write() as conn:
                indexed = await segments.indexed(conn)
                tails = {name: indexed.get(name, 0) for name in self._names}
                rebuilt = await ledger.build_within(conn, self._store, tails)
        except (IndexUnavailable, StoreUnavailable):
            return
        except Exception:
            # The edge where one record that the index can't take must not hold up all others.
            self._tries += 1
            log.exception("records not taken up", segments=len(self._names), tries=self._tries)
            if self._tries < MOST_TRIES:
                return
        else:
            log.info("records taken up", captures=rebuilt.captures, snapshots=rebuilt.snapshots)
        self._names.clear()
        self._tries = 0

    def refuse_to_go_on(self) -> None:
        """Raise while written records are not indexed, so that no visit is repeated.

        Raises:
            StoreError: there are still some.
        """
        if self._names:
            raise StoreError("What was written last is still refused, by the index or the store.")
