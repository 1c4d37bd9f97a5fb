"""Direct access of tests to an index, bypassing the program."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import text

from archiver.config import INDEX
from archiver.crawl.archive import LOCKS
from archiver.db.engine import Database, index_at


@contextmanager
def hold_migration_lock(data: Path) -> Iterator[None]:
    """Hold the lock that the program takes before it creates an index."""
    with (data / LOCKS / "migrate").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def written(data: Path) -> Iterator[None]:
    """Hold a write transaction in an index, as another program."""
    with closing(sqlite3.connect(data / INDEX, timeout=60, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def remove_index(data: Path) -> None:
    """Remove an archive's index, as if it had been lost."""
    index_at(data / INDEX).remove()


async def execute_sql(data: Path, *statements: str) -> None:
    """Change rows of an index without regard for consistency."""
    db = await Database.open(data / INDEX)
    async with db.write() as conn:
        await conn.execute(text("PRAGMA defer_foreign_keys = ON"))
        for each in statements:
            done = await conn.execute(text(each))
            assert done.rowcount, each
    await db.close()
