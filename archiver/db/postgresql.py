"""PostgreSQL engine.

All machines share one advisory lock for writing. So one transaction writes at a time, and row ids
and ``job.changed_at_ms`` increase in commit order. Each read transaction reads one database
snapshot.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from archiver.db.dialects import decode_nul, encode_nul
from archiver.db.schema_version import is_current, upgrade_schema
from archiver.errors import ConfigurationError, IndexUnavailable

OLDEST = 15
"""Oldest supported major version of PostgreSQL."""
SCHEMA = "archiver"
"""PostgreSQL schema of the index; a rebuild fills a second schema."""
WRITING = 0x6172636869766572
"""Key of the advisory lock for writing, which also creates, migrates and claims the index."""
READERS = 4
"""Number of connections for reading that stay open."""
MAX_READERS = 16
"""Maximum number of connections for reading."""
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 120
"""Maximum duration of a statement in seconds; the connection is closed after a timeout."""
IDLE_SECONDS = 60
"""Seconds after which the server ends an idle transaction, for example of a hanging process."""
_SETTINGS = f"""SET application_name = 'archiver';
SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s';
SET jit = off;
SET plan_cache_mode = force_custom_plan;
SET random_page_cost = 1.1"""
"""Settings of each connection.

Web pages use short statements, which JIT slows down. A rare and a frequent word need different
plans. Batches of rows are looked up by key, for which index scans are best.
"""
_DOWN = ("08", "25006", "53", "55", "57", "58")
"""Prefixes of SQLSTATE codes of errors that the server's state causes, instead of a bug."""
_WRONG_PASSWORD = "28P01"  # noqa: S105 - an error code
_BEGIN_WRITE = f"SELECT pg_advisory_xact_lock({WRITING})"
_CREATE_SETTINGS = (
    _BEGIN_WRITE,
    "CREATE SCHEMA IF NOT EXISTS archiver_settings",
    "CREATE TABLE IF NOT EXISTS archiver_settings.file (name TEXT PRIMARY KEY, content BYTEA)",
    # Until the first release: change the table of earlier schemas.
    "ALTER TABLE archiver_settings.file DROP COLUMN IF EXISTS revision",
    """DO $$ BEGIN IF to_regclass('archiver.shared_file') IS NOT NULL THEN
    INSERT INTO archiver_settings.file SELECT name, content FROM archiver.shared_file
    ON CONFLICT DO NOTHING; END IF; END $$""",
)
"""Statements that create the table of ``db.shared_files``."""
_CLAIM = """INSERT INTO archiver_settings.file AS own VALUES ('archive', :claim)
ON CONFLICT (name) DO UPDATE
SET content = CASE own.content WHEN :name THEN excluded.content ELSE own.content END
RETURNING content"""
"""Statement that stores a claim if there is none, or if it lacks the object store."""
_ACCESS_HINT = ". Check the user and the password (PGPASSWORD or ~/.pgpass)"
_CONNECT_ERRORS = (
    *(OSError, ValueError, OverflowError),
    *(asyncpg.PostgresError, asyncpg.InterfaceError),
)

_Result = TypeVar("_Result")


class PostgresIndex:
    """Index in a PostgreSQL database.

    Attributes:
        place: URL of the database without a password; messages show it.
        is_shared: True, because other machines can use the index.

    Args:
        address: URL of the database without a password.
        schema: name of the PostgreSQL schema.
    """

    is_shared = True

    def __init__(self, address: str, schema: str = SCHEMA) -> None:
        self.place = address
        self._schema = schema

    def prepare(self) -> None:
        """Create the schema or migrate it to this program's version. Blocking.

        Raises:
            ConfigurationError: a newer version of archiver wrote the index, or the database can't
                be opened or is older than ``OLDEST``.
        """
        self._administer(self._prepare)

    async def _prepare(self, conn: AsyncConnection) -> None:
        version = (await conn.exec_driver_sql("SHOW server_version_num")).scalar_one()
        if int(version) < OLDEST * 10_000:
            raise ConfigurationError(
                f"{self.place} runs an old version of PostgreSQL. Use {OLDEST} or newer."
            )
        if not await conn.run_sync(is_current):
            for statement in (*_CREATE_SETTINGS, f"CREATE SCHEMA IF NOT EXISTS {self._schema}"):
                await conn.exec_driver_sql(statement)
            await conn.run_sync(upgrade_schema, self.place)

    def _administer(self, work: Callable[[AsyncConnection], Awaitable[_Result]]) -> _Result:
        """Run a function in a transaction on a connection outside the pools. Blocking.

        Raises:
            ConfigurationError: the database can't be opened, or a statement failed.
        """

        async def run() -> _Result:
            engine = self._engine(poolclass=NullPool)
            async with engine.connect() as conn:
                result = await work(conn)
                await conn.commit()
                return result

        try:
            return asyncio.run(run())
        except DBAPIError as error:
            raise ConfigurationError(
                f"Cannot open {self.place}: {self.message_of(error)}."
            ) from error
        except IndexUnavailable as error:
            raise ConfigurationError(str(error)) from error

    def writer(self) -> AsyncEngine:
        """Return an engine with the one connection that writes."""
        return self._engine(pool_size=1, max_overflow=0)

    def readers(self) -> AsyncEngine:
        """Return an engine with connections that read; each transaction reads one snapshot."""
        return self._engine(
            pool_size=READERS,
            max_overflow=MAX_READERS - READERS,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True},
        )

    def _engine(self, **options: Any) -> AsyncEngine:
        url = "postgresql+asyncpg://"
        return create_async_engine(url, async_creator=self.connect, pool_pre_ping=True, **options)

    async def begin_write(self, conn: AsyncConnection) -> None:
        """Begin a write transaction; wait until no other process on any machine writes."""
        await conn.exec_driver_sql(_BEGIN_WRITE)

    async def connect(self) -> asyncpg.Connection:
        """Open a connection outside the pools; the caller closes it.

        Raises:
            IndexUnavailable: the server can't be reached or refuses the connection.
        """
        try:
            connection = await asyncpg.connect(
                self.place, timeout=CONNECT_SECONDS, command_timeout=STATEMENT_SECONDS
            )
            await connection.execute(f"SET search_path = {self._schema}; {_SETTINGS}")
            for kind in ("text", "varchar"):  # with U+0000, which PostgreSQL can't store
                await connection.set_type_codec(
                    kind, schema="pg_catalog", encoder=encode_nul, decoder=decode_nul
                )
        except _CONNECT_ERRORS as error:
            hint = _ACCESS_HINT if getattr(error, "sqlstate", "") == _WRONG_PASSWORD else ""
            raise IndexUnavailable(
                "Cannot open {path}: {orig}.",
                path=self.place,
                orig=f"{str(error).rstrip('.') or 'no response'}{hint}",
            ) from error
        return connection

    def is_down(self, error: DBAPIError) -> bool:
        """Return whether the state of the server caused an error, not a bug of this program."""
        code = str(getattr(error.orig, "sqlstate", None) or "")
        return code.startswith(_DOWN) if code else True

    def message_of(self, error: DBAPIError) -> str:
        """Return the server's message."""
        cause = getattr(error.orig, "__cause__", None) or error.orig
        return str(cause).rstrip(".") or "the connection was lost"

    def claim(self, name: str, store: str | None) -> tuple[str, str | None]:
        """Claim the index for an archive and its object store. Blocking.

        An existing claim of another archive stays.

        Args:
            name: name of the archive.
            store: URL of the archive's object store; None if it has no object store.

        Returns:
            Name and object store of the archive that owns the index.
        """
        values = {"name": name.encode(), "claim": f"{name} {store or ''}".rstrip().encode()}
        owner: bytes = self._run(*_CREATE_SETTINGS, _CLAIM, **values)
        claimed_by, _, current_store = owner.decode().partition(" ")
        return claimed_by, current_store or None

    def exists(self) -> bool:
        """Return whether the schema exists. Blocking."""
        query = "SELECT true FROM pg_namespace WHERE nspname = :schema"
        return self._run(query, schema=self._schema) is not None

    def replacement(self) -> "PostgresIndex":
        """Return the index that a rebuild fills; ``replace`` renames it to this schema."""
        return PostgresIndex(self.place, f"{self._schema}_new")

    def remove(self) -> None:
        """Remove the schema with everything in it. Blocking."""
        self._run(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")

    def replace(self) -> None:
        """Replace this schema with its ``replacement``, in one transaction. Blocking."""
        self._run(
            f"DROP SCHEMA IF EXISTS {self._schema} CASCADE",
            f"ALTER SCHEMA {self._schema}_new RENAME TO {self._schema}",
        )

    def _run(self, *statements: str, **values: object) -> Any:
        """Run statements in one transaction; return the first value of the last one. Blocking."""

        async def run(conn: AsyncConnection) -> Any:
            for statement in statements:
                result = await conn.execute(text(statement), values)
            return result.scalar() if result.returns_rows else None

        return self._administer(run)
