"""Opens an index in PostgreSQL, over pg8000: connections worked by threads, as SQLite's are.

Writers take turns by an advisory lock that lasts as long as their transaction, on whatever machine
they are: numbers of rows, and stamps of changes, rise as commits do. Readers see one moment each.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from archiver.errors import ConfigurationError
from archiver.index.dialect.one_at_a_time import OneAtATime
from archiver.index.dialect.postgres import Postgres
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import SaidConnection, connect
from archiver.index.dialect.postgres_dialect import ADDRESS, OLDEST
from archiver.index.dialect.postgres_text import as_it_was, storable
from archiver.index.dialect.postgres_wire import Wired
from archiver.index.dialect.upgrading import is_current, upgrade

SCHEMA = "archiver"
"""Holds an index, so that one that is built to take its place can lie beside it."""
WRITING = 0x6172636869766572
"""The advisory lock of whoever writes: "archiver"."""
MIGRATING = WRITING - 1
BUSY_SECONDS = 60
HURRY_SECONDS = 3
SLICE_MILLISECONDS = 2000
"""How long a writer waits in PostgreSQL before it looks whether it is still to wait: that costs two
round trips, and its place in the line."""
_PLAIN_TEXTS = "SET standard_conforming_strings = on"
_UNCOMPILED = "SET jit = off"
"""A page's statements take milliseconds; to compile one that names each part takes more."""
_TEXTS = (25, 1043)
"""The types ``text`` and ``varchar``."""
_TAKEN = "55P03"
_WRONG_PASSWORD = "28P01"  # noqa: S105 - an error's code
_WHERE_PASSWORDS_LIE = "; the password is read from PGPASSWORD, or from ~/.pgpass"
_READING = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_PATIENCE = f"SET lock_timeout = {SLICE_MILLISECONDS}"
_BY_INDEX = "SET random_page_cost = 1.1"
"""What writes asks for the rows of a batch by their keys. A server that takes its disk for one that
turns reads all of a table for them, until that has some ten thousand rows."""
_DOWN = ("08", "25006", "53", "55", "57", "58")
"""How the codes of errors begin that tell of the server's state, not of a mistake of ours."""


class PostgresEngines:
    """An index in a database of a server."""

    dialect = Postgres()

    def __init__(self, address: str, schema: str = SCHEMA) -> None:
        self._text = address
        self._address = read_address(address)
        self.place = address
        self._schema = schema
        self._number = 0
        self._turn = OneAtATime()
        self._last_moment = math.inf

    def prepare(self) -> None:
        """Bring the database to this program's schema; blocking.

        Raises:
            ConfigurationError: it was written by a newer version, or can't be opened.
        """
        with self._opened() as conn:
            version = conn.exec_driver_sql("SHOW server_version_num").scalar_one()
            if int(version) < OLDEST * 10_000:
                raise ConfigurationError(
                    f"{self.place} is an older PostgreSQL; {OLDEST} or newer is needed."
                )
            if not is_current(conn):
                conn.rollback()
                conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")
                if self._found(conn):  # those who write it as it was are to be between two writings
                    conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITING})")
                conn.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
                upgrade(conn, self.place)
            self._number = self._found(conn)

    @contextmanager
    def _opened(self) -> Iterator[Connection]:
        """A connection for what is done before others are there, in words when it fails."""
        engine = self._engine()
        try:
            with engine.connect() as conn:
                yield conn
        except DBAPIError as error:
            raise ConfigurationError(
                f"{self.place} can't be opened: {self.message_of(error)}."
            ) from error
        finally:
            engine.dispose()

    def _found(self, conn: Connection) -> int:
        """The number of the schema, which another one never has; 0 if it is not there."""
        found = text("SELECT oid FROM pg_namespace WHERE nspname = :name")
        return int(conn.execute(found, {"name": self._schema}).scalar() or 0)

    def writing(self, silent_seconds: float = 0.0, *, asks_first: bool = False) -> Engine:
        """Opens the connection that writes; by the server's clock it is ended when it is silent."""
        engine = self._engine(_PATIENCE, _BY_INDEX, _most_silent(silent_seconds))
        event.listen(engine, "begin", _ask_for_turn if asks_first else _wait_for_turn)
        return engine

    def reading(self) -> Engine:
        """Opens connections that read."""
        return self._engine(_READING)

    def signing(self, silent_seconds: float = 0.0) -> Engine:
        """Opens connections that change a row of their own, and wait for no writer's turn."""
        return self._engine(_PATIENCE, _most_silent(silent_seconds))

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Hold what only one task of this process has at a time."""
        return self._turn.taken()

    def is_wanted(self) -> bool:
        """Whether somebody waits to write, in this process; others are not known of."""
        return self._turn.is_wanted

    def begins_again(self, error: DBAPIError, since: float) -> bool:
        """Whether another writer was in the way, and there is patience left."""
        patient = time.monotonic() < min(since + BUSY_SECONDS, self._last_moment)
        return patient and _code(error) == _TAKEN

    def is_down(self, error: DBAPIError) -> bool:
        """Whether the server can't be reached, or can't write now."""
        code = _code(error)
        return code.startswith(_DOWN) if code else True

    def message_of(self, error: DBAPIError) -> str:
        """What an error says, in words without a password."""
        given = error.orig.args[0] if error.orig and error.orig.args else ""
        message = given.get("M", "") if isinstance(given, dict) else str(given)
        more = _WHERE_PASSWORDS_LIE if _code(error) == _WRONG_PASSWORD else ""
        return f"{str(message).rstrip('.') or 'the connection was lost'}{more}"

    def identity(self) -> tuple[int | str, ...]:
        """The database, and the schema as it was when it was prepared."""
        return self.place, self._number

    def belong_to(self, name: str, store: str | None) -> tuple[str, str | None]:
        """Whose index this is, and where segments go, as the schema's comment says it."""
        with self._opened() as conn:
            conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")
            number = self._found(conn)
            asked = text("SELECT obj_description(:number, 'pg_namespace')")
            held = str(conn.execute(asked, {"number": number}).scalar() or "")
            owner, _, known = (held or name).partition(" ")
            known = known or (store if store and owner == name else "")
            wanted = f"{owner} {known}".rstrip()
            if number and wanted != held:
                quoted = wanted.replace("'", "''")
                conn.exec_driver_sql(f"COMMENT ON SCHEMA {self._schema} IS '{quoted}'")
                conn.commit()
            return owner, known or None

    def is_there(self) -> bool:
        """Whether there is a schema."""
        with self._opened() as conn:
            return bool(self._found(conn))

    def beside(self) -> "PostgresEngines":
        """The schema that is built to take this one's place."""
        return PostgresEngines(self._text, f"{self._schema}_new")

    def remove(self) -> None:
        """Remove the schema with all that is in it."""
        with self._opened() as conn:
            conn.exec_driver_sql(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
            conn.commit()

    def replace(self) -> None:
        """Put the schema beside into this one's place, in one transaction."""
        with self._opened() as conn:
            conn.exec_driver_sql(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
            conn.exec_driver_sql(f"ALTER SCHEMA {self._schema}_new RENAME TO {self._schema}")
            conn.commit()

    def hurry(self) -> None:
        """Wait for others for some seconds in all from now on."""
        self._last_moment = min(self._last_moment, time.monotonic() + HURRY_SECONDS)

    def close(self) -> None:
        """There is nothing but connections."""

    def _engine(self, *statements: str) -> Engine:
        engine = create_engine(ADDRESS, poolclass=NullPool)
        set_up = (f"SET search_path = {self._schema}", _PLAIN_TEXTS, _UNCOMPILED, *statements)
        event.listen(engine, "do_connect", lambda *_: connect(self._address))
        event.listen(engine, "connect", _prepared("; ".join(set_up)))
        return engine


def _prepared(statements: str) -> Callable[[SaidConnection, object], None]:
    def prepare(connection: SaidConnection, _record: object) -> None:
        connection.register_out_adapter(str, storable)
        connection.register_out_adapter(bool, _number)
        connection.register_out_adapter(Wired, _as_it_is)
        for kind in _TEXTS:
            connection.register_in_adapter(kind, as_it_was)
        with connection.unanswered():  # they go along with what is asked first
            connection.execute_simple(statements)

    return prepare


def _most_silent(seconds: float) -> str:
    return f"SET idle_in_transaction_session_timeout = {round(seconds * 1000)}"


def _number(value: bool) -> str:
    """A truth as the number that columns hold; PostgreSQL reads it as a truth, too."""
    return str(int(value))


def _as_it_is(value: Wired) -> Wired:
    return value


def _ask_for_turn(conn: Connection) -> None:
    """Begin where no other transaction writes; what is asked next waits for that."""
    opened = conn.connection.dbapi_connection
    with opened.unanswered() if isinstance(opened, SaidConnection) else nullcontext():
        conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITING})")


def _wait_for_turn(conn: Connection) -> None:
    """Begin where no other transaction writes, on any machine."""
    try:
        conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITING})")
    except DBAPIError:
        if (opened := conn.connection.dbapi_connection) is not None:
            opened.rollback()
        raise


def _code(error: DBAPIError) -> str:
    given = error.orig.args[0] if error.orig and error.orig.args else ""
    return str(given.get("C", "")) if isinstance(given, dict) else ""
