"""Receipts of imports: every row of a file, and what became of it, as CSV and as JSON."""

import csv
import io
import json
from collections.abc import AsyncGenerator, AsyncIterator

from archiver.formats.own_csv import defused
from archiver.index import receipts
from archiver.index.database import Database
from archiver.model.importing import ReceiptRow

PAGE = 2000
MOST_REASONS = 100
_COLUMNS = ("row", "outcome", "url", "hash_url", "reason")


class Receipts:
    """What became of what was imported."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def reasons(self, number: int) -> list[tuple[str, int]]:
        """Why rows of an import are unusable, and how many for each reason."""
        async with self._db.read() as conn:
            return await receipts.reasons(conn, number, limit=MOST_REASONS)

    async def csv(self, number: int) -> AsyncGenerator[bytes, None]:
        """A receipt as CSV (RFC 4180); no cell begins as a formula would."""
        yield _line(_COLUMNS)
        async for rows in self._pages(number):
            yield b"".join(map(_line, map(_cells, rows)))

    async def json(self, number: int) -> AsyncGenerator[bytes, None]:
        """A receipt as a JSON array, a row a line."""
        between = "[\n"
        async for rows in self._pages(number):
            yield (between + ",\n".join(map(_document, rows))).encode("utf-8", "replace")
            between = ",\n"
        yield b"[]\n" if between == "[\n" else b"\n]\n"

    async def _pages(self, number: int) -> AsyncIterator[list[ReceiptRow]]:
        after = 0
        while True:
            async with self._db.read() as conn:
                rows = await receipts.page(conn, number, after=after, limit=PAGE)
            if not rows:
                return
            yield rows
            after = rows[-1].row


def _cells(row: ReceiptRow) -> tuple[str, ...]:
    return (str(row.row), row.outcome, row.given, row.hash_url or "", row.reason)


def _line(cells: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(map(defused, cells))
    return text.getvalue().encode("utf-8", "replace")


def _document(row: ReceiptRow) -> str:
    fields = dict(zip(_COLUMNS, (row.row, *_cells(row)[1:]), strict=True))
    return json.dumps(fields | {"hash_url": row.hash_url}, ensure_ascii=False)
