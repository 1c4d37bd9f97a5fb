import os

import pytest

from archiver.index import jobs, segments
from archiver.ledger.recovery import recover
from archiver.model.job import State
from archiver.store.scanning import segments as on_disk


@pytest.fixture
async def died(crawling, live):
    """The data of a process that captured two articles and died with one more leased."""
    async with crawling() as crawl:
        await crawl.queue(live.article("foxes"), live.article("bears"))
        await crawl.run()
        await crawl.queue(live.article("owls"))
        await crawl.pipeline._frontier.lease()
    return crawl.context.settings.data


async def test_the_leases_of_the_dead_go_back_into_the_queue(died, crawling):
    async with crawling() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        states = [each.state for each in await crawl.jobs()]
        assert states == [State.SAVED, State.SAVED, State.QUEUED]
        (lease,) = await crawl.pipeline._frontier.lease()
        assert lease.interrupted
        await crawl.pipeline._frontier.give_all_back()


async def test_a_crawl_takes_up_what_one_that_died_meanwhile_left(died, crawling):
    """It looks again before it says that all is done, not only now and then."""
    async with crawling() as crawl:
        crawl.pipeline._recovered = float("inf")
        await crawl.run()

        assert [each.state for each in await crawl.jobs()] == [State.SAVED] * 3


async def test_the_leases_of_the_living_are_left_alone(crawling, live):
    async with crawling() as other:
        await other.queue(live.article("foxes"))
        await other.pipeline._frontier.lease()
        async with crawling() as crawl:
            await recover(crawl.context.db, crawl.context.store)

            assert [each.state for each in await crawl.jobs()] == [State.FETCHING]
        await other.pipeline._frontier.give_all_back()


@pytest.mark.parametrize("kept", [1, 10, 30, 1000])
async def test_a_torn_tail_is_cut_off(died, crawling, kept):
    (segment,) = on_disk(died / "warc")
    path = died / "warc" / segment.name
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: min(kept, 200)])

    async with crawling() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        assert path.read_bytes() == whole
        async with crawl.context.db.read() as conn:
            assert await segments.indexed(conn) == {segment.name: segment.size}


async def test_the_segment_of_the_living_is_not_cut(crawling, live):
    async with crawling() as other:
        await other.queue(live.article("foxes"))
        await other.run()
        (segment,) = on_disk(other.context.store.directory)
        path = other.context.store.directory / segment.name
        with path.open("ab") as file:
            file.write(b"half a rec")
        async with crawling() as crawl:
            await recover(crawl.context.db, crawl.context.store)

        assert path.stat().st_size == segment.size + 10
        os.truncate(path, segment.size)


async def test_what_was_on_disk_but_in_no_row_is_indexed_and_ends_its_job(crawling, live):
    """The index of before the capture, beside the segments of after it: killed in between."""
    async with crawling() as crawl:
        await crawl.queue(live.article("foxes"))
        index = crawl.context.settings.data / "archive.sqlite3"
        await crawl.pipeline._frontier.lease()
        await crawl.context.db.close()
        before = index.read_bytes()
        await crawl.pipeline._frontier.give_all_back()
        await crawl.run()
    for path in index.parent.glob("archive.sqlite3*"):
        path.unlink()
    index.write_bytes(before)

    async with crawling() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        (found,) = await crawl.jobs()
        async with crawl.context.db.read() as conn:
            counts = await jobs.queue_counts(conn)
        assert (found.state, found.title) == (State.SAVED, "foxes")
        assert found.timestamp
        assert (counts.queued, counts.fetching, counts.saved) == (0, 0, 1)
    assert live.asked["/foxes"] == 1


async def test_recovering_twice_changes_nothing(died, crawling):
    async with crawling() as crawl:
        await recover(crawl.context.db, crawl.context.store)
        before = await crawl.jobs()
        await recover(crawl.context.db, crawl.context.store)

        assert await crawl.jobs() == before
