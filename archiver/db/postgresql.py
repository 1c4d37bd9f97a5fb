"""PostgreSQL engine.

All machines share one advisory lock for writing. So one transaction writes at a time, and row ids
and ``job.changed_at_ms`` increase in commit order. Each read transaction reads one database
snapshot.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy import event, text
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
"""Key of the advisory lock for writing."""
MIGRATING = WRITING - 1
"""Key of the advisory lock for creating, migrating and claiming the schema."""
READERS = 4
"""Number of connections for reading that stay open."""
MAX_READERS = 16
"""Maximum number of connections for reading."""
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 120
"""Maximum duration of a statement in seconds; the connection is closed after a timeout."""
IDLE_SECONDS = 60
"""Seconds after which the server ends an idle transaction, for example of a hanging process."""
_DOWN = ("08", "25006", "53", "55", "57", "58")
"""Prefixes of SQLSTATE codes of errors that the server's state causes, instead of a bug."""
_WRONG_PASSWORD = "28P01"  # noqa: S105 - an error code
_SCHEMA_ID = "SELECT CAST(oid AS BIGINT) FROM pg_namespace WHERE nspname = :schema"
"""Query for the OID of a schema, which differs for every schema."""
_CREATE_SETTINGS = (
    f"SELECT pg_advisory_xact_lock({MIGRATING})",
    "CREATE SCHEMA IF NOT EXISTS archiver_settings",
    """CREATE TABLE IF NOT EXISTS archiver_settings.file
    (name TEXT PRIMARY KEY, content BYTEA NOT NULL, revision BIGINT NOT NULL)""",
    # Until the first release: copy the files of an index with an earlier schema.
    """DO $$ BEGIN IF to_regclass('archiver.shared_file') IS NOT NULL THEN
    INSERT INTO archiver_settings.file SELECT name, content, revision FROM archiver.shared_file
    ON CONFLICT DO NOTHING; END IF; END $$""",
)
"""Statements that create the table of ``db.shared_files``."""
_CLAIM = """INSERT INTO archiver_settings.file AS own VALUES ('archive', :claim, 1)
ON CONFLICT (name) DO UPDATE
SET content = CASE own.content WHEN :name THEN excluded.content ELSE own.content END
RETURNING content"""
"""Statement that stores a claim if there is none, or if it lacks the object store."""
_ACCESS_HINT = ". Check the user and the password (PGPASSWORD or ~/.pgpass)"


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
        self._id = 0

    def prepare(self) -> None:
        """Create the schema or migrate it to this program's version. Blocking.

        Raises:
            ConfigurationError: a newer version of archiver wrote the index, or the database can't
                be opened or is older than ``OLDEST``.
        """
        asyncio.run(self._prepare())

    async def _prepare(self) -> None:
        async with self._administering() as conn:
            version = (await conn.exec_driver_sql("SHOW server_version_num")).scalar_one()
            if int(version) < OLDEST * 10_000:
                raise ConfigurationError(
                    f"{self.place} runs an old version of PostgreSQL. Use {OLDEST} or newer."
                )
            if not await conn.run_sync(is_current):
                await conn.rollback()
                for statement in _CREATE_SETTINGS:
                    await conn.exec_driver_sql(statement)
                if await self._schema_id(conn):  # no other process writes during a migration
                    await conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITING})")
                await conn.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
                await conn.run_sync(upgrade_schema, self.place)
            self._id = await self._schema_id(conn)

    @asynccontextmanager
    async def _administering(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection outside the pools; raise its errors as ``ConfigurationError``."""
        engine = self._engine(poolclass=NullPool)
        try:
            async with engine.connect() as conn:
                yield conn
        except DBAPIError as error:
            raise ConfigurationError(
                f"Cannot open {self.place}: {self.message_of(error)}."
            ) from error
        except IndexUnavailable as error:
            raise ConfigurationError(str(error)) from error
        finally:
            await engine.dispose()

    async def _schema_id(self, conn: AsyncConnection) -> int:
        """Return the OID of the schema; 0 if it does not exist."""
        return int((await conn.execute(text(_SCHEMA_ID), {"schema": self._schema})).scalar() or 0)

    def writer(self) -> AsyncEngine:
        """Return an engine with the one connection that writes."""
        # Writers look up batches of rows by key. This setting makes PostgreSQL use index scans.
        return self._engine("SET random_page_cost = 1.1", pool_size=1, max_overflow=0)

    def readers(self) -> AsyncEngine:
        """Return an engine with connections that read; each transaction reads one snapshot."""
        return self._engine(
            pool_size=READERS,
            max_overflow=MAX_READERS - READERS,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True},
        )

    async def begin_write(self, conn: AsyncConnection) -> None:
        """Begin a write transaction; wait until no other process on any machine writes."""
        await conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITING})")

    async def connect(self) -> asyncpg.Connection:
        """Open a connection outside the pools; the caller closes it.

        Raises:
            IndexUnavailable: the server can't be reached or refuses the connection.
        """
        try:
            return await asyncpg.connect(
                self.place,
                timeout=CONNECT_SECONDS,
                command_timeout=STATEMENT_SECONDS,
                server_settings={"application_name": "archiver"},
            )
        except (
            OSError,
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
            ValueError,
            OverflowError,
        ) as error:
            more = ""
            if getattr(error, "sqlstate", "") == _WRONG_PASSWORD:
                more = _ACCESS_HINT
            raise IndexUnavailable(
                "Cannot open {path}: {orig}.",
                path=self.place,
                orig=f"{str(error).rstrip('.') or 'no response'}{more}",
            ) from error

    def is_down(self, error: DBAPIError) -> bool:
        """Return whether the state of the server caused an error, not a bug of this program."""
        code = str(getattr(error.orig, "sqlstate", None) or "")
        return code.startswith(_DOWN) if code else True

    def message_of(self, error: DBAPIError) -> str:
        """Return the server's message."""
        cause = getattr(error.orig, "__cause__", None) or error.orig
        return str(cause).rstrip(".") or "the connection was lost"

    def identity(self) -> tuple[int | str, ...]:
        """Return a value that identifies the index and changes when the index is rebuilt."""
        return self.place, self._id

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
        return self._run(_SCHEMA_ID, schema=self._schema) is not None

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

        async def run() -> Any:
            async with self._administering() as conn:
                for statement in statements:
                    result = await conn.execute(text(statement), values)
                first = result.scalar() if result.returns_rows else None
                await conn.commit()
                return first

        return asyncio.run(run())

    def _engine(self, *statements: str, **options: Any) -> AsyncEngine:
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self.connect,
            pool_pre_ping="poolclass" not in options,
            **options,
        )
        settings = "; ".join(
            (
                f"SET search_path = {self._schema}",
                "SET jit = off",  # web pages use short statements, which JIT slows down
                # A rare and a frequent word need different plans.
                "SET plan_cache_mode = force_custom_plan",
                f"SET idle_in_transaction_session_timeout = {IDLE_SECONDS * 1000}",
                *statements,
            )
        )
        event.listen(
            engine.sync_engine,
            "connect",
            lambda dbapi, _: dbapi.run_async(lambda conn: _set_up(conn, settings)),
        )
        return engine


async def _set_up(connection: asyncpg.Connection, settings: str) -> None:
    """Apply settings to a new connection and encode U+0000, which PostgreSQL can't store."""
    await connection.execute(settings)
    for kind in ("text", "varchar"):
        await connection.set_type_codec(
            kind, schema="pg_catalog", encoder=encode_nul, decoder=decode_nul
        )
