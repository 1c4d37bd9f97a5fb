"""What tests do to an index past the program, in whichever engine it lies; and who has none."""

import asyncio
import fcntl
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from archiver.archive import INDEX, LOCKS
from archiver.index.connection import AsyncConnection
from archiver.index.database import Database, engines_of
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from archiver.index.dialect.postgres_engines import MIGRATING, WRITING

TESTS = Path(__file__).parent
BENEATH = tuple(
    "derive encoding formats html model net query references replay rewrite store urls wacz warc "
    "wire crawl/test_browser_ends.py crawl/test_confinement.py services/test_access.py "
    "web/test_cards_in_browser.py test_architecture.py test_finishing.py test_indices.py "
    "test_kept_file.py test_logs.py test_packaging.py"
    "".split()
)
"""Tests that open no index, since what they test knows none: they are run with SQLite alone."""
_UNCHECKED = {
    "sqlite": "PRAGMA defer_foreign_keys = ON",
    "postgresql": "SET LOCAL session_replication_role = replica",
}


_WAITING = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted
"""


def why(mark: pytest.Mark) -> str:
    """Why a test is of one engine, or of one place of segments, alone."""
    if not mark.args:
        raise pytest.UsageError(f'Such a test says why: @pytest.mark.{mark.name}("...")')
    return str(mark.args[0])


@contextmanager
def none_made(data: Path) -> Iterator[None]:
    """Hold what the program takes before it makes an index, or a new one beside it."""
    if _is_on_a_server(data):
        with _server(data, f"SELECT pg_advisory_lock({MIGRATING})"):
            yield
    else:
        with (data / LOCKS / "migrate").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@contextmanager
def written(data: Path) -> Iterator[None]:
    """An index as another program has it that writes, and does not end."""
    if _is_on_a_server(data):
        with _server(data, f"SELECT pg_advisory_lock({WRITING})"):
            yield
    else:
        with closing(sqlite3.connect(data / INDEX, timeout=60, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield


async def waits_to_write(data: Path) -> None:
    """Wait until a process of ours has its turn among our own, and asks the engine."""
    if _is_on_a_server(data):
        with _server(data, _WAITING) as cursor:
            while not cursor.fetchone()[0]:
                await asyncio.sleep(0.01)
                cursor.execute(_WAITING)
        return
    with (data / LOCKS / "writing").open("a") as gate:
        while True:
            try:
                fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(gate, fcntl.LOCK_UN)
            await asyncio.sleep(0.01)


async def is_awaited(data: Path, holder: Database) -> None:
    """Wait until somebody waits for the end of what a holder writes."""
    if _is_on_a_server(data):
        await waits_to_write(data)
        return
    while not holder.is_wanted():
        async with holder.read() as conn:
            await conn.execute(text("SELECT 1"))


def _is_on_a_server(data: Path) -> bool:
    return engines_of(data / INDEX).dialect.is_shared


@contextmanager
def _server(data: Path, statement: str) -> Iterator[Any]:
    """A session at the server, in which a statement was run."""
    with closing(connect(read_address(engines_of(data / INDEX).place))) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(statement)
        yield cursor


def remove_index(data: Path) -> None:
    """Take an archive's index away, as if it had been lost."""
    engines_of(data / INDEX).remove()


async def change_by_hand(data: Path, *statements: str) -> None:
    """Change rows of an index without regard for what they lead to."""
    db = await Database.open(data / INDEX)
    engine = db._writer.engine.dialect.name
    async with db.write() as conn:
        await conn.execute(text(_UNCHECKED[engine]))
        for each in statements:
            await _change(conn, each if engine == "sqlite" else _with_its_blobs(each))
    await db.close()


async def _change(conn: AsyncConnection, statement: str) -> None:
    done = await conn.execute(text(statement))
    assert done.rowcount, statement


def _with_its_blobs(statement: str) -> str:
    """A statement with its blobs as PostgreSQL writes them."""
    return re.sub(r"x'(\w*)'", r"decode('\1', 'hex')", statement)
