import asyncio

import pytest

from archiver.errors import StoreError
from archiver.index import captures, jobs, segments
from archiver.model.job import State
from archiver.store.recovery import segments as on_disk


async def test_what_arrives_while_the_disk_is_busy_is_one_batch(crawl, live):
    """All of it is handed over before the recorder begins, so there is one sync for all."""
    urls = [live.article(f"page{number}") for number in range(30)]
    for url in urls:
        await crawl.tools.recorder.keep(await crawl.tools.fetcher.fetch(url))
    async with crawl.tools.db.read() as conn:
        assert await segments.indexed(conn) == {}

    recording = asyncio.create_task(crawl.tools.recorder.run())
    await crawl.tools.recorder.drain()
    recording.cancel()
    await asyncio.wait([recording])

    (segment,) = on_disk(crawl.tools.store.directory)
    async with crawl.tools.db.read() as conn:
        assert await segments.indexed(conn) == {segment.name: segment.size}
        for url in urls:
            assert len(await captures.of_url(conn, url, limit=9)) == 1


async def test_records_that_cannot_be_written_leave_the_job_open(crawl, live):
    await crawl.queue(live.article("foxes"))
    directory = crawl.tools.store.directory
    directory.write_bytes(b"a file where the segments should be")
    (lease,) = await crawl.pipeline._frontier.lease()
    recording = asyncio.create_task(crawl.tools.recorder.run())

    ending = await crawl.pipeline._attempt(lease)
    with pytest.raises(StoreError, match="could not be kept"):
        await crawl.tools.recorder.close(ending)

    async with crawl.tools.db.read() as conn:
        (found,) = await jobs.by_ids(conn, [lease.job_id])
        assert (found.state, found.attempts) == (State.FETCHING, 0)
        assert await segments.indexed(conn) == {}

    directory.unlink()
    await crawl.tools.recorder.drain()
    recording.cancel()
    await asyncio.wait([recording])
    await crawl.pipeline._frontier.give_all_back()
    await crawl.run()

    assert [each.state for each in await crawl.jobs()] == [State.SAVED]


async def test_the_same_payload_is_stored_once(crawl, live):
    for _ in range(2):
        await crawl.queue(live.article("foxes"))
        await crawl.run()

    async with crawl.tools.db.read() as conn:
        first, second = await captures.of_url(conn, live.url("/foxes"), limit=9)
    assert (first.is_revisit, second.is_revisit) == (False, True)
    assert first.payload_digest == second.payload_digest
    assert second.location.length < first.location.length
