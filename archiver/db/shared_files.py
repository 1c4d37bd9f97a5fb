"""Small files of user settings that machines share through a PostgreSQL index.

With SQLite, these files are in the data directory.
"""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import shared_file
from archiver.db.statements import OnConflict, insert_rows


@dataclass(frozen=True, slots=True)
class SharedFile:
    """Content of a file and its revision."""

    content: bytes
    revision: int


async def find(conn: AsyncConnection, name: str) -> SharedFile | None:
    """Return a file; None if it does not exist."""
    row = (
        await conn.execute(
            select(shared_file.c.content, shared_file.c.revision).where(shared_file.c.name == name)
        )
    ).one_or_none()
    return SharedFile(*row) if row else None


async def put(conn: AsyncConnection, name: str, content: bytes) -> int:
    """Write a file; return its new revision."""
    stored = await find(conn, name)
    revision = stored.revision + 1 if stored else 1
    row = {"name": name, "content": content, "revision": revision}
    await insert_rows(conn, shared_file, [row], OnConflict.REPLACE)
    return revision
