import asyncio
import threading
from dataclasses import replace

import pytest

from archiver.crawl.visit_result import VisitResult
from archiver.db import captures, jobs, segment_rows
from archiver.errors import StoreError
from archiver.http.requests import OutgoingRequest
from archiver.model.failure import FailureKind
from archiver.model.job import State
from archiver.model.page import PageMetadata
from archiver.warc.segment_inventory import survey


async def test_visits_that_arrive_during_a_write_form_one_batch(crawl, live):
    """Everything is submitted before the recorder starts, so there is one sync for all."""
    urls = [live.article(f"page{number}") for number in range(30)]
    for url in urls:
        await crawl.context.recorder.keep(await crawl.context.fetcher.fetch(OutgoingRequest(url)))
    async with crawl.context.db.read() as conn:
        assert await segment_rows.indexed_sizes(conn) == {}

    async with crawl.recording():
        pass

    (segment,) = survey(crawl.context.store.directory).segments
    async with crawl.context.db.read() as conn:
        assert await segment_rows.indexed_sizes(conn) == {segment.name: segment.size}
        for url in urls:
            assert len(await captures.of_url(conn, url, limit=9)) == 1


async def test_a_failed_write_leaves_the_job_open(crawl, live):
    await crawl.queue(live.article("foxes"))
    directory = crawl.context.store.directory
    directory.write_bytes(b"a file where the segments should be")
    frontier = crawl.pipeline._frontier
    await frontier.lease()
    lease = await frontier.next()
    async with crawl.recording():
        visit_result = await crawl.pipeline._attempt(lease)
        with pytest.raises(StoreError, match="Cannot store records"):
            await (await crawl.context.recorder.end(visit_result))

        async with crawl.context.db.read() as conn:
            (job,) = await jobs.by_ids(conn, [lease.job_id])
            assert (job.state, job.attempts) == (State.FETCHING, 0)
            assert await segment_rows.indexed_sizes(conn) == {}

        directory.unlink()
    frontier.finished(lease, responded=True)
    await frontier.return_leases(frontier.leases)
    await crawl.run()

    assert [each.state for each in await crawl.jobs()] == [State.SAVED]


async def test_errors_of_the_index_are_reported_without_sql(crawl, live):
    await crawl.queue(live.article("foxes"))
    async with crawl.context.db.write() as conn:
        await conn.exec_driver_sql(
            "CREATE TRIGGER refuse BEFORE INSERT ON snapshot"
            " BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
    frontier = crawl.pipeline._frontier
    await frontier.lease()
    recording = asyncio.create_task(crawl.context.recorder.run())

    visit_result = await crawl.pipeline._attempt(await frontier.next())
    with pytest.raises(StoreError, match="the log has the reason") as expected_error:
        await (await crawl.context.recorder.end(visit_result))

    recording.cancel()
    await asyncio.wait([recording])
    assert "INSERT" not in str(expected_error.value)


async def test_what_is_added_while_a_recorder_ends_is_committed(crawl):
    recorder = crawl.context.recorder
    recording = asyncio.create_task(recorder.run())
    await recorder.flush()

    closing = asyncio.create_task(recorder.end_segment())
    recording.cancel()

    async with asyncio.timeout(10):
        await closing
        await asyncio.wait([recording])
    assert not recorder.is_running


async def test_the_same_payload_is_stored_once(crawl, live):
    for _ in range(2):
        await crawl.queue(live.article("foxes"))
        await crawl.run()

    async with crawl.context.db.read() as conn:
        first, second = await captures.of_url(conn, live.url("/foxes"), limit=9)
    assert (first.is_revisit, second.is_revisit) == (False, True)
    assert first.payload_digest == second.payload_digest
    assert second.location.length < first.location.length


async def test_a_visit_that_cannot_be_recorded_fails_without_delaying_others(crawl, live):
    """Such text must not be released again, or its batch would be retried without end."""
    await crawl.queue(live.article("foxes"), live.article("wolves"))
    frontier, ended = crawl.pipeline._frontier, []
    async with crawl.recording():
        for lease in await frontier.lease():
            ended.append(await crawl.pipeline._attempt(lease))
            frontier.finished(lease, responded=True)
        good, bad = ended
        article = replace(bad.visit.article, metadata=PageMetadata(title="half a \ud800"))
        bad = replace(bad, visit=replace(bad.visit, article=article))
        written = [await crawl.context.recorder.end(each) for each in (bad, good)]

    assert [(await each).visit is None for each in written] == [True, False]

    jobs = {each.id: each for each in await crawl.jobs()}
    assert jobs[good.lease.job_id].state == State.SAVED
    assert jobs[bad.lease.job_id].state == State.FAILED
    assert jobs[bad.lease.job_id].failure.kind == FailureKind.INTERNAL


async def test_search_rows_are_built_before_the_write_lock_is_taken(crawl, live, monkeypatch):
    await crawl.queue(live.article("foxes"))
    (lease,) = await crawl.pipeline._frontier.lease()
    words, are_made = crawl.context.db.words, asyncio.Event()
    row, loop, made_by = words.row, asyncio.get_running_loop(), []

    def noted(search_document):
        made_by.append(threading.current_thread())
        loop.call_soon_threadsafe(are_made.set)
        return row(search_document)

    async with crawl.recording():
        brought = await crawl.pipeline._attempt(lease)
        await crawl.context.recorder.flush()  # batches are committed one after the other
        monkeypatch.setattr(words, "row", noted)
        async with crawl.context.db.write(), asyncio.timeout(60):
            ending = await crawl.context.recorder.end(brought)
            await are_made.wait()
            assert not ending.done()
        await ending

    assert threading.main_thread() not in made_by  # not on the event loop


async def test_a_visit_whose_capture_was_lost_fails_without_delaying_others(crawl, live):
    await crawl.queue(live.article("foxes"), live.article("wolves"))
    frontier, recorder = crawl.pipeline._frontier, crawl.context.recorder
    async with crawl.recording():
        ended = []
        for lease in await frontier.lease():
            ended.append(await crawl.pipeline._attempt(lease))
            frontier.finished(lease, responded=True)
        good, lost = ended
        page = replace(lost.visit.page, record_id="urn:uuid:never-written")
        lost = replace(lost, visit=replace(lost.visit, page=page))
        written = [await recorder.end(each) for each in (lost, good)]
        results = await asyncio.gather(*written, return_exceptions=True)

    assert [type(each) for each in results] == [StoreError, VisitResult]
    assert {each.state for each in await crawl.jobs()} == {State.SAVED, State.FETCHING}
    await frontier.return_leases(frontier.leases)
