"""If one job is visited several times, the index keeps the visit recorded first."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from archiver.db import jobs, new_entries
from archiver.db.host_queue import to_ms
from archiver.db.schema import job
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host, parse_url
from archiver.model.annotation import Annotation
from archiver.model.job import State
from archiver.model.seed import Seed

URL = "http://a.example/"
MADE = datetime(2024, 2, 29, 12, 0, tzinfo=UTC)
SAVED, OVER = MADE + timedelta(minutes=5), MADE + timedelta(minutes=9)


@pytest.fixture
async def conn(crawl):
    """An index with a job that captured a page and was completed later."""
    (number,) = await crawl.queue(URL)
    async with crawl.context.db.write() as conn:
        ended = {
            "state": State.SAVED,
            "owner": None,
            "created_at": int(MADE.timestamp()),
            "timestamp": int(to_timestamp(SAVED)),
            "changed_at_ms": to_ms(OVER),
        }
        await conn.execute(update(job).where(job.c.id == number).values(ended))
        yield conn


VISIT_URL = hash_url(parse_url(URL))


def visits(*minutes):
    """Return visits of the URL, each a number of minutes after the job was created."""
    return [(VISIT_URL, to_timestamp(MADE + timedelta(minutes=each))) for each in minutes]


async def test_a_visit_of_a_completed_job_is_superseded(conn):
    superseded_ids = await jobs.superseded(conn, visits(-1, 1, 5, 7, 10))

    assert superseded_ids == {*visits(1, 7)}


async def test_a_late_visit_is_superseded_even_if_the_next_job_exists(conn):
    values = {"created_at": int((MADE + timedelta(minutes=11)).timestamp())}
    seed = Seed(VISIT_URL, URL, host(URL), Annotation(URL, MADE))
    (second,) = await new_entries.receive(conn, [seed], now=MADE, recapture=True)
    await conn.execute(update(job).where(job.c.id == second.job_id).values(values))

    superseded_ids = await jobs.superseded(conn, visits(10, 11, 14), grace=timedelta(minutes=10))

    assert superseded_ids == {*visits(10)}
