"""Small files of user settings that machines share through a PostgreSQL index.

They are in a separate PostgreSQL schema, which a rebuild of the index does not replace. With
SQLite, these files are in the data directory.
"""

from sqlalchemy import Column, LargeBinary, MetaData, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import Words
from archiver.db.statements import OnConflict, insert_rows

SCHEMA = "archiver_settings"
table = Table(
    "file",
    MetaData(schema=SCHEMA),
    Column("name", Words, primary_key=True),
    Column("content", LargeBinary),
)


async def find(conn: AsyncConnection, name: str) -> bytes | None:
    """Return the content of a file; None if it does not exist."""
    return (await conn.execute(select(table.c.content).where(table.c.name == name))).scalar()


async def put(conn: AsyncConnection, name: str, content: bytes) -> None:
    """Write a file."""
    await insert_rows(conn, table, [{"name": name, "content": content}], OnConflict.REPLACE)
