"""Small files shared between machines.

Where the index is a file nothing is here: they are in the folder then.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.schema import shared_file
from archiver.db.statements import Clash, among_texts, insert_rows


@dataclass(frozen=True, slots=True)
class SharedFile:
    """What a file holds, and how often that was changed."""

    content: bytes
    revision: int


async def revision_of(conn: AsyncConnection, name: str) -> int | None:
    """How often a file was changed; None if there is none."""
    found = await conn.execute(select(shared_file.c.revision).where(shared_file.c.name == name))
    revision: int | None = found.scalar()
    return revision


async def find(conn: AsyncConnection, name: str) -> SharedFile | None:
    """A file, if it is there."""
    row = (
        await conn.execute(
            select(shared_file.c.content, shared_file.c.revision).where(shared_file.c.name == name)
        )
    ).one_or_none()
    return SharedFile(*row) if row else None


async def put(conn: AsyncConnection, name: str, content: bytes) -> int:
    """Let a file hold this; return how often it was changed now."""
    revision = (await revision_of(conn, name) or 0) + 1
    columns = ("name", "content", "revision")
    await insert_rows(conn, shared_file, columns, [(name, content, revision)], Clash.GOES)
    return revision


async def remove(conn: AsyncConnection, names: Sequence[str]) -> int:
    """Have no such files any more; how many there were."""
    gone = await conn.execute(delete(shared_file).where(shared_file.c.name.in_(among_texts(names))))
    return gone.rowcount


async def all_of(conn: AsyncConnection) -> dict[str, bytes]:
    """What every file holds, by name."""
    rows = await conn.execute(select(shared_file.c.name, shared_file.c.content))
    return dict(rows.all())
