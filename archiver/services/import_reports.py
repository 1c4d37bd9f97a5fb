"""Import reports and their files.

A report has the result of each row of an import. When the import is complete, the report is
written atomically from the index to a compressed JSON Lines file, whose name contains the start
time and number of the import. The first line has the totals, the last line the number of rows, and
each line between them is a row.
"""

import asyncio
import csv
import gzip
import io
import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
from isal import igzip

from archiver.db import import_reports
from archiver.db.engine import Database
from archiver.errors import IndexUnavailable
from archiver.formats.own_csv import escape_formula
from archiver.helpers import open_for_writing, sync_directory
from archiver.logs import get_log
from archiver.model.imports import Outcome, ReportRow
from archiver.warc.metadata_records import FORMAT

REPORT_PAGE = 2000
MAX_REASONS = 100
_COLUMNS = ("row", "outcome", "url", "hash_url", "reason")


class ImportReports:
    """Reports of imports."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def reasons(self, number: int) -> list[tuple[str, int]]:
        """Return reasons why rows of an import are unusable, with counts."""
        async with self._db.read() as conn:
            return await import_reports.reasons(conn, number, limit=MAX_REASONS)

    async def csv(self, number: int) -> AsyncGenerator[bytes, None]:
        """Yield a report as CSV (RFC 4180); cells that look like formulas are escaped."""
        yield _line(_COLUMNS)
        async for rows in self._pages(number):
            yield b"".join(map(_line, map(_cells, rows)))

    async def json(self, number: int) -> AsyncGenerator[bytes, None]:
        """Yield a report as a JSON array, a row per line."""
        between = "[\n"
        async for rows in self._pages(number):
            yield (between + ",\n".join(map(_document, rows))).encode("utf-8", "replace")
            between = ",\n"
        yield b"[]\n" if between == "[\n" else b"\n]\n"

    async def _pages(self, number: int) -> AsyncIterator[list[ReportRow]]:
        after = 0
        while True:
            async with self._db.read() as conn:
                rows = await import_reports.page(conn, number, after=after, limit=REPORT_PAGE)
            if not rows:
                return
            yield rows
            after = rows[-1].row


def _cells(row: ReportRow) -> tuple[str, ...]:
    return (str(row.row), row.outcome, row.given, row.hash_url or "", row.reason)


def _line(cells: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(map(escape_formula, cells))
    return text.getvalue().encode("utf-8", "replace")


def _document(row: ReportRow) -> str:
    fields = dict(zip(_COLUMNS, (row.row, *_cells(row)[1:]), strict=True))
    return json.dumps(fields | {"hash_url": row.hash_url}, ensure_ascii=False)


REPORT_FILE_PAGE = 5_000
MAX_LINE = 1 << 20
_COMPRESSION_LEVEL = 2
_GzipFile = cast("Callable[..., gzip.GzipFile]", igzip.IGzipFile)
_PART = ".part"
_ENCODER = msgspec.json.Encoder()
_NAME = re.compile(r"(\d{8}T\d{6}Z)-(\d{1,18})\.jsonl\.gz")
_BROKEN = (OSError, EOFError, ValueError, KeyError, TypeError)
"""Exceptions raised by truncated or modified files."""

log = get_log(__name__)


def reports_of(data: Path) -> Path:
    """Return the directory of reports in a data directory."""
    return data / "receipts"


async def write_pending(db: Database, directory: Path, *, with_missing: bool = False) -> int:
    """Write the pending reports of complete imports; return their number.

    Args:
        db: the index.
        directory: directory of the reports.
        with_missing: whether to also write reports whose files were removed.

    Raises:
        OSError, IndexUnavailable: a report can't be written or read; it stays pending.
    """
    async with db.read() as conn:
        pending = await import_reports.pending(conn)
        done = await import_reports.written(conn) if with_missing else []
    existing = {each.name for each in await asyncio.to_thread(_files, directory)} if done else set()
    pending += [each for each in done if _name(each[1]["started_at"], each[0]) not in existing]
    for number, head in pending:
        await _write(db, directory, number, head)
        async with db.write() as conn:
            await import_reports.mark_report_stored(conn, number)
    return len(pending)


async def write_pending_if_possible(db: Database, directory: Path) -> None:
    """Write pending reports; log errors, after which the reports stay pending."""
    try:
        await write_pending(db, directory)
    except (OSError, IndexUnavailable):
        log.exception("writing a report failed; retrying")


async def restore_all(db: Database, directory: Path) -> list[tuple[str, str]]:
    """Restore imports from reports into a new index; return (file, problem) of damaged ones."""
    files = await asyncio.to_thread(_files, directory)
    problems = [(path.name, await _restore(db, path)) for path in files]
    async with db.write() as conn:
        await import_reports.recount(conn)
    return [(name, problem) for name, problem in problems if problem]


async def _write(db: Database, directory: Path, number: int, head: dict[str, Any]) -> None:
    await asyncio.to_thread(directory.mkdir, exist_ok=True)
    path = directory / _name(head["started_at"], number)
    part = path.with_name(path.name + _PART)
    async with open_for_writing(part) as file:
        with _GzipFile("", "wb", _COMPRESSION_LEVEL, file, mtime=0) as packed:
            await asyncio.to_thread(_write_lines, packed, [{"format": FORMAT, "import": head}])
            rows = await _write_rows(db, number, packed)
            await asyncio.to_thread(_write_lines, packed, [{"rows": rows}])
        await asyncio.to_thread(_sync, file)
    await asyncio.to_thread(_put_in_place, part, path)


async def _write_rows(db: Database, number: int, packed: gzip.GzipFile) -> int:
    """Write all rows; return their number."""
    rows = after = 0
    while True:
        async with db.read() as conn:
            page = await import_reports.page(conn, number, after=after, limit=REPORT_FILE_PAGE)
        if not page:
            return rows
        await asyncio.to_thread(_write_lines, packed, page)
        rows, after = rows + len(page), page[-1].row


def _write_lines(packed: gzip.GzipFile, documents: Sequence[object]) -> None:
    packed.write(_ENCODER.encode_lines(documents))


def _name(started_at: int, number: int) -> str:
    return f"{datetime.fromtimestamp(started_at, UTC):%Y%m%dT%H%M%SZ}-{number}.jsonl.gz"


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _put_in_place(part: Path, path: Path) -> None:
    part.replace(path)
    sync_directory(path.parent)


def _files(directory: Path) -> list[Path]:
    """Return reports in the order in which their imports began."""
    with suppress(FileNotFoundError):
        return sorted(path for path in directory.iterdir() if _NAME.fullmatch(path.name))
    return []


async def _restore(db: Database, path: Path) -> str:
    """Restore the import of a report; return the problem with the file, if any."""
    match = _NAME.fullmatch(path.name)
    old_number = int(match[2]) if match else 0
    number = 0
    try:
        with await asyncio.to_thread(gzip.open, path, "rb") as packed:
            head = json.loads(await asyncio.to_thread(packed.readline, MAX_LINE))["import"]
            async with db.write() as conn:
                number = await import_reports.restore_import(conn, old_number, head)
            rows, last = _rows(packed), 0
            while batch := await asyncio.to_thread(lambda: [*islice(rows, REPORT_FILE_PAGE)]):
                async with db.write() as conn:
                    await import_reports.add_rows(conn, number, batch)
                last = batch[-1].row
    except _BROKEN as error:
        return f"Its end cannot be read: {error}"
    if number != old_number:
        await asyncio.to_thread(path.rename, path.with_name(_name(head["started_at"], number)))
    return "" if last == head["read"] or not last else "It has missing rows."


def _rows(packed: gzip.GzipFile) -> Iterator[ReportRow]:
    """Yield the rows of a report after its first line.

    Raises:
        ValueError: the last line is missing or has a wrong number.
    """
    count = 0
    while line := packed.readline(MAX_LINE):
        fields = json.loads(line)
        if isinstance(fields, dict):
            if fields.get("rows") != count:
                raise ValueError("its number of rows is wrong")
            return
        row, outcome, submitted, hash_url, reason = fields
        yield ReportRow(int(row), Outcome(outcome), submitted, hash_url, reason)
        count += 1
    raise ValueError("its end is missing")
