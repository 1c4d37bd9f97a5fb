"""Who writes at a server finds what it asks for by the index, however small the tables are."""

from archiver.index import outcomes, queue
from archiver.index.database import Database
from archiver.index.standing import standings
from archiver.index.turns import Turns
from archiver.model.capture import Timestamp

MANY, SOME = 4_000, 100
ENTRIES = f"""INSERT INTO entry (id, hash_url, url, url_given, host, added_at, state, sort_at)
SELECT n, 'name' || n, 'http://' || n || '.test/', 'http://' || n || '.test/', n || '.test', n,
 'queued', n FROM generate_series(1, {MANY}) AS n"""
READ = "SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables"


async def test_a_lease_and_the_ends_of_its_jobs_read_no_more_rows_than_they_are_of(address):
    db = await Database.open(address)
    async with db.write() as conn:
        await conn.exec_driver_sql(ENTRIES)
        hosts = [(number, f"{number}.test") for number in range(1, MANY + 1)]
        await queue.enqueue(conn, hosts, priority=queue.BULK, now=conn.now())
        await conn.exec_driver_sql("ANALYZE")

    async with db.write() as conn:
        now = conn.now()
        leases = await queue.lease(conn, owner="one", count=SOME, each=1, hosts=Turns(), now=now)
        await standings(conn, [each.entry.id for each in leases])
        saved = [(each, Timestamp("20200101000000"), None) for each in leases]
        await outcomes.end_jobs(conn, saved, now)
        read = dict((await conn.exec_driver_sql(READ)).all())
    await db.close()

    assert len(leases) == SOME
    assert {name: rows for name, rows in read.items() if rows > SOME} == {}
