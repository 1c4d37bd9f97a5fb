"""What tests do to an index past the program, in whichever engine it lies."""

import re
from pathlib import Path

from sqlalchemy import text

from archiver.archive import INDEX
from archiver.index.connection import AsyncConnection
from archiver.index.database import Database, engines_of

_UNCHECKED = {
    "sqlite": "PRAGMA defer_foreign_keys = ON",
    "postgresql": "SET LOCAL session_replication_role = replica",
}


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
