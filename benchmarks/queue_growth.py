"""What a lease costs a server while little and while much is waiting.

Usage: .ci/with-postgres python -m benchmarks.queue_growth [--jobs 100000,1000000] [--turns N]

A queue of so many jobs is made for each size, of as many hosts for each thousand of them. Then a
process leases a job of each of a thousand hosts, which it holds, ends them and lets go, again and
again, the sizes taking turns. Printed are jobs a second, and PostgreSQL's CPU a job, of the leases
and of the ends.
"""

import argparse
import asyncio
import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil
from archiver.index import holds
from archiver.index.due import due

from archiver.db import job_outcomes, queue
from archiver.db.engine import Database, Member, engines_of
from archiver.db.host_queue import Turns
from archiver.model.capture import Timestamp
from benchmarks.cluster import database, postmaster, rows, server_cpu

OWNER = "one"
ROOM = 1000
EACH = 18
HOSTS = 20
"""For each thousand jobs."""
FILL = """
INSERT INTO entry (id, hash_url, url, host, url_given, added_at, sort_at, state)
SELECT n, md5(n::text), 'http://h' || n % {hosts} || '.example/' || n,
       'h' || n % {hosts} || '.example', '', 0, n, 'queued' FROM generate_series(1, {jobs}) AS n;
INSERT INTO job (id, entry_id, host, priority, state, created_at, not_before_ms, changed_at_ms)
SELECT id, id, host, 1, 'queued', 0, 0, id FROM entry;
INSERT INTO queue_host (priority, host, ready_at_ms)
SELECT 1, host, row_number() OVER () FROM (SELECT DISTINCT host FROM entry) AS found;
INSERT INTO counter (name, value) VALUES ('queued', {jobs}), ('entries', {jobs});
VACUUM ANALYZE
"""


@dataclass
class Queue:
    """A queue of some size, and what was seen of it: seconds, the server's CPU, jobs."""

    db: Database
    leases: list[tuple[float, float, int]] = field(default_factory=list)
    ends: list[tuple[float, float, int]] = field(default_factory=list)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default="100000,1000000")
    parser.add_argument("--turns", type=int, default=30, help="leases and ends of each size")
    options = parser.parse_args()
    server = postmaster()
    with ExitStack() as stack:
        queues = {}
        for jobs in map(int, options.jobs.split(",")):
            address = stack.enter_context(database(f"queue_of_{jobs}"))
            queues[jobs] = await filled(address, jobs)
        for _ in range(options.turns):
            for each in queues.values():
                await turn(each, server)
        for each in queues.values():
            await each.db.close()
    show(queues)


async def filled(address: str, jobs: int) -> Queue:
    """A queue in an empty database."""
    engines = engines_of(address)
    await asyncio.to_thread(engines.prepare)
    name = address.rpartition("/")[2]
    rows(name, f"ALTER DATABASE {name} SET search_path = archiver")
    for statement in FILL.split(";"):
        rows(name, statement.format(jobs=jobs, hosts=max(jobs * HOSTS // 1000, 1)))
    return Queue(Database(engines, Member(name=OWNER, machine="here", lease=3600)))


async def turn(of: Queue, server: psutil.Process) -> None:
    """Lease some jobs, and end them."""
    cpu, begun = server_cpu(server), time.perf_counter()
    async with of.db.write() as conn:
        known = await due(conn, ROOM, datetime.now(UTC), sharers=2)
        taken = await queue.lease(
            conn,
            owner=OWNER,
            count=ROOM,
            each=EACH,
            hosts=Turns(),
            now=datetime.now(UTC),
            known=known,
        )
        hosts = {each.entry.host for each in taken}
        await holds.hold(conn, OWNER, hosts, delay_ms=0)
    leased, between = server_cpu(server), time.perf_counter()
    of.leases.append((between - begun, leased - cpu, len(taken)))
    async with of.db.write() as conn:
        saved = [(each, Timestamp("20260301000000"), None) for each in taken]
        await job_outcomes.end_jobs(conn, saved, datetime.now(UTC))
        await holds.let_go(conn, OWNER, hosts)
    of.ends.append((time.perf_counter() - between, server_cpu(server) - leased, len(taken)))


def show(queues: dict[int, Queue]) -> None:
    """Print the table."""
    print(f"{'jobs':>10}{'':>8}{'jobs/s':>10}{'ms CPU/job':>12}{'jobs each':>11}")
    for jobs, of in queues.items():
        for what, seen in (("leased", of.leases), ("ended", of.ends)):
            rate = statistics.median(count / took for took, _, count in seen)
            cpu = 1000 * sum(cpu for _, cpu, _ in seen) / sum(count for _, _, count in seen)
            each = statistics.mean(count for _, _, count in seen)
            print(f"{jobs:>10}{what:>8}{rate:>10.0f}{cpu:>12.4f}{each:>11.0f}")


if __name__ == "__main__":
    asyncio.run(main())
