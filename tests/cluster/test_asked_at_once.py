"""What is asked of a server at once comes with one wait, as does the turn to write."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from archiver.index import counters, queue, seeds
from archiver.index.at_once import at_once
from archiver.index.database import Database, Member, engines_of
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from archiver.index.dialect.postgres_engines import WRITING
from archiver.index.turns import Turns
from archiver.model.annotation import Annotation
from archiver.model.seed import Seed
from archiver.urls.parse import hash_url, host
from benchmarks.cluster import Proxy

NUMBERS = text("SELECT number FROM generate_series(1, CAST(:last AS BIGINT)) AS number")
WORDS = text("SELECT CAST(:word AS TEXT) AS word, length(:word) AS long")
TOLD = text("SELECT value FROM counter WHERE name = 'told'")
DIVIDED = text("SELECT 6 / CAST(:by AS BIGINT) AS part")


@pytest.fixture
def proxy(address):
    with Proxy(address, 0) as running:
        yield running


@pytest.fixture
async def db(proxy):
    engines = engines_of(proxy.address)
    await asyncio.to_thread(engines.prepare)
    opened = Database(engines, Member(name="one", machine="here", lease=3600))
    async with opened.write():
        pass
    yield opened
    await opened.close()


async def asked(conn, *, last=3, word="some", by=2):
    """Three statements at once; their rows."""
    found = await at_once(
        conn.execute(NUMBERS, {"last": last}),
        conn.execute(WORDS, {"word": word}),
        conn.execute(DIVIDED, {"by": by}),
    )
    return [[tuple(row) for row in each] for each in found]


async def test_what_is_asked_at_once_is_waited_for_once_and_each_has_its_own_rows(db, proxy):
    async with db.read() as conn:
        first = await asked(conn)
        before = proxy.trips
        second = await asked(conn, last=2, word="other", by=3)

        assert proxy.trips == before + 1

    assert first == [[(1,), (2,), (3,)], [("some", 4)], [(3,)]]
    assert second == [[(1,), (2,)], [("other", 5)], [(2,)]]


async def test_what_is_told_meanwhile_and_what_is_asked_within_goes_with_it(db, proxy):
    async def within(conn, number):
        await counters.put(conn, {"told": number})
        found, _ = await at_once(conn.execute(TOLD), conn.execute(NUMBERS, {"last": 1}))
        await counters.put(conn, {"later": number})
        return found.scalar_one()

    async def asked_with(number):
        async with db.write() as conn:
            before = proxy.trips
            found, _ = await at_once(within(conn, number), asked(conn))
            return found, proxy.trips - before

    await asked_with(1)  # what columns their answers have is known from now on

    assert await asked_with(2) == (2, 1)
    async with db.read() as conn:
        assert (await counters.all_counters(conn))["later"] == 2


async def test_what_fails_that_was_told_is_raised_and_comes_to_nothing(db):
    async def told():
        async with db.write() as conn:
            await counters.put(conn, {"told": 1})
            await at_once(asked(conn), conn.tell(DIVIDED, {"by": 0}))

    with pytest.raises(DBAPIError, match="division by zero"):
        await told()

    async with db.read() as conn:
        assert "told" not in await counters.all_counters(conn)


async def test_no_rows_are_no_rows_where_rows_were_before(db):
    async with db.read() as conn:
        await asked(conn)

        assert await asked(conn, last=0) == [[], [("some", 4)], [(3,)]]


async def test_what_fails_among_others_is_raised_and_the_next_transaction_goes_on(db):
    await begun(db)

    with pytest.raises(DBAPIError, match="division by zero"):
        await begun(db, by=0)

    async with db.write() as conn:
        assert await asked(conn, last=1) == [[(1,)], [("some", 4)], [(3,)]]


async def test_a_glance_waits_once_and_a_transaction_for_its_end_too(db, proxy):
    async with db.glance() as conn:
        await asked(conn)
    async with db.glance() as conn:
        before = proxy.trips
        await asked(conn)
    glanced = proxy.trips - before
    async with db.write() as conn:
        await asked(conn)

    before = proxy.trips
    async with db.write() as conn:
        await asked(conn)

    # Whether it may write is asked along with whose turn it is.
    assert (glanced, proxy.trips - before) == (1, 3)


async def test_a_new_connection_waits_for_its_server_to_let_it_in_and_for_nothing_else(db, proxy):
    before = proxy.trips
    async with db.glance() as conn:
        assert (await conn.execute(TOLD)).scalar() is None
        texts = await conn.execute(text("SHOW standard_conforming_strings"))

        assert texts.scalar_one() == "on"

    # TLS is asked for, then who it is; then what is asked of it, twice.
    assert proxy.trips - before == 4


async def test_what_a_transaction_is_to_know_first_is_asked_along_with_its_turn(db, proxy):
    await begun_asking(db)
    before = proxy.trips

    assert await begun_asking(db) == [[(1,), (2,), (3,)], [("some", 4)], [(3,)]]
    assert proxy.trips - before == 2
    async with db.read() as conn:
        assert (await counters.all_counters(conn))["begun"] == 2


async def test_a_moment_holds_still_though_its_connection_was_glanced_through_before(db):
    moment = text("SELECT CAST(now() AS TEXT)")
    for block in (db.glance, db.read):
        async with block() as conn:
            seen = [(await conn.execute(moment)).scalar_one() for _ in range(2)]

        assert (seen[0] == seen[1]) is (block == db.read)
    async with db.glance():
        pass  # nothing is asked for
    async with db.read() as conn:
        assert len({(await conn.execute(moment)).scalar_one() for _ in range(2)}) == 1


@pytest.mark.parametrize("is_asking", [False, True])
async def test_a_writer_waits_for_its_turn_longer_than_the_server_lets_it_wait_at_once(
    db, address, is_asking
):
    other = connect(read_address(address))
    cursor = other.cursor()
    cursor.execute(f"SELECT pg_advisory_xact_lock({WRITING})")

    writing = asyncio.create_task(begun_asking(db) if is_asking else begun(db))
    waits = set()
    async with asyncio.timeout(600):
        while len(waits) < 2:  # it gave up once, and asked anew
            cursor.execute("SELECT waitstart FROM pg_locks WHERE waitstart IS NOT NULL")
            waits |= {row[0] for row in cursor.fetchall()}
            await asyncio.sleep(0)
    other.commit()

    assert await asyncio.wait_for(writing, 60) == [[(1,), (2,), (3,)], [("some", 4)], [(3,)]]
    async with db.read() as conn:
        assert (await counters.all_counters(conn)).get("begun", 0) == is_asking
    other.close()


async def begun(db, **how):
    async with db.write() as conn:
        return await asked(conn, **how)


async def begun_asking(db):
    async def first(conn):
        await counters.change(conn, {"begun": 1})
        return await asked(conn)

    async with db.write_asking(first) as (_, found):
        return found


def seed_of(url, moment):
    return Seed(hash_url(url), url, host(url), Annotation(url, moment))


async def test_leases_are_given_back_and_hurried_with_as_many_waits_however_many_they_are(
    db, proxy
):
    async with db.write() as conn:
        wanted = [seed_of(f"http://{n}.example/", conn.now()) for n in range(60)]
        await seeds.receive(conn, wanted, now=conn.now(), recapture=False)
        taken = await queue.lease(
            conn, owner="one", count=60, each=1, hosts=Turns(), now=conn.now()
        )
    numbers = [each.job_id for each in taken]

    async def waits(some):
        async with db.write() as conn:
            before = proxy.trips
            await queue.requeue(conn, some, owner="one", interrupted=False, now=conn.now())
            await queue.hurry(conn, some, priority=queue.INTERACTIVE, now=conn.now())
            return proxy.trips - before

    assert len(numbers) == 60
    assert await waits(numbers[:2]) == await waits(numbers[2:])
    async with db.read() as conn:
        assert await queue.held_by(conn, "one") == []
