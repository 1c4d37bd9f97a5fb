"""One writer at a time over all processes; whoever writes for long hears who waits."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import text

from archiver.index.database import READERS, Database
from archiver.index.dialect.sqlite import MUCH_CACHE_KB, WRITER_CACHE_KB
from tests.indices import is_awaited


@pytest.fixture
async def other(db, tmp_path):
    """The same index, opened as another process opens it."""
    opened = await Database.open(tmp_path / "archive.sqlite3")
    yield opened
    await opened.close()


async def told(holder, waiter):
    """What a holder hears before somebody waits, while they do, and when they have had it."""
    heard = []
    entered = asyncio.Event()

    async def wait():
        async with waiter.write():
            entered.set()

    async with holder.write():
        heard.append(holder.is_wanted())
        waiting = asyncio.create_task(wait())
        async with asyncio.timeout(10):
            while not holder.is_wanted():
                async with holder.read() as conn:
                    await conn.exec_driver_sql("SELECT 1")
        heard.append(entered.is_set())
    await waiting
    async with holder.write():
        heard.append(holder.is_wanted())
    return heard


async def test_whoever_writes_hears_that_another_task_waits(db):
    assert await told(db, db) == [False, False, False]


@pytest.mark.sqlite("of other machines a server does not tell")
async def test_whoever_writes_hears_that_another_process_waits(db, other):
    assert await told(db, other) == [False, False, False]


async def test_of_two_that_write_again_and_again_neither_waits_for_ever(db, other, tmp_path):
    async def write(who, had):
        async with who.write():
            had.set()

    for first, second in ((db, other), (other, db)):
        had, turns = asyncio.Event(), 0
        async with asyncio.TaskGroup() as group:
            while not had.is_set():
                async with first.write():
                    if not turns:
                        group.create_task(write(second, had))
                    if not had.is_set():
                        await is_awaited(tmp_path, first)
                turns += 1
                assert turns < 15


@pytest.mark.sqlite("a server has its memory by itself")
async def test_much_is_written_with_more_memory_that_is_given_back(db):
    async def said(conn):
        names = ("cache_size", "synchronous", "foreign_keys")
        return [(await conn.execute(text(f"PRAGMA {each}"))).scalar() for each in names]

    async with db.write() as conn:
        before = await said(conn)
    async with db.write_much() as conn:
        while_writing = await said(conn)
    async with db.write() as conn:
        afterwards = await said(conn)

    assert while_writing == [-MUCH_CACHE_KB, 1, 0]
    assert before == afterwards == [-WRITER_CACHE_KB, 2, 1]


async def test_what_is_read_beside_something_has_a_connection_of_its_own_if_one_is_free(db):
    async with db.read() as conn, db.read_beside(conn) as other:
        assert other is not conn
        assert (await other.execute(text("SELECT 1"))).scalar_one() == 1


async def test_where_no_connection_is_free_nobody_who_has_one_waits_for_another(db):
    async with AsyncExitStack() as all_of_them:
        conns = [await all_of_them.enter_async_context(db.read()) for _ in range(READERS)]
        async with db.read_beside(conns[0]) as other:
            assert other is conns[0]
