"""Transactions and statements of the index, and what PostgreSQL cannot store unchanged."""

import asyncio
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from archiver.db import engine
from archiver.db.dialects import decode_nul, encode_nul
from archiver.db.engine import Database
from archiver.db.schema import counter
from archiver.db.statements import insert_rows
from archiver.errors import IndexUnavailable

ROW = {"name": "a row", "value": 1}


async def insert(conn, *rows):
    await insert_rows(conn, counter, rows or [ROW])


async def is_there(conn, name="a row"):
    query = select(func.count()).select_from(counter).where(counter.c.name == name)
    return bool((await conn.execute(query)).scalar())


@pytest.fixture
async def other(db, index_location):
    """The same index, opened a second time."""
    opened = await Database.open(index_location)
    yield opened
    await opened.close()


async def test_a_reader_sees_one_snapshot(db):
    async with db.read() as conn:
        assert not await is_there(conn)
        async with db.write() as writing:
            await insert(writing)
        assert not await is_there(conn)

    async with db.read() as conn:
        assert await is_there(conn)


async def test_a_reader_cannot_write(db):
    with pytest.raises(IndexUnavailable):
        async with db.read() as conn:
            await insert(conn)


async def test_an_exception_rolls_back(db):
    async def insert_twice():
        async with db.write() as conn:
            await insert(conn)
            await insert(conn)

    with pytest.raises(IntegrityError):
        await insert_twice()

    async with db.read() as conn:
        assert not await is_there(conn)


async def test_two_concurrent_writers_lose_no_update(db, other):
    async def count_on(who):
        for _ in range(20):
            async with who.write() as conn:
                result = (await conn.execute(select(counter.c.value).where(is_ours))).scalar()
                await conn.execute(counter.update().where(is_ours).values(value=result + 1))

    is_ours = counter.c.name == "a row"
    async with db.write() as conn:
        await insert(conn, {**ROW, "value": 0})

    async with asyncio.TaskGroup() as group:
        for who in (db, other, db):
            group.create_task(count_on(who))

    async with db.read() as conn:
        assert (await conn.execute(select(counter.c.value).where(is_ours))).scalar() == 60


async def test_cancellation_ends_waiting_for_the_write_lock(db, other):
    async def write():
        async with db.write() as conn:
            await insert(conn)

    async with other.write():
        waiting = asyncio.create_task(write())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 0.5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    await write()
    async with db.read() as conn:
        assert await is_there(conn)


@pytest.mark.sqlite
async def test_a_cancelled_write_releases_the_write_lock(db, other):
    """Also while its traceback refers to the cursor of the statement that was interrupted."""

    async def write_forever():
        async with db.write() as conn:
            for number in count():
                rows = ({"name": f"{number}, {each}", "value": each} for each in range(3_000))
                await insert(conn, *rows)

    other.limit_waits()
    for _ in range(3):
        writing = asyncio.create_task(write_forever())
        await asyncio.wait([writing], timeout=0.05)
        writing.cancel()
        await asyncio.wait([writing])

        async with other.write() as conn:
            assert not await is_there(conn, "0, 0")


async def test_a_commit_cannot_be_interrupted(db):
    """A task cancelled during its commit has either committed or changed nothing."""
    began = asyncio.Event()

    async def write():
        async with db.write() as conn:
            await insert(conn)
            asyncio.get_running_loop().call_soon(began.set)

    writing = asyncio.create_task(write())
    await began.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing

    async with db.read() as conn:
        assert await is_there(conn)


async def test_a_stopping_process_limits_its_wait_for_other_writers(db, other, monkeypatch):
    monkeypatch.setattr(engine, "LAST_WAIT_SECONDS", 0.2)
    db.limit_waits()
    async with other.write():
        with pytest.raises(IndexUnavailable, match="another process"):
            async with db.write():
                pass


@pytest.mark.sqlite
async def test_a_write_locks_the_index_before_it_reads(db, index_location):
    """A read transaction that writes after another program's commit would fail in SQLite."""
    with closing(sqlite3.connect(index_location, timeout=0)) as other_program:
        async with db.write() as conn:
            assert not await is_there(conn)
            with pytest.raises(sqlite3.OperationalError, match="database is locked"):
                other_program.execute("INSERT INTO counter VALUES ('another row', 1)")
            await insert(conn)

    async with db.read() as conn:
        assert await is_there(conn)


@pytest.mark.sqlite
async def test_commits_are_durable_and_foreign_keys_are_checked(db):
    async def setting(name):
        async with db.write() as conn:
            return (await conn.execute(text(f"PRAGMA {name}"))).scalar_one()

    assert [await setting(each) for each in ("journal_mode", "synchronous", "foreign_keys")] == [
        "wal",
        2,
        1,
    ]


@pytest.mark.sqlite
async def test_a_file_that_was_removed_or_replaced_takes_no_more_writes(
    db, index_location, tmp_path
):
    async with db.write() as conn:
        await insert(conn)

    def put(content):
        Path(index_location).unlink(missing_ok=True)
        if content:
            Path(index_location).write_bytes(content)

    for other in (None, b"another file"):
        put(other)
        with pytest.raises(IndexUnavailable, match="removed or replaced"):
            async with db.write() as conn:
                await insert(conn, {**ROW, "name": "another row"})


TEXTS = st.text(alphabet="\0\x01\x02ab€😀", max_size=8)


@given(TEXTS)
def test_stored_texts_contain_no_nul_and_are_restored(text):
    assert "\0" not in encode_nul(text)
    assert decode_nul(encode_nul(text)) == text


MANY = 20_000
"""More rows than one statement can have parameters."""


async def row_count(db):
    async with db.read() as conn:
        return (await conn.execute(select(func.count()).select_from(counter))).scalar()


async def test_many_rows_are_all_inserted_or_none(db):
    before = await row_count(db)
    rows = [{"name": f"row {n}", "value": n} for n in range(MANY)]

    with pytest.raises(IntegrityError):
        async with db.write() as conn:
            await insert_rows(conn, counter, [*rows, rows[0]])
    assert await row_count(db) == before

    async with db.write() as conn:
        await insert_rows(conn, counter, rows)
    assert await row_count(db) == before + MANY
