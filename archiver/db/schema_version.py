"""Schema version of an index, migrations, and treatment of indexes of older versions."""

import os
import sqlite3
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from sqlalchemy import Column, Connection, Table, create_mock_engine, text
from sqlalchemy.schema import ExecutableDDLElement

from archiver.db.schema import FIRST, HEAD, metadata
from archiver.errors import IndexNewer, IndexOutdated, IndexUnavailable
from archiver.helpers import MIGRATIONS

_REVISIONS = """
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
"""
"""Statement that creates the version table in the same form as Alembic."""
REVISION = "SELECT version_num FROM alembic_version"


def is_current(conn: Connection) -> bool:
    """Return whether an index has the current schema."""
    return _revision(conn) == HEAD


def upgrade_schema(conn: Connection, place: str) -> None:
    """Create or migrate the schema, and commit.

    Raises:
        IndexOutdated: an earlier version wrote the index, so it must be rebuilt.
        IndexNewer: a newer or unknown version wrote the index.
    """
    revision = _revision(conn)
    if revision == HEAD:
        return
    if revision is None:
        _create_tables(conn)
        return
    if not (revision.isdecimal() and len(revision) == len(HEAD) and int(revision)):
        raise IndexNewer(
            f"{place} has the schema {revision[:20]!r}, which this version of archiver does not "
            "know. Use the version that wrote it."
        )
    if is_outdated(revision):
        raise IndexOutdated(
            f"{place} was written by an earlier version of archiver (schema {revision}, this one "
            f"needs {HEAD}). Run `archiver reindex` to rebuild the index from the WARC files."
        )
    if revision > HEAD:
        raise IndexNewer(
            f"{place} was written by a newer version of archiver (schema {revision}, "
            f"this one knows {HEAD}). Update the program."
        )
    upgrade(conn)


def is_outdated(revision: str) -> bool:
    """Return whether a revision is older than the first one that migrations can upgrade."""
    return revision.isdecimal() and len(revision) == len(FIRST) and 0 < int(revision) < int(FIRST)


def _create_tables(conn: Connection) -> None:
    """Create all tables without Alembic, because importing Alembic takes long."""
    for statement in _statements(conn.dialect.name):
        conn.exec_driver_sql(statement)
    conn.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
    conn.commit()


@cache
def _statements(engine: str) -> tuple[str, ...]:
    """Return the statements that create all tables, including Alembic's."""
    statements = [_REVISIONS]

    def take(element: ExecutableDDLElement, *_: object, **__: object) -> None:
        statements.append(str(element.compile(dialect=mock.dialect)))

    mock = create_mock_engine(f"{engine}://", take)
    metadata.create_all(mock, checkfirst=False)
    return tuple(statements)


def _revision(conn: Connection) -> str | None:
    if not conn.dialect.has_table(conn, "alembic_version"):
        return None
    return str(conn.execute(text(REVISION)).scalar() or "")


_DERIVED = frozenset(
    "answer capture document likeness need own_article queue_host record_id_seen snapshot "
    "stated_digest".split()
)
"""Tables that are not copied, because a rebuild or the running processes fill them."""


def outdated_revision(path: Path) -> str | None:
    """Return the revision of an index file, if it is outdated. Blocking.

    Return None for a file that is missing, current, newer, damaged or not an index.
    """
    try:
        with closing(_read_only(path)) as connection:
            ((revision,),) = connection.execute(REVISION).fetchall()
    except (sqlite3.Error, ValueError):
        return None
    return revision if isinstance(revision, str) and is_outdated(revision) else None


def copy_rows(source: Path, target: Path) -> None:
    """Copy data that is not in WARC records from an outdated index to an empty one. Blocking.

    Columns that exist only in the outdated index are skipped; new columns get their default.

    Args:
        source: the outdated index.
        target: an empty index with the current schema.

    Raises:
        IndexUnavailable: an index can't be read or written.
    """
    try:
        with closing(sqlite3.connect(target.absolute().as_uri(), uri=True)) as connection:
            connection.execute("ATTACH ? AS old", [f"{source.absolute().as_uri()}?mode=ro"])
            connection.execute("PRAGMA foreign_keys = OFF")
            with connection:
                for table in metadata.sorted_tables:
                    if table.name not in _DERIVED:
                        _copy_table(connection, table)
    except sqlite3.Error as error:
        raise IndexUnavailable(
            "Cannot copy the queue from {path}: {error}. Check that the disk has free space.",
            path=source,
            error=error,
        ) from error


def keep_backup(path: Path, mark: str) -> list[Path]:
    """Keep an index file and its write-ahead log as hard links with other names. Blocking.

    Args:
        path: the index file, which will be replaced.
        mark: suffix of the other names.

    Returns:
        Paths of the hard links.

    Raises:
        IndexUnavailable: a hard link can't be created.
    """
    backup = path.with_name(f"{path.name}.old-{mark}")
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copies = []
    for suffix in ("", "-wal"):
        source, target = (each.with_name(each.name + suffix) for each in (path, backup))
        try:
            target.unlink(missing_ok=True)
            if not suffix or (source.exists() and source.stat().st_size):
                os.link(source, target)
                copies.append(target)
        except OSError as error:
            raise IndexUnavailable(f"Cannot rename {path} to {target.name}: {error}.") from error
    return copies


def backups(path: Path) -> list[Path]:
    """Return the paths of the backups of an index file. Blocking."""
    return sorted(path.parent.glob(f"{path.name}.old-*"))


def _copy_table(connection: sqlite3.Connection, table: Table) -> None:
    old_columns = {row[1] for row in connection.execute(f'PRAGMA old.table_info("{table.name}")')}
    if not {column.name for column in table.primary_key} <= old_columns:
        return
    chosen = {
        column.name: f'"{column.name}"' if column.name in old_columns else _default_value(column)
        for column in table.columns
        if column.name in old_columns or _needs_value(column)
    }
    names = ", ".join(f'"{name}"' for name in chosen)
    # The names come from the schema of this program, so they are safe in SQL.
    connection.execute(
        f'INSERT OR IGNORE INTO main."{table.name}" ({names}) '  # noqa: S608
        f'SELECT {", ".join(chosen.values())} FROM old."{table.name}"'
    )


def _needs_value(column: Column[object]) -> bool:
    return not column.nullable and column.server_default is None


def _default_value(column: Column[object]) -> str:
    if filler := column.info.get("filler"):
        return f'"{filler}"'
    return "0" if column.type.python_type is int else "''"


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def upgrade(conn: Connection) -> None:
    """Run pending migrations. Blocking."""
    from alembic import command  # noqa: PLC0415 - not needed by a database of this version
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = conn
    command.upgrade(config, "head")
    conn.commit()
