"""Compiled SQL statements that all engines of a test process share.

A test opens several engines, and compiling their statements takes a sixth of its time. SQLAlchemy
caches compiled statements by dialect and engine; these dialects are equal, and have one cache.
"""

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.dialects.sqlite.aiosqlite import SQLiteDialect_aiosqlite

MAX_STATEMENTS = 2_000
_compiled: dict[Any, Any] = {}


class _Equal:
    """Dialect that equals all others of its class."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class SharedSqlite(_Equal, SQLiteDialect_aiosqlite):
    supports_statement_cache = True


class SharedPostgres(_Equal, PGDialect_asyncpg):
    supports_statement_cache = True


def share_compiled_statements() -> None:
    """Use one cache for all asynchronous engines of this process."""
    for name, each in {
        "sqlite.aiosqlite": SharedSqlite,
        "postgresql.asyncpg": SharedPostgres,
    }.items():
        registry.register(name, __name__, each.__name__)
    event.listen(Engine, "engine_connect", _use_shared_cache)


def _use_shared_cache(connection: Connection) -> None:
    if len(_compiled) > MAX_STATEMENTS:
        _compiled.clear()
    connection.execution_options(compiled_cache=_compiled)
