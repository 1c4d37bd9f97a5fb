"""Advisory locks of workers at a real PostgreSQL server."""

import asyncio

import asyncpg

from archiver.db import worker_locks
from archiver.db.worker_locks import ExpiredWorkers, WorkerLocks


def worker(address, name):
    return WorkerLocks(name, lambda: asyncpg.connect(address))


async def test_a_host_has_one_worker_until_that_leaves_it(address):
    one, other = worker(address, "one"), worker(address, "other")
    await one.enter()
    await other.enter()

    assert await one.take_hosts({"a.example", "b.example"}) == {"a.example", "b.example"}
    assert await other.take_hosts({"b.example", "c.example"}) == {"c.example"}
    await one.leave_hosts({"b.example"})
    assert await other.take_hosts({"b.example", "c.example"}) == {"b.example", "c.example"}

    await one.leave()
    assert await other.take_hosts({"a.example"}) == {"a.example"}
    await other.leave()


async def test_the_server_ends_the_session_of_an_idle_worker(address, monkeypatch):
    monkeypatch.setattr(worker_locks, "IDLE_TIMEOUT_SECONDS", 1)
    monkeypatch.setattr(worker_locks, "CHECK_SECONDS", 600)
    one, other = worker(address, "one"), worker(address, "other")
    await one.enter()
    await one.take_hosts({"a.example"})

    async with asyncio.timeout(60):
        await one.lost()
    await other.enter()

    assert not one.hosts
    assert await other.take_hosts({"a.example"}) == {"a.example"}
    for each in (one, other):
        await each.leave()


def test_a_worker_without_a_lock_expires_after_a_while():
    now = 0.0
    expired_workers = ExpiredWorkers(lambda: now)

    assert expired_workers.find_expired(["dead", "known"], set(), lambda name: name == "known") == [
        "known"
    ]
    assert expired_workers.is_any_suspected(["dead"])
    now = worker_locks.GRACE_SECONDS
    assert expired_workers.find_expired(["dead"], set()) == ["dead"]
    assert not expired_workers.is_any_suspected(["dead"])
