from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import entries, new_entries, snapshots
from archiver.http.timestamps import to_timestamp

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL = "http://a.example/"


def at(seconds):
    return to_timestamp(NOW + timedelta(seconds=seconds))


@pytest.fixture
async def entry_id(db, seed, add_snapshot):
    """An entry with snapshots of noon, ten and thirty seconds later."""
    async with db.write() as conn:
        await new_entries.receive(conn, [seed(URL)], now=NOW, recapture=False)
        number, _ = await entries.by_hash(conn, seed(URL).hash_url)
        for seconds in (0, 10, 30):
            await add_snapshot(conn, number, URL, seconds)
    return number


def moments(rows):
    return [each.snapshot.timestamp if each else None for each in rows]


async def test_the_snapshots_of_an_entry_come_newest_first(db, entry_id):
    async with db.read() as conn:
        assert moments(await snapshots.of_entry(conn, entry_id, limit=9)) == [at(30), at(10), at(0)]
        assert moments(await snapshots.of_entry(conn, entry_id, limit=1)) == [at(30)]
        assert await snapshots.of_entry(conn, entry_id + 1, limit=9) == []
        latest = await snapshots.latest_of(conn, [entry_id, entry_id + 1])

    assert {number: row.snapshot.timestamp for number, row in latest.items()} == {entry_id: at(30)}


AROUND = {-1: (None, 0), 0: (0, 10), 5: (0, 10), 10: (10, 30), 30: (30, None), 99: (30, None)}
NEIGHBOURS = {0: (None, 10), 10: (0, 30), 30: (10, None)}


async def test_snapshots_before_and_after_a_time(db, entry_id):
    def expected(seconds):
        return [None if each is None else at(each) for each in seconds]

    async with db.read() as conn:
        for seconds, result in AROUND.items():
            both = await snapshots.nearest_rows(conn, entry_id, at(seconds))
            assert moments(both) == expected(result), seconds
        for seconds, result in NEIGHBOURS.items():
            both = await snapshots.neighbours(conn, entry_id, at(seconds))
            assert [*both] == expected(result), seconds
