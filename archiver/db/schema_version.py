"""Schema version of a database, and databases of older versions."""

import os
import sqlite3
from contextlib import closing
from functools import cache
from importlib import import_module
from pathlib import Path

from sqlalchemy import Column, Connection, Table, create_mock_engine, text
from sqlalchemy.schema import ExecutableDDLElement

from archiver.db.schema import FIRST, HEAD, metadata
from archiver.errors import ConfigurationError, IndexOutdated, IndexUnavailable

_REVISIONS = """
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
"""
"""As Alembic makes it."""
REVISION = "SELECT version_num FROM alembic_version"


def is_current(conn: Connection) -> bool:
    """Whether an index has this program's schema."""
    return _revision(conn) == HEAD


def upgrade_schema(conn: Connection, place: str) -> None:
    """Bring an index to this program's schema, in a transaction that is committed.

    Raises:
        IndexOutdated: it was written by an earlier version, and has to be rebuilt.
        ConfigurationError: it was written by a newer version, or by none that is known.
    """
    found = _revision(conn)
    if found == HEAD:
        return
    if found is None:
        _make(conn)
        return
    if not (found.isdecimal() and len(found) == len(HEAD) and int(found)):
        raise ConfigurationError(
            f"{place} says of its schema what no version of archiver does ({found[:20]!r}). "
            "Run `archiver reindex` to build the index again from the WARC files."
        )
    if is_outdated(found):
        raise IndexOutdated(
            f"{place} was written by an earlier version of archiver (schema {found}, this one "
            f"needs {HEAD}). Run `archiver reindex` to rebuild the index from the WARC files."
        )
    if found > HEAD:
        raise ConfigurationError(
            f"{place} was written by a newer version of archiver (schema {found}, this one knows "
            f"{HEAD}). Update the program, or run `archiver reindex` to build the index again."
        )
    import_module("archiver.db.migrations").upgrade(conn)


def is_outdated(revision: str) -> bool:
    """Whether no migration leads from a revision to this program's."""
    return revision.isdecimal() and len(revision) == len(FIRST) and 0 < int(revision) < int(FIRST)


def _make(conn: Connection) -> None:
    """Make an index where none is: as the migrations would, which take longer and load Alembic."""
    for statement in _statements(conn.dialect.name):
        conn.exec_driver_sql(statement)
    conn.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
    conn.commit()


@cache
def _statements(engine: str) -> tuple[str, ...]:
    """What makes every table of the schema, and the one in which Alembic keeps the revision."""
    found = [_REVISIONS]

    def take(element: ExecutableDDLElement, *_: object, **__: object) -> None:
        found.append(str(element.compile(dialect=drawn.dialect)))

    drawn = create_mock_engine(f"{engine}://", take)
    metadata.create_all(drawn, checkfirst=False)
    return tuple(found)


def _revision(conn: Connection) -> str | None:
    if not conn.dialect.has_table(conn, "alembic_version"):
        return None
    return str(conn.execute(text(REVISION)).scalar() or "")


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
