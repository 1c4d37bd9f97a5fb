from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from archiver.db import attempts, crawl_status, jobs, new_entries
from archiver.db.host_queue import to_ms
from archiver.db.schema import job
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def test_waiting_times_depend_on_retries_and_on_the_pace_of_the_newest_jobs(db, seed):
    urls = ["http://a.example/1", "http://a.example/2", "http://b.example/"]
    later, failure = NOW + timedelta(minutes=3), Failure(FailureKind.HTTP_STATUS, "429.", 429)
    async with db.write() as conn:
        results = await new_entries.receive(conn, [*map(seed, urls)], now=NOW, recapture=True)
        first, second, other = (each.job_id for each in results)
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
