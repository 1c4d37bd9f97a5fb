"""The rows of captures that snapshots will point at: at hand, or looked up."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from archiver.index import captures
from archiver.index.database import AsyncConnection
from archiver.ledger.visit_result import VisitResult
from archiver.model.capture import RecordId

REMEMBERED = 8192


class CaptureRows:
    """Remembers the rows of captures that were indexed lately, by record id."""

    def __init__(self) -> None:
        self._rows: OrderedDict[RecordId, int] = OrderedDict()

    async def of(
        self,
        conn: AsyncConnection,
        visit_results: Sequence[VisitResult],
        made: Mapping[RecordId, int],
    ) -> dict[int, int]:
        """The row of the capture that each visit is of, by its result's ``id``, if it is there.

        Args:
            conn: a connection.
            visit_results: those without a visit have none.
            made: rows of this transaction.
        """
        found: dict[int, int] = {}
        for each in visit_results:
            if each.visit:
                page = each.visit.page
                row = made.get(page.record_id) or self._rows.pop(page.record_id, None)
                row = row or await captures.find_row(conn, page.url, page.record_id)
                found[id(each)] = row or 0
        fresh = {*made.values()}
        there = fresh | await captures.still_there(conn, {*found.values()} - fresh)
        return {key: row for key, row in found.items() if row in there}

    def remember(self, made: Mapping[RecordId, int]) -> None:
        """Keep rows at hand once their transaction went well."""
        self._rows.update(made)
        while len(self._rows) > REMEMBERED:
            self._rows.popitem(last=False)
