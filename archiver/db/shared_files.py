"""Small files of user settings that machines share through a PostgreSQL index.

They are in a separate PostgreSQL schema, which a rebuild of the index does not replace. With
SQLite, these files are in the data directory.
"""

from typing import Any

from sqlalchemy import Column, LargeBinary, MetaData, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import Number, Words
from archiver.db.statements import OnConflict, insert_rows

SCHEMA = "archiver_settings"
table = Table(
    "file",
    MetaData(schema=SCHEMA),
    Column("name", Words, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("revision", Number, nullable=False),
)


async def find(conn: AsyncConnection, name: str) -> tuple[bytes | None, int]:
    """Return the content of a file and its revision; None and 0 if it does not exist."""
    query = select(table.c.content, table.c.revision).where(table.c.name == name)
    row: Any = (await conn.execute(query)).one_or_none()
    return tuple(row) if row else (None, 0)


async def put(conn: AsyncConnection, name: str, content: bytes, revision: int) -> None:
    """Write a file."""
    row = {"name": name, "content": content, "revision": revision}
    await insert_rows(conn, table, [row], OnConflict.REPLACE)
