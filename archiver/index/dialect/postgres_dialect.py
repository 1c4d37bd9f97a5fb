"""SQLAlchemy's way with PostgreSQL, without the questions that it asks of each server first.

Four waits for every kind of connection: the server's version, its schema, how its transactions see
each other and how its texts are written. All that follows from them has been the same since 15, the
oldest that is used, or is set by the connection itself.
"""

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.pg8000 import dialect

OLDEST = 15
"""Of those servers that an index may lie in."""
ADDRESS = "postgresql+known://"
"""What an engine is made for, so that it speaks so."""
_Dialect: Any = dialect


class KnownServer(_Dialect):  # type: ignore[misc]  # SQLAlchemy's, which has no type
    """A server of which is known what there is to know."""

    supports_statement_cache = True
    server_version_info = (OLDEST,)

    def initialize(self, connection: Connection) -> None:
        """Ask nothing."""


registry.register("postgresql.known", __name__, KnownServer.__name__)
