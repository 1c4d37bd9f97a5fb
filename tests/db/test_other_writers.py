"""The index while another program writes to it without using our lock files."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text

pytestmark = pytest.mark.sqlite

TIMES = 100
PROGRAM = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=float(sys.argv[2]), isolation_level=None)
for line in sys.stdin:
    try:
        connection.execute(line.strip())
        print("done", flush=True)
    except sqlite3.OperationalError as error:
        print(error, flush=True)
"""
COUNT_ON = "UPDATE tally SET count = count + 1"


@asynccontextmanager
async def another_program(tmp_path, *, patience):
    """A process that runs SQL statements, one per line, and reports the results."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, str(tmp_path / "archive.sqlite3"), str(patience)),
        stdin=PIPE,
        stdout=PIPE,
    )

    async def execute(statement):
        process.stdin.write(f"{statement}\n".encode())
        return (await process.stdout.readline()).decode().strip()

    yield execute
    process.stdin.close()
    await process.wait()


@pytest.fixture(autouse=True)
async def tally(db):
    async with db.write() as conn:
        await conn.execute(text("CREATE TABLE tally (count INTEGER)"))
        await conn.execute(text("INSERT INTO tally VALUES (0)"))


async def counted(conn):
    return (await conn.execute(text("SELECT count FROM tally"))).scalar()


async def test_a_writer_that_reads_first_locks_the_index(db, tmp_path):
    """In SQLite, a reader that starts writing after another commit fails despite its timeout."""
    async with another_program(tmp_path, patience=0) as execute:
        async with db.write() as conn:
            before = await counted(conn)
            said = await execute(COUNT_ON)
            await conn.execute(text("UPDATE tally SET count = :count"), {"count": before + 10})
        assert said == "database is locked"
        assert await execute(COUNT_ON) == "done"
    async with db.read() as conn:
        assert await counted(conn) == 11


async def test_two_programs_that_read_and_write_lose_no_update(db, tmp_path):
    async with another_program(tmp_path, patience=60) as execute, asyncio.timeout(120):

        async def others():
            return {await execute(COUNT_ON) for _ in range(TIMES)}

        async def ours():
            for _ in range(TIMES):
                async with db.write() as conn:
                    count = await counted(conn)
                    await conn.execute(
                        text("UPDATE tally SET count = :count"), {"count": count + 1}
                    )

        said, _ = await asyncio.gather(others(), ours())
    assert said == {"done"}
    async with db.read() as conn:
        assert await counted(conn) == 2 * TIMES
