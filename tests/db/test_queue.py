from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from archiver.db import host_queue, imports, jobs, new_entries, queue
from archiver.db.engine import Database
from archiver.db.schema import job, queue_host
from archiver.model.failure import Failure, FailureKind

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FAILURE = Failure(FailureKind.TIMEOUT, "Too slow.")


@pytest.fixture
def fill(db, seed):
    """Queue pages of hosts in this order: ``("a", 3)`` is three of a.example."""

    async def queue_up(*hosts: tuple[str, int], **more: object) -> None:
        seeds = [
            seed(f"http://{host}.example/{number}")
            for host, count in hosts
            for number in range(count)
        ]
        async with db.write() as conn:
            await new_entries.receive(conn, seeds, now=NOW, **{"recapture": False, **more})

    return queue_up


async def lease(db, count, *, owner="me", per_host=2, busy=(), now=NOW):
    async with db.write() as conn:
        hosts = await host_queue.due_hosts(conn, busy, now=now, count=99)
        return await queue.lease(
            conn, owner=owner, count=count, per_host=per_host, hosts=hosts, now=now
        )


async def return_leases(db, leases, *, interrupted=False):
    async with db.write() as conn:
        ids = [each.job_id for each in leases]
        await queue.requeue(conn, ids, owner="me", interrupted=interrupted, now=NOW)


async def test_hosts_alternate_whatever_the_order_of_the_list(db, fill):
    await fill(("a", 50), ("b", 3), ("c", 1))

    first = await lease(db, 6)
    second = await lease(db, 3, per_host=1, now=NOW + timedelta(seconds=1))

    assert Counter(each.entry.host for each in first) == {
        "a.example": 2,
        "b.example": 2,
        "c.example": 1,
    }
    assert Counter(each.entry.host for each in second) == {"a.example": 1, "b.example": 1}


async def test_a_served_host_moves_to_the_end_of_the_queue(db, fill):
    await fill(("a", 9), ("b", 9), ("c", 9))

    turns = [
        (await lease(db, 1, per_host=1, now=NOW + timedelta(seconds=second)))[0].entry.host
        for second in range(1, 7)
    ]

    assert sorted(turns[:3]) == ["a.example", "b.example", "c.example"]
    assert turns[3:] == turns[:3]


async def test_two_processes_are_never_leased_the_same_job(db, fill, index_location):
    await fill(("a", 7), ("b", 7))
    other = await Database.open(index_location)

    all_leases = []
    while leases := [*await lease(db, 2, owner="one"), *await lease(other, 2, owner="two")]:
        all_leases += leases
    await other.close()

    assert len(all_leases) == 14
    assert len({each.job_id for each in all_leases}) == 14
    async with db.read() as conn:
        assert sorted(await queue.job_owners(conn)) == ["one", "two"]


async def test_a_released_lease_can_be_leased_again(db, fill):
    await fill(("a", 1))
    (before,) = await lease(db, 1)
    await return_leases(db, [before])
    await return_leases(db, [before])

    async with db.read() as conn:
        counts = await jobs.queue_counts(conn)
    assert (counts.queued, counts.fetching) == (1, 0)
    (again,) = await lease(db, 1)
    assert again == before

    for interrupted in (True, False):
        await return_leases(db, [again], interrupted=interrupted)
        (again,) = await lease(db, 1)
        assert again.interrupted, "it stays marked"


async def test_hosts_without_jobs_never_block_the_queue(db, fill):
    await fill(("a", 1), ("b", 1), ("c", 1), ("d", 1))
    early = NOW - timedelta(seconds=60)
    async with db.write() as conn:
        stale = [(1, f"gone{n}.example", int(early.timestamp() * 1000)) for n in range(50)]
        await queue.set_ready(conn, stale)

    leases = []
    for _ in range(40):
        leases += await lease(db, 4)

    assert len(leases) == 4
    async with db.read() as conn:
        assert await queue.next_due(conn) is None
        assert (await conn.execute(select(queue_host))).all() == []


async def test_a_job_completed_after_its_release_leaves_no_waiting_host(db, fill):
    await fill(("a", 1))
    (first,) = await lease(db, 1)
    await return_leases(db, [first])
    async with db.write() as conn:
        await queue.end_jobs(conn, [(first, None, FAILURE)], NOW)

    assert await lease(db, 1) == []
    async with db.read() as conn:
        assert await queue.next_due(conn) is None


async def test_a_process_that_lost_a_lease_can_neither_complete_nor_delay_the_job(db, fill):
    await fill(("a", 1))
    (lost,) = await lease(db, 1, owner="me")
    await return_leases(db, [lost])
    (other_lease,) = await lease(db, 1, owner="other")

    async with db.write() as conn:
        await queue.end_jobs(conn, [(lost, "20260301120000", None)], NOW)
        await queue.postpone_jobs(conn, [(lost, FAILURE, NOW)], NOW)

        counts = await jobs.queue_counts(conn)
        assert (counts.fetching, counts.queued, counts.saved) == (1, 0, 0)
        await queue.end_jobs(conn, [(other_lease, "20260301120000", None)], NOW)
        assert (await jobs.queue_counts(conn)).saved == 1


async def test_a_delayed_job_is_not_leased_early_and_blocks_no_others(db, fill):
    await fill(("a", 2), ("b", 1))
    later = NOW + timedelta(seconds=30)
    (first,) = await lease(db, 1, per_host=1)
    async with db.write() as conn:
        await queue.postpone_jobs(conn, [(first, FAILURE, later)], NOW)

    further = await lease(db, 9)

    assert len(further) == 2
    assert first.job_id not in {each.job_id for each in further}
    async with db.read() as conn:
        assert await queue.next_due(conn) == later
    (again,) = await lease(db, 9, now=later)
    assert (again.job_id, again.attempts) == (first.job_id, 1)


async def test_leasing_can_be_limited_to_some_jobs(db, fill):
    await fill(("a", 9))
    async with db.read() as conn:
        newest = select(job.c.id).order_by(job.c.id.desc()).limit(3)
        job_ids = (await conn.execute(newest)).scalars().all()
    async with db.write() as conn:
        of_other_host = await queue.lease_only(
            conn, job_ids, owner="me", count=9, hosts=["b.example"], now=NOW
        )
        leases = await queue.lease_only(
            conn, job_ids, owner="me", count=9, hosts=["a.example"], now=NOW
        )

    assert not of_other_host
    assert {each.job_id for each in leases} == set(job_ids)


async def test_a_worker_leases_jobs_only_of_its_hosts(db, fill):
    await fill(*[(f"h{number}", 2) for number in range(4)])
    mine = ["h1.example", "h3.example"]

    async with db.read() as conn:
        due = await host_queue.due_hosts(conn, ["h0.example"], now=NOW, count=9)
    async with db.write() as conn:
        leases = await queue.lease(
            conn,
            owner="me",
            count=100,
            per_host=2,
            hosts=mine,
            now=NOW,
        )
        other_leases = await queue.lease_only(
            conn, range(1, 9), owner="me", count=9, hosts=["h2.example"], now=NOW
        )

    assert sorted(due) == ["h1.example", "h2.example", "h3.example"]
    assert sorted(each.entry.host for each in leases) == [mine[0], mine[0], mine[1], mine[1]]
    assert {each.entry.host for each in other_leases} == {"h2.example"}


async def begun_import(db):
    async with db.write() as conn:
        return await imports.create(conn, name="a", form="HTML", path=None, owner="me", now=NOW)


async def pause(db, import_id, *, is_paused=True):
    async with db.write() as conn:
        await queue.pause_import(conn, import_id, is_paused=is_paused, now=NOW, limit=99)


async def test_links_of_a_paused_import_wait_and_others_are_leased(db, fill):
    number = await begun_import(db)
    await fill(("a", 3), ("b", 1), import_id=number)
    await fill(("c", 1))
    fetching = await lease(db, 2, per_host=1, busy=["c.example"])
    await pause(db, number)
    await fill(("d", 1), import_id=number)
    async with db.write() as conn:
        await queue.postpone_jobs(conn, [(fetching[0], FAILURE, NOW)], NOW)
        await queue.set_last_priority(conn, "a.example", FAILURE, now=NOW)
        await queue.postpone_last(conn, "a.example", NOW, now=NOW)
    await return_leases(db, fetching[1:])

    meanwhile = await lease(db, 9)
    async with db.read() as conn:
        due = await queue.next_due(conn)
        hosts = await host_queue.due_hosts(conn, (), now=NOW, count=9)
    await pause(db, number, is_paused=False)
    resumed = await lease(db, 9, per_host=9)

    assert {each.entry.host for each in meanwhile} == {"c.example"}
    assert (due, hosts) == (None, [])
    assert Counter(each.entry.host for each in resumed) == {
        "a.example": 3,
        "b.example": 1,
        "d.example": 1,
    }


async def test_a_user_who_saves_a_link_of_a_paused_import_does_not_wait(db, fill):
    number = await begun_import(db)
    await fill(("a", 2), import_id=number)
    await pause(db, number)

    await fill(("a", 1), recapture=True)

    assert [each.entry.url for each in await lease(db, 9)] == ["http://a.example/0"]
