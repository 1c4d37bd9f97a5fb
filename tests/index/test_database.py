"""One writer at a time over all processes; whoever writes for long hears who waits."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing

import pytest
from sqlalchemy import text

from archiver.index.database import READERS, Database
from archiver.index.dialect.sqlite import MUCH_CACHE_KB, WRITER_CACHE_KB
from archiver.index.dialect.sqlite_engines import PAGE_BYTES
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
        async with asyncio.timeout(60):
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


@pytest.mark.sqlite("a server's pages are its own")
@pytest.mark.parametrize(("made_with", "has"), [(None, PAGE_BYTES), (4096, 4096)])
async def test_an_index_has_large_pages_unless_it_was_made_with_others(tmp_path, made_with, has):
    path = tmp_path / "another.sqlite3"
    if made_with:
        with closing(sqlite3.connect(path)) as made:
            made.execute(f"PRAGMA page_size = {made_with}")
            made.execute("CREATE TABLE other (id INTEGER)")

    db = await Database.open(path)

    async with db.read() as conn:
        assert (await conn.execute(text("PRAGMA page_size"))).scalar_one() == has
    await db.close()


async def test_what_is_read_beside_something_has_a_connection_of_its_own_if_one_is_free(db):
    async with db.read() as conn, db.read_beside(conn) as other:
        assert other is not conn
        assert (await other.execute(text("SELECT 1"))).scalar_one() == 1


async def test_where_no_connection_is_free_nobody_who_has_one_waits_for_another(db):
    async with AsyncExitStack() as all_of_them:
        conns = [await all_of_them.enter_async_context(db.read()) for _ in range(READERS)]
        async with db.read_beside(conns[0]) as other:
            assert other is conns[0]
