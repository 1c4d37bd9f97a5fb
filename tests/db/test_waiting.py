from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from archiver.db import attempts, crawl_status, entries, jobs, new_entries, queue
from archiver.db.host_queue import HostGroups, to_ms
from archiver.db.schema import job
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State
from archiver.model.seed import RevisedSeed

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def test_open_jobs_are_returned_as_their_requests(db, seed):
    said = seed("http://a.example/said", title="T", tags=("x", "y"), note="N", source="cli")
    others = [seed(f"http://b.example/{number}") for number in range(4)]
    async with db.write() as conn:
        await new_entries.receive(conn, [said], now=NOW, recapture=True)
        await new_entries.receive(conn, others, now=NOW, recapture=False)
        await queue.lease(conn, owner="me", count=2, per_host=1, hosts=HostGroups(), now=NOW)

    async with db.read() as conn:
        first, after = await new_entries.open_seeds(conn, 0, limit=3)
        rest, _ = await new_entries.open_seeds(conn, after, limit=3)

    assert first[0] == new_entries.OpenSeed(said, made_at=NOW, sort_at=NOW, is_urgent=True)
    assert [each.seed for each in first + rest] == [said, *others]


async def test_jobs_wait_for_the_retry_of_their_host_and_their_pace_is_that_of_the_last_ones(
    db, seed
):
    urls = ["http://a.example/1", "http://a.example/2", "http://b.example/"]
    later, failure = NOW + timedelta(minutes=3), Failure(FailureKind.HTTP_STATUS, "429.", 429)
    async with db.write() as conn:
        made = await new_entries.receive(conn, [*map(seed, urls)], now=NOW, recapture=True)
        first, second, other = (each.job_id for each in made)
        postponed = {"failure": attempts.dump_failure(failure), "not_before_ms": to_ms(later)}
        await conn.execute(update(job).where(job.c.id == first).values(postponed))

        waiting = await crawl_status.why_waiting(conn, [first, second, other])
        hosts = await crawl_status.waiting_hosts(conn, limit=9)

        assert waiting == {second: (failure, later)}
        assert [(each.host, each.jobs, each.due, each.why) for each in hosts] == [
            ("a.example", 2, later, failure),
            ("b.example", 1, NOW, None),
        ]

        assert await jobs.seconds_per_job(conn, NOW) is None
        ended = {"state": State.SAVED, "changed_at_ms": to_ms(NOW - timedelta(seconds=30))}
        await conn.execute(update(job).values(ended))
        assert await jobs.seconds_per_job(conn, NOW) == 10


async def test_annotations_without_a_record_are_returned(db, seed, add_snapshot):
    async with db.write() as conn:
        await new_entries.ensure(conn, [seed("http://a.example/"), seed("http://b.example/")])
        entry_id, _ = await entries.by_hash(conn, seed("http://a.example/").hash_url)
        await add_snapshot(conn, entry_id, "http://a.example/")
        later = RevisedSeed(seed("http://a.example/", tags=("t",)), 3)
        await new_entries.restore(conn, [later], unrecorded=True)

        said, after = await new_entries.unrecorded_seeds(conn, 0, limit=9)

        assert said == [later]
        assert await new_entries.unrecorded_seeds(conn, after, limit=9) == ([], after)
