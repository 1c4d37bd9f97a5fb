"""Writing transactions in PostgreSQL use indexes, also if the tables are small."""

from datetime import UTC, datetime

import pytest

from archiver.db import entries, host_queue, queue
from archiver.db.engine import Database
from archiver.db.entries import entry_states
from archiver.model.capture import Timestamp

MANY, SOME = 4_000, 100
ENTRIES = f"""INSERT INTO entry (id, hash_url, url, url_given, host, added_at, state, sort_at)
SELECT n, 'name' || n, 'http://' || n || '.test/', 'http://' || n || '.test/', n || '.test', n,
 'queued', n FROM generate_series(1, {MANY}) AS n"""
READ = "SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables"


@pytest.fixture
async def db(address):
    """An index of many entries, each with a job."""
    opened = await Database.open(address)
    async with opened.write() as conn:
        await conn.exec_driver_sql(ENTRIES)
        hosts = [(number, f"{number}.test") for number in range(1, MANY + 1)]
        await queue.enqueue(conn, hosts, priority=queue.BULK, now=datetime.now(UTC))
        await conn.exec_driver_sql("ANALYZE")
    yield opened
    await opened.close()


async def tables_scanned(conn):
    """Return the tables of which this transaction has read more than ``SOME`` rows."""
    rows = await conn.exec_driver_sql(READ)
    return {name for name, number in rows if number > SOME}


async def test_leasing_and_ending_jobs_read_only_their_rows(db):
    async with db.write() as conn:
        now = datetime.now(UTC)
        hosts = await host_queue.due_hosts(conn, (), now=now, count=SOME)
        leases = await queue.lease(conn, owner="one", count=SOME, per_host=1, hosts=hosts, now=now)
        await entry_states(conn, [each.entry.id for each in leases])
        saved = [(each, Timestamp("20200101000000"), None) for each in leases]
        await queue.end_jobs(conn, saved, now)

        assert await tables_scanned(conn) == set()
    assert len(leases) == SOME


async def test_reading_some_entries_reads_only_their_rows(db):
    async with db.read() as conn:
        result = await entries.with_revisions(conn, range(1, SOME + 1))

        assert await tables_scanned(conn) == set()
    assert len(result) == SOME
