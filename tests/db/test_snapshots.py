from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import entries, new_entries, segment_rows, snapshots
from archiver.http.timestamps import to_timestamp
from archiver.model.capture import Location
from archiver.model.page import PageMetadata

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
        for seconds, found in AROUND.items():
            both = await snapshots.around(conn, entry_id, at(seconds))
            assert moments(both) == expected(found), seconds
        for seconds, found in NEIGHBOURS.items():
            both = await snapshots.neighbours(conn, entry_id, at(seconds))
            assert [*both] == expected(found), seconds


async def test_all_snapshots_are_iterated_in_batches(db, entry_id):
    found, after = [], 0
    async with db.read() as conn:
        while (batch := await snapshots.after(conn, after, limit=2))[0]:
            found += moments(batch[0])
            after = batch[1]

    assert found == [at(0), at(10), at(30)]


async def test_a_snapshot_is_returned_as_inserted(db, entry_id, add_snapshot):
    article, said = Location("s.warc.gz", 7, 8), PageMetadata("T", "B", "S", "E", "L", "P")
    async with db.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {article.segment: 100})
        more = {"requisite_count": 5, "missing_count": 2, "final_url": "http://b.example/"}
        await add_snapshot(conn, entry_id, URL, 60, article=article, metadata=said, **more)
        (held, *_) = await snapshots.of_entry(conn, entry_id, limit=1)

    found = held.snapshot
    assert (found.article, held.record) == (article, found.capture.location)
    assert (found.title, found.byline, found.site) == ("T", "B", "S")
    assert (found.excerpt, found.language, found.published) == ("E", "L", "P")
    assert (found.requisite_count, found.missing_count) == (5, 2)
    assert (found.url, found.final_url) == (URL, "http://b.example/")
