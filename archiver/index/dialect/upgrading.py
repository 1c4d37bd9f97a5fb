"""Which schema an index has, and the way to this program's."""

from functools import cache
from importlib import import_module

from sqlalchemy import Connection, create_mock_engine, text
from sqlalchemy.schema import ExecutableDDLElement

from archiver.errors import ConfigurationError, IndexOutdated
from archiver.index.schema import FIRST, HEAD, metadata

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


def upgrade(conn: Connection, place: str) -> None:
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
    import_module("archiver.index.migration").upgrade(conn)


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
