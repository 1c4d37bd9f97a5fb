"""SQLite files of other programs.

The files are untrusted. Views and triggers may only call harmless functions (``trusted_schema``).
The size of a value and the number of steps of a query are limited. The output is limited relative
to the size of the file, because generated columns can produce more data than the file contains.
"""

import io
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any, BinaryIO
from urllib.parse import quote

from archiver.formats.source_file import SourceFile

SIGNATURE = b"SQLite format 3\0"
MAX_VALUE = 8 << 20
MAX_STEPS = 2_000_000_000
BASE_ALLOWANCE = 16 << 20
MAX_GROWTH = 4
"""Maximum ratio of the text and bytes read to the file's size."""
_STEPS_PER_CALL = 1_000_000
_JOURNAL_MODES = slice(18, 20)
_NO_WAL = b"\1\1"

_COLUMNS = """
    SELECT t.name || '.' || c.name AS name FROM sqlite_master t, pragma_table_info(t.name) c
    WHERE t.type = 'table'
"""


class DatabaseDamagedError(Exception):
    """Damaged database; rows before the damage have been returned."""


def tables_of(stream: BinaryIO) -> frozenset[str]:
    """Return the names of the tables in lower case; empty if the database cannot be read."""
    with suppress(DatabaseDamagedError):
        return frozenset(
            str(row["name"]).lower()
            for row in query_rows(stream, "SELECT name FROM sqlite_master WHERE type = 'table'")
        )
    return frozenset()


def table_columns(stream: BinaryIO) -> frozenset[str]:
    """Return all columns as ``table.column``, lower case; empty if the database cannot be read."""
    with suppress(DatabaseDamagedError):
        return frozenset(str(row["name"]).lower() for row in query_rows(stream, _COLUMNS))
    return frozenset()


def has_table_columns(file: SourceFile, *columns: str) -> bool:
    """Return whether a file is a database with these columns (``table.column``, lower case)."""
    return file.head.startswith(SIGNATURE) and table_columns(file.seekable()).issuperset(columns)


def query_rows(stream: BinaryIO, query: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a query by column name.

    Args:
        stream: the whole file, seekable. A file on disk is opened by its name, others are read
            into memory.
        query: a constant query, never built from the file's content.

    Raises:
        DatabaseDamagedError: the database, or the rest of it, cannot be read, or a limit is
            exceeded.
    """
    try:
        with closing(_open(stream)) as conn:
            steps = iter(range(MAX_STEPS // _STEPS_PER_CALL))
            conn.set_progress_handler(lambda: next(steps, None) is None, _STEPS_PER_CALL)
            conn.row_factory = sqlite3.Row
            conn.text_factory = _text
            yield from _limited(conn.execute(query), stream.seek(0, io.SEEK_END))
    except (sqlite3.Error, OverflowError, MemoryError) as error:
        raise DatabaseDamagedError(str(error)) from error


def _limited(cursor: sqlite3.Cursor, length: int) -> Iterator[Mapping[str, Any]]:
    steps = BASE_ALLOWANCE + MAX_GROWTH * length
    for each in cursor:
        row = dict(each)
        steps -= sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if steps < 0:
            raise DatabaseDamagedError("the rows are larger than the file allows")
        yield row


def _open(stream: BinaryIO) -> sqlite3.Connection:
    name = getattr(stream, "name", None)
    if isinstance(name, str):
        conn = sqlite3.connect(f"file:{quote(name)}?mode=ro&immutable=1", uri=True)
    else:
        stream.seek(0)
        content = bytearray(stream.read())
        # without WAL, because an in-memory database has no log file
        content[_JOURNAL_MODES] = _NO_WAL
        conn = sqlite3.connect(":memory:")
        conn.deserialize(bytes(content))
    conn.execute("PRAGMA trusted_schema = OFF")
    conn.execute("PRAGMA query_only = ON")
    conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    conn.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return conn


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
