"""Indexes that an earlier version of the program wrote, which are rebuilt from the WARC files."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Column, Table

from archiver.errors import IndexUnavailable
from archiver.index.dialect.upgrading import REVISION, is_outdated
from archiver.index.schema import metadata

_DERIVED = frozenset(
    "answer capture document host_hold host_rest host_turn likeness need own_article queue_host "
    "record_id_seen search_part snapshot stated_digest writer".split()
)
"""Tables that are not copied: everything in them comes from records or from running processes."""


def outdated_revision(path: Path) -> str | None:
    """Return the revision of an index file if it is outdated; blocking.

    Returns None for a file that is missing, current, newer, damaged or no index.
    """
    try:
        with closing(_read_only(path)) as connection:
            ((revision,),) = connection.execute(REVISION).fetchall()
    except (sqlite3.Error, ValueError):
        return None
    return revision if isinstance(revision, str) and is_outdated(revision) else None


def copy_rows(source: Path, target: Path) -> None:
    """Copy what no record holds from an outdated index to an empty one; blocking.

    Columns that only one of the two has are left out, or get their default.

    Args:
        source: the outdated index.
        target: an index of the current schema, without rows.

    Raises:
        IndexUnavailable: one of the two can't be read or written.
    """
    try:
        with closing(sqlite3.connect(target, uri=True)) as connection:
            connection.execute("ATTACH ? AS old", [f"{source.absolute().as_uri()}?mode=ro"])
            connection.execute("PRAGMA foreign_keys = OFF")
            with connection:
                for table in metadata.sorted_tables:
                    if table.name not in _DERIVED:
                        _copy_table(connection, table)
    except sqlite3.Error as error:
        raise IndexUnavailable(
            "Cannot read {path}: {error}. If it is damaged, remove it and run `archiver reindex`. "
            "Its queue is lost then.",
            path=source,
            error=error,
        ) from error


def keep_backup(path: Path, revision: str) -> Path:
    """Give an outdated index a second name, under which it stays when it is replaced; blocking.

    Returns:
        That name.

    Raises:
        IndexUnavailable: it can't be written.
    """
    backup = path.with_name(f"{path.name}.old-{revision}")
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        backup.unlink(missing_ok=True)
        os.link(path, backup)
    except (OSError, sqlite3.Error) as error:
        raise IndexUnavailable(f"{path} can't be kept as {backup.name}: {error}.") from error
    return backup


def backups(path: Path) -> list[Path]:
    """Return the outdated indexes that were kept beside an index; blocking."""
    return sorted(path.parent.glob(f"{path.name}.old-*"))


def _copy_table(connection: sqlite3.Connection, table: Table) -> None:
    there = {row[1] for row in connection.execute(f'PRAGMA old.table_info("{table.name}")')}
    if not {column.name for column in table.primary_key} <= there:
        return
    chosen = {
        column.name: f'"{column.name}"' if column.name in there else _filler(column)
        for column in table.columns
        if column.name in there or _needs_value(column)
    }
    names = ", ".join(f'"{name}"' for name in chosen)
    # Names are the schema's own.
    connection.execute(
        f'INSERT OR IGNORE INTO main."{table.name}" ({names}) '  # noqa: S608
        f'SELECT {", ".join(chosen.values())} FROM old."{table.name}"'
    )


def _needs_value(column: Column[object]) -> bool:
    return not column.nullable and column.server_default is None


def _filler(column: Column[object]) -> str:
    return "0" if column.type.python_type is int else "''"


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
