"""Databases of the PostgreSQL server that ``.ci/with-postgres`` starts."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg

from archiver.db.engine import index_at

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


@contextmanager
def empty_index(shared: Path) -> Iterator[str]:
    """Create a database with the schema; yield its URL, and drop it at the end.

    It is a copy of a database that all test processes with the directory ``shared`` create once.
    """
    with (shared / "template").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        template = file.read()
        if not template:
            template = f"template_{uuid4().hex}"
            administer(f"CREATE DATABASE {template}")
            index_at(f"{SERVER}/{template}").prepare()
            file.write(template)
    name = f"index_{uuid4().hex}"
    administer(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    yield f"{SERVER}/{name}"
    administer(f"DROP DATABASE {name} WITH (FORCE)")
