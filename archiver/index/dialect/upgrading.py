"""Which schema an index has, and the way to this program's."""

from importlib import import_module

from sqlalchemy import Connection, text

from archiver.errors import ConfigurationError
from archiver.index.schema import HEAD


def is_current(conn: Connection) -> bool:
    """Whether an index has this program's schema."""
    return _revision(conn) == HEAD


def upgrade(conn: Connection, place: str) -> None:
    """Bring an index to this program's schema, in a transaction that is committed.

    Raises:
        ConfigurationError: it was written by a newer version.
    """
    found = _revision(conn)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise ConfigurationError(
            f"{place} was written by a newer version of archiver (schema {found}, this one knows "
            f"{HEAD}). Update the program, or run `archiver reindex` to build the index again."
        )
    import_module("archiver.index.migration").upgrade(conn)


def _revision(conn: Connection) -> str | None:
    if not conn.dialect.has_table(conn, "alembic_version"):
        return None
    revision: str | None = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision
