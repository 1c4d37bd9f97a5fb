"""Databases of the PostgreSQL server that ``.ci/with-postgres`` starts."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import asyncpg

SERVER = os.environ.get("ARCHIVER_TEST_SERVER", "")
"""URL of the server without a database; empty without a server."""


async def execute(database: str, *statements: str) -> None:
    """Run statements in a database, each outside a transaction."""
    conn = await asyncpg.connect(f"{SERVER}/{database}")
    try:
        for statement in statements:
            await conn.execute(statement)
    finally:
        await conn.close()


def administer(*statements: str) -> None:
    """Run statements that create or drop databases; blocking, also inside an event loop."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, execute("postgres", *statements)).result()
