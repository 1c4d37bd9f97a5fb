"""What one of several crawling processes may ask of a host."""

import asyncio
from contextlib import suppress

import pytest

from archiver.config import Settings
from archiver.crawl.shared_hosts import SharedHosts
from archiver.index import writers
from archiver.index.database import Database

DELAY, MOST = 2, 6
OTHERS = ("second", "third")
HOST, OTHER_HOST = "a.example", "b.example"


@pytest.fixture
async def hosts(tmp_path):
    """Those of one of three processes, which knows of the others."""
    db = await Database.open(tmp_path / "archive.sqlite3")
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
    await db.close()


async def test_a_host_that_nobody_holds_is_asked_by_all_together_as_often_as_by_one(hosts):
    processes = 1 + len(OTHERS)

    assert hosts.delay(HOST) == processes * DELAY
    assert processes * hosts.room(HOST) <= MOST


async def test_who_holds_a_host_leaves_to_others_what_they_may_take_of_it(hosts):
    hosts.settle([HOST])

    assert hosts.delay(HOST) == DELAY
    assert hosts.room(HOST) + len(OTHERS) * hosts.room(OTHER_HOST) <= MOST
    assert hosts.delay(OTHER_HOST) == (1 + len(OTHERS)) * DELAY
