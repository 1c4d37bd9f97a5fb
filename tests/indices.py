"""What tests do to an index past the program, in whichever engine it lies; and who has none."""

import fcntl
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import text

from archiver.archive import INDEX, LOCKS
from archiver.index.connection import AsyncConnection
from archiver.index.database import Database, engines_of
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from archiver.index.dialect.postgres_engines import MIGRATING

TESTS = Path(__file__).parent
BENEATH = tuple(
    "derive encoding formats html model net query references replay rewrite store urls wacz warc "
    "wire test_architecture.py test_finishing.py test_logs.py test_packaging.py "
    "test_values.py".split()
)
"""Tests that open no index, since what they test knows none: they are run with SQLite alone."""
_UNCHECKED = {
    "sqlite": "PRAGMA defer_foreign_keys = ON",
    "postgresql": "SET LOCAL session_replication_role = replica",
}


@contextmanager
def none_made(data: Path) -> Iterator[None]:
    """Hold what the program takes before it makes an index, or a new one beside it."""
    engines = engines_of(data / INDEX)
    if engines.dialect.is_shared:
        with closing(connect(read_address(engines.place))) as connection:
            connection.cursor().execute(f"SELECT pg_advisory_lock({MIGRATING})")
            yield
    else:
        with (data / LOCKS / "migrate").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


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
