from datetime import UTC, datetime

from archiver.db import entries, new_entries, queue
from archiver.db.host_queue import HostGroups
from archiver.model.seed import RevisedSeed

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def test_open_jobs_are_returned_as_their_requests(db, seed):
    said = seed("http://a.example/said", title="T", tags=("x", "y"), note="N", source="cli")
    others = [seed(f"http://b.example/{number}") for number in range(4)]
    async with db.write() as conn:
        await new_entries.receive(conn, [said], now=NOW, recapture=True)
        await new_entries.receive(conn, others, now=NOW, recapture=False)
        await queue.lease(conn, owner="me", count=2, each=1, hosts=HostGroups(), now=NOW)

    async with db.read() as conn:
        first, after = await new_entries.open_seeds(conn, 0, limit=3)
        rest, _ = await new_entries.open_seeds(conn, after, limit=3)

    assert first[0] == new_entries.OpenSeed(said, made_at=NOW, sort_at=NOW, is_urgent=True)
    assert [each.seed for each in first + rest] == [said, *others]


async def test_annotations_without_a_record_are_returned(db, seed, keep):
    async with db.write() as conn:
        await new_entries.ensure(conn, [seed("http://a.example/"), seed("http://b.example/")])
        entry_id, _ = await entries.by_hash(conn, seed("http://a.example/").hash_url)
        await keep(conn, entry_id, "http://a.example/")
        later = RevisedSeed(seed("http://a.example/", tags=("t",)), 3)
        await new_entries.restore(conn, [later], unrecorded=True)

        said, after = await new_entries.unrecorded_seeds(conn, 0, limit=9)

        assert said == [later]
        assert await new_entries.unrecorded_seeds(conn, after, limit=9) == ([], after)
