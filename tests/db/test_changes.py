"""Followers of job changes miss none, despite clock differences and late commits."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.db import jobs, new_entries, queue
from archiver.db.engine import Database
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import ChangeCursor, Job, State
from archiver.model.seed import Seed

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TIMEOUT = Failure(FailureKind.TIMEOUT, "It took too long.")

clocks = st.integers(-3000, 3000).map(lambda ms: NOON + timedelta(milliseconds=ms))
steps = st.lists(
    st.tuples(st.sampled_from(["save", "lease", "end", "postpone", "give back"]), clocks)
    | st.tuples(st.just("read"), st.integers(1, 4)),
    max_size=25,
)


class Follower:
    """A follower that remembers the last reported state of each job."""

    def __init__(self, db: Database, cursor: ChangeCursor) -> None:
        self._db = db
        self._cursor = cursor
        self.known: dict[int, Job] = {}

    async def read_changes(self, limit: int) -> bool:
        """Read the next changes; return whether there were any."""
        async with self._db.read() as conn:
            result = await jobs.changes_after(conn, self._cursor, limit=limit)
        for each in result:
            self.known[each.job.id] = each.job
            self._cursor = each.cursor
        return bool(result)

    async def catch_up(self) -> dict[int, Job]:
        while await self.read_changes(3):
            pass
        return self.known


class Queue:
    """A queue with several processes, each with a different clock."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._leased: list = []
        self._made = 0

    async def step(self, what: str, now: datetime) -> None:
        async with self._db.write() as conn:
            match what:
                case "save":
                    self._made += 3
                    seeds = [_seed(self._made + n) for n in range(3)]
                    await new_entries.receive(conn, seeds, now=now, recapture=True)
                case "lease":
                    ids, tomorrow = range(99), NOON + timedelta(days=1)
                    hosts = await queue.hosts_of(conn, ids)
                    leases = await queue.lease_only(
                        conn, ids, owner="me", count=2, hosts=hosts, now=tomorrow
                    )
                    self._leased += leases
                case "give back":
                    leased, self._leased = self._leased, []
                    ids = [each.job_id for each in leased]
                    await queue.requeue(conn, ids, owner="me", interrupted=False, now=now)
                case "end" if self._leased:
                    lease = self._leased.pop()
                    await queue.end_jobs(conn, [(lease, Timestamp("20260301120000"), None)], now)
                case "postpone" if self._leased:
                    lease = self._leased.pop()
                    await queue.postpone_jobs(conn, [(lease, TIMEOUT, NOON)], now)


def _seed(number: int) -> Seed:
    url = f"http://{number}.example/"
    return Seed(hash_url(url), url, host(url), Annotation(url, NOON))


async def _all_jobs(db: Database) -> dict[int, Job]:
    async with db.read() as conn:
        return {each.id: each for each in await jobs.by_ids(conn, range(200))}


@settings(max_examples=12)
@given(steps)
def test_a_follower_knows_the_state_of_every_job(steps):
    async def follow() -> None:
        with TemporaryDirectory() as folder:
            db = await Database.open(Path(folder) / "archive.sqlite3")
            worked, follower = Queue(db), Follower(db, ChangeCursor(0, 0))
            for what, given_ in steps:
                if what == "read":
                    await follower.read_changes(given_)
                else:
                    await worked.step(what, given_)
            followed, actual = await follower.catch_up(), await _all_jobs(db)
            await db.close()
            assert followed == actual

    asyncio.run(follow())


async def test_concurrent_writers_are_seen_completely(db, index_location):
    other = await Database.open(index_location)
    follower = Follower(db, ChangeCursor(0, 0))
    mine, theirs = Queue(db), Queue(other)
    theirs._made = 1000
    done = asyncio.Event()

    async def follow() -> None:
        while not done.is_set():
            await follower.read_changes(2)

    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        async with asyncio.TaskGroup() as writers:
            writers.create_task(_save_often(mine, NOON))
            writers.create_task(_save_often(theirs, NOON - timedelta(seconds=1)))
        done.set()
    followed = await follower.catch_up()
    await other.close()

    assert followed == await _all_jobs(db)
    assert {each.state for each in followed.values()} == {State.QUEUED}


async def _save_often(worked: Queue, now: datetime) -> None:
    for n in range(20):
        await worked.step("save", now + timedelta(milliseconds=n))
