"""Access to an index as the owner of the database, without waiting for other transactions."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import asyncpg


def as_owner(address: str, statement: str) -> list[tuple]:
    """Return the rows of a statement, committed separately."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _rows(address, statement)).result()


async def _rows(address: str, statement: str) -> list[tuple]:
    conn = await asyncpg.connect(address, server_settings={"search_path": "archiver"})
    try:
        return [tuple(row) for row in await conn.fetch(statement)]
    finally:
        await conn.close()
