"""Many rows at once: all of them go in, or none does."""

import asyncio
import gc

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from archiver.index.bulk import insert_rows
from archiver.index.dialect.sqlite import MOST_VALUES
from archiver.index.schema import counter

ENDS = (
    "CREATE TRIGGER ends BEFORE INSERT ON counter WHEN new.value = 10 "
    "BEGIN SELECT RAISE(ROLLBACK, 'disk I/O error'); END"
)
"""As SQLite does by itself where a disk is full or can't be read."""


async def count_one_by_one(db):
    async with db.write_much() as conn:
        for number in range(20):
            await insert_rows(conn, counter, ("name", "value"), [(f"row {number}", number)])


@pytest.mark.parametrize("is_first", [False, True], ids=["within", "first"])
@pytest.mark.sqlite("SQLite alone goes on after some failures")
async def test_no_row_stays_of_many_where_sqlite_ends_the_transaction_between_them(db, is_first):
    """And who asks is the one who is told."""
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: told.append(said["message"]))
    rows = [(f"row {n}", n) for n in range(2 * MOST_VALUES)]
    async with db.write() as conn:
        before = (await conn.execute(text("SELECT count(*) FROM counter"))).scalar()
        await conn.exec_driver_sql(ENDS)

    async def insert(conn):
        await insert_rows(conn, counter, ("name", "value"), rows)

    with pytest.raises(IntegrityError, match="disk I/O error"):
        async with db.write_asking(insert) if is_first else db.write() as conn:
            await insert(conn)

    async with db.read() as conn:
        after = (await conn.execute(text("SELECT count(*) FROM counter"))).scalar()
    assert after == before
    gc.collect()
    assert told == []


@pytest.mark.sqlite("SQLite alone goes on after some failures")
async def test_nothing_that_runs_ahead_stays_where_what_it_ran_behind_failed(db):
    async with db.write() as conn:
        before = (await conn.execute(text("SELECT count(*) FROM counter"))).scalar()
        await conn.exec_driver_sql(ENDS)

    with pytest.raises(IntegrityError, match="disk I/O error"):
        await count_one_by_one(db)

    async with db.write() as conn:  # the connection serves others as it did
        await insert_rows(conn, counter, ("name", "value"), [("a later one", 1)])
    async with db.read() as conn:
        after = (await conn.execute(text("SELECT count(*) FROM counter"))).scalar()
    assert after == before + 1


async def test_what_runs_ahead_is_seen_by_who_asks_behind_it(db):
    async with db.write_much() as conn:
        await insert_rows(conn, counter, ("name", "value"), [("a row", 7)])
        found = (
            await conn.execute(text("SELECT value FROM counter WHERE name = 'a row'"))
        ).scalar()

    assert found == 7
