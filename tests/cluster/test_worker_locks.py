"""Advisory locks of workers at a real PostgreSQL server."""

import asyncio

import asyncpg

from archiver.crawl.crash_recovery import dead_among
from archiver.db import worker_locks
from archiver.db.engine import Database
from archiver.db.worker_locks import WorkerLocks
from archiver.errors import IndexUnavailable
from archiver.warc.locks import RunLock
from tests.cluster.owner_access import as_owner

ENDED = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'archiver one %'"""


def worker(address, name):
    return WorkerLocks(name, lambda: asyncpg.connect(address))


async def test_a_host_has_one_worker_until_that_leaves_it(address):
    one, other = worker(address, "one"), worker(address, "other")
    await one.permit()
    await other.permit()

    assert await one.take_hosts(["a.example", "b.example"], most=9) == ["a.example", "b.example"]
    assert await other.take_hosts(["b.example", "c.example"], most=9) == ["c.example"]
    assert await other.take_hosts(["c.example", "d.example"], most=1) == ["c.example"]
    await one.leave_hosts({"b.example"})
    assert await other.take_hosts(["b.example", "c.example"], most=9) == ["b.example", "c.example"]

    await one.leave()
    assert await other.take_hosts(["a.example"], most=9) == ["a.example"]
    await other.leave()


async def test_a_worker_waits_until_the_server_can_be_reached(address, monkeypatch):
    monkeypatch.setattr(worker_locks, "CHECK_SECONDS", 0.01)
    attempts = []

    async def connect():
        attempts.append(len(attempts))
        if len(attempts) < 3:
            raise IndexUnavailable("refused")
        return await asyncpg.connect(address)

    one = WorkerLocks("one", connect)
    await one.permit()

    assert attempts == [0, 1, 2]
    assert await one.take_hosts(["a.example"], most=1) == ["a.example"]
    await one.leave()


async def test_the_server_ends_the_session_of_an_idle_worker(address, monkeypatch):
    monkeypatch.setattr(worker_locks, "IDLE_SECONDS", 1)
    monkeypatch.setattr(worker_locks, "CHECK_SECONDS", 600)
    one, other = worker(address, "one"), worker(address, "other")
    await one.permit()
    await one.take_hosts(["a.example"], most=9)

    async with asyncio.timeout(60):
        await one.lost()
    await other.permit()

    assert not one.hosts
    assert await other.take_hosts(["a.example"], most=9) == ["a.example"]
    for each in (one, other):
        await each.leave()


async def test_a_worker_that_connects_again_is_not_dead(address, tmp_path, monkeypatch):
    monkeypatch.setattr(worker_locks, "CHECK_SECONDS", 0.1)
    db, one, lock = await Database.open(address), worker(address, "one"), RunLock(tmp_path)
    await one.permit()

    as_owner(address, ENDED)
    await one.lost()
    dead = await dead_among(["one", "other"], db, lock)

    assert dead == ["other"]
    await one.leave()
    await db.close()
    lock.release()
