"""Who is stopped or cut off while it has the turn to write keeps nobody else from writing."""

import asyncio
import traceback
from contextlib import closing

import pytest
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from sqlalchemy import text

from archiver.errors import FencedOff, IndexUnavailable
from archiver.index.database import Database, Member, engines_of
from tests.cluster.owner import as_owner

LEASE = 4.0


@pytest.fixture
async def two(address):
    """The index as two processes have it that take part."""
    await asyncio.to_thread(engines_of(address).prepare)
    both = [Database(engines_of(address), Member(name, name, LEASE)) for name in ("one", "two")]
    yield both
    for each in both:
        await each.close()


HOLDING = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON writer DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION wait();
"""
"""Lets who enters wait while it commits, as long as another has the lock."""
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted"


async def write(conn):
    await conn.execute(text("INSERT INTO tag (id, name) VALUES (1, 'a')"))


async def written(db):
    async with db.read() as conn:
        return (await conn.execute(text("SELECT name FROM tag"))).scalars().all()


async def test_the_turn_of_who_is_silent_goes_to_the_next_and_nothing_of_it_is_written(two):
    silent, other = two

    async def be_silent_until_another_writes():
        async with silent.write() as conn:
            await write(conn)
            async with asyncio.timeout(600), other.write():
                assert await written(other) == []

    with pytest.raises(IndexUnavailable):
        await be_silent_until_another_writes()

    assert await written(other) == []
    async with silent.write() as conn:
        await write(conn)
    assert await written(other) == ["a"]


async def test_who_waits_for_something_else_meanwhile_keeps_its_turn(two):
    silent, other = two
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(2 * LEASE, done.set)

    async with silent.write() as conn:
        await conn.waiting_for(done.wait())
        await write(conn)

    assert await written(other) == ["a"]


async def test_who_is_broken_off_while_it_enters_writes_later_and_leaves_no_row(two, address):
    db, _ = two
    as_owner(address, HOLDING)

    with closing(connect(read_address(address))) as held:
        held.cursor().execute("SELECT pg_advisory_lock(1)")
        entering = asyncio.create_task(db.write().__aenter__())
        while not as_owner(address, WAITING)[0][0]:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        entering.cancel()
    await asyncio.wait([entering])

    async with db.write() as conn:
        await write(conn)
    await db.close()
    assert as_owner(address, "SELECT name FROM writer") == []


async def test_a_hundred_who_are_told_that_they_are_fenced_off_are_told_as_shortly(two, address):
    silent, _ = two
    async with silent.write() as conn:
        await write(conn)
    as_owner(address, "DELETE FROM writer")
    lengths = set()

    for ask in [silent.write().__aenter__, *[silent.permit] * 100]:
        with pytest.raises(FencedOff) as told:
            await ask()
        lengths.add(len(traceback.extract_tb(told.tb)))

    assert max(lengths) < 20
