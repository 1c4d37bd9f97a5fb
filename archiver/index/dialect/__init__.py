"""SQL that differs between SQLite and PostgreSQL; all other statements are shared."""

from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect.port import Dialect
from archiver.index.dialect.postgres import Postgres
from archiver.index.dialect.sqlite import Sqlite

__all__ = ["dialect_named", "dialect_of"]

_SQLITE, _POSTGRES = Sqlite(), Postgres()


def dialect_of(conn: AsyncConnection) -> Dialect:
    """Return what differs for the database of a connection."""
    return dialect_named(conn.dialect.name)


def dialect_named(name: str) -> Dialect:
    """Return what differs for a database, by SQLAlchemy's name of it."""
    return _POSTGRES if name == "postgresql" else _SQLITE
