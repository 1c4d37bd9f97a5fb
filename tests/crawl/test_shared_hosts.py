"""What one of several crawling processes may ask of a host."""

import asyncio
from contextlib import suppress
from functools import partial

import pytest
from sqlalchemy import Engine, event, literal, select

from archiver.config import Settings
from archiver.crawl.shared_hosts import SharedHosts
from archiver.index import holds, writers
from archiver.index.database import Database
from archiver.index.turns import to_ms

DELAY, MOST = 2, 6
OTHERS = ("second", "third")
HOST, OTHER_HOST = "a.example", "b.example"


@pytest.fixture
async def db(tmp_path):
    db = await Database.open(tmp_path / "archive.sqlite3")
    yield db
    await db.close()


@pytest.fixture
async def hosts(db):
    """Those of one of three processes, which knows of the others."""
    async with db.write() as conn:
        for name in ("first", *OTHERS):
            await writers.enter(conn, name, machine=name, lease_ms=600_000)
    shared = SharedHosts(db, "first", Settings(host_delay=DELAY, host_concurrency=MOST))
    keeping_up = asyncio.create_task(shared.keep_up(lambda _host, _seconds: None))
    await shared.permit()
    yield shared
    keeping_up.cancel()
    with suppress(asyncio.CancelledError):
        await keeping_up


async def test_a_host_that_nobody_holds_is_asked_by_all_together_as_often_as_by_one(hosts):
    processes = 1 + len(OTHERS)

    assert hosts.delay(HOST) == processes * DELAY
    assert processes * hosts.room(HOST) <= MOST


async def test_who_holds_a_host_leaves_to_others_what_they_may_take_of_it(hosts):
    hosts.settle([HOST])

    assert hosts.delay(HOST) == DELAY
    assert hosts.room(HOST) + len(OTHERS) * hosts.room(OTHER_HOST) <= MOST
    assert hosts.delay(OTHER_HOST) == (1 + len(OTHERS)) * DELAY


async def is_free(conn, moment_ms):
    asked = {"owner": "second", "now": moment_ms}
    return (await conn.execute(select(holds.is_free(literal(HOST))), asked)).scalar_one()


async def test_a_host_that_was_let_go_is_free_no_sooner_than_a_whole_delay_later(db):
    shared = SharedHosts(db, "first", Settings(host_delay=0.2001))
    async with db.write() as conn:
        await shared.hold(conn, [HOST])
        shared.settle([HOST])
        before = to_ms(db.now())
        await shared.let_go(conn, [])

        # Of 200.1 ms between moments that are rounded to half a millisecond.
        assert not await is_free(conn, before + 201)
        assert await is_free(conn, before + 60_000)


async def test_who_lets_a_host_go_says_that_it_asked_for_rest(db):
    shared = SharedHosts(db, "first", Settings(host_delay=DELAY))
    async with db.write() as conn:
        await shared.hold(conn, [HOST])
        shared.settle([HOST])
        shared.note_rest(HOST, 3600)
        await shared.let_go(conn, [])

        moment = to_ms(db.now())
        assert not await is_free(conn, moment + 3_500_000)
        assert await is_free(conn, moment + 3_700_000)


async def test_the_turn_at_a_host_comes_with_what_it_asked_of_another(db, hosts):
    async with db.write() as conn:
        await holds.note_rests(conn, {HOST: 60_000})

    assert 30 < await hosts.take_turn(HOST) <= 60
    assert await hosts.take_turn(OTHER_HOST) == 0


async def test_a_turn_that_nobody_wants_any_more_as_it_is_had_is_left_to_others(db, hosts):
    taking = asyncio.create_task(hosts.take_turn(HOST))
    give_up = partial(asyncio.get_running_loop().call_soon_threadsafe, taking.cancel)

    def committing(_conn):
        give_up()

    event.listen(Engine, "commit", committing)
    try:
        await asyncio.wait([taking])
    finally:
        event.remove(Engine, "commit", committing)

    assert taking.cancelled()
    async with asyncio.timeout(5):
        is_had = False
        while not is_had:
            async with db.write() as conn:
                is_had = await holds.take_turn(conn, "second", HOST)
