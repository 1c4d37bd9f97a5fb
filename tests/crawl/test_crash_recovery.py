import asyncio
import errno
import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from archiver.crawl.crash_recovery import recover
from archiver.db import captures, jobs, segment_rows
from archiver.http.timestamps import to_timestamp
from archiver.model.job import State
from archiver.warc.segment_inventory import survey
from tests.crawler import Crawl, crawler
from tests.index_access import remove_index


@pytest.fixture
async def dead_data(start_crawl, live):
    """Return the data directory of a process that died after two captures, with a leased job."""
    async with start_crawl() as crawl:
        await crawl.queue(live.article("foxes"), live.article("bears"))
        await crawl.run()
        await crawl.queue(live.article("owls"))
        await crawl.pipeline._frontier.lease()
    return crawl.context.settings.data


async def test_leases_of_dead_processes_are_queued_again(dead_data, start_crawl):
    async with start_crawl() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        jobs = await crawl.jobs()
        assert [each.state for each in jobs] == [State.SAVED, State.SAVED, State.QUEUED]
        await recover(crawl.context.db, crawl.context.store)
        assert await crawl.jobs() == jobs
        (lease,) = await crawl.pipeline._frontier.lease()
        assert lease.interrupted
        await crawl.pipeline._frontier.return_leases(crawl.pipeline._frontier.leases)


async def test_a_running_crawl_takes_over_jobs_of_one_that_died(dead_data, start_crawl):
    """The queue is checked again before the crawl ends, not only at intervals."""
    async with start_crawl() as crawl:
        crawl.pipeline._dispatcher._recover_at = float("inf")
        await crawl.run()

        assert [each.state for each in await crawl.jobs()] == [State.SAVED] * 3


async def test_leases_of_living_processes_are_kept(start_crawl, live):
    async with start_crawl() as other:
        await other.queue(live.article("foxes"))
        await other.pipeline._frontier.lease()
        async with start_crawl() as crawl:
            await recover(crawl.context.db, crawl.context.store)

            assert [each.state for each in await crawl.jobs()] == [State.FETCHING]
        await other.pipeline._frontier.return_leases(other.pipeline._frontier.leases)


async def test_a_truncated_tail_is_moved_to_its_own_file(dead_data, start_crawl):
    (segment,) = survey(dead_data / "warc").segments
    path = dead_data / "warc" / segment.name
    tail_path = path.with_name(f"{path.name}.torn")
    whole = path.read_bytes()

    async with start_crawl() as crawl:
        for length in (1, 10, 30, 200):
            path.write_bytes(whole + whole[:length])
            await recover(crawl.context.db, crawl.context.store)

            assert path.read_bytes() == whole
            assert tail_path.read_bytes() == whole[:length]
            tail_path.unlink()
            assert crawl.context.store.storage.unusable_files == ()
            async with crawl.context.db.read() as conn:
                assert await segment_rows.indexed_sizes(conn) == {segment.name: segment.size}


async def test_a_segment_of_a_living_process_is_not_truncated(start_crawl, live):
    async with start_crawl() as other:
        await other.queue(live.article("foxes"))
        await other.run()
        (segment,) = survey(other.context.store.directory).segments
        path = other.context.store.directory / segment.name
        with path.open("ab") as file:
            file.write(b"half a rec")
        async with start_crawl() as crawl:
            await recover(crawl.context.db, crawl.context.store)

        assert path.stat().st_size == segment.size + 10
        os.truncate(path, segment.size)


async def test_records_missing_from_the_index_are_indexed_and_end_their_job(start_crawl, live):
    """Combine the index from before a capture with the segments from after it, as a kill does."""
    async with start_crawl() as crawl:
        await crawl.queue(live.article("foxes"))
        index = crawl.context.settings.data / "archive.sqlite3"
        frontier = crawl.pipeline._frontier
        await frontier.lease()
        lease = await frontier.next()
        await crawl.context.db.close()
        before = index.read_bytes()
        frontier.finished(lease, responded=True)  # else the run would visit it, too
        await frontier.return_leases(frontier.leases)
        await crawl.run()
    for path in index.parent.glob("archive.sqlite3*"):
        path.unlink()
    index.write_bytes(before)

    async with start_crawl() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        (job,) = await crawl.jobs()
        async with crawl.context.db.read() as conn:
            counts = await jobs.queue_counts(conn)
        assert (job.state, job.title) == (State.SAVED, "foxes")
        assert job.timestamp
        assert (counts.queued, counts.fetching, counts.saved) == (0, 0, 1)
    assert live.requests["/foxes"] == 1


async def _left_by_a_dead_process(data: Path, page: str, *, is_whole: bool) -> tuple[str, bytes]:
    """Leave a segment with a fetched page that is not in the index."""
    async with crawler(data) as context:
        dead = Crawl(context)
        await dead.queue(page)
        await dead.run()
        (segment,) = context.store.directory.iterdir()
        async with context.db.read() as conn:
            (rows,) = await captures.of_url(conn, page, limit=9)
    end = rows.location.offset + rows.location.length
    return segment.name, segment.read_bytes() if is_whole else segment.read_bytes()[:end]


async def _next_second() -> None:
    before = to_timestamp(datetime.now(UTC))
    while to_timestamp(datetime.now(UTC)) == before:  # noqa: ASYNC110 - waits for the clock
        await asyncio.sleep(0.01)


async def _saved(start_crawl, page: str) -> Path:
    """Capture a page with a job that seems old; return the folder of the archive's segments."""
    async with start_crawl() as crawl:
        await crawl.queue(page)
        await crawl.run()
        async with crawl.context.db.write() as conn:
            await conn.execute(text("UPDATE job SET created_at = 0"))
    return crawl.context.store.directory


@pytest.mark.parametrize("is_whole", [True, False], ids=["a visit", "a capture without its visit"])
async def test_a_page_that_another_process_captured_later_is_indexed_too(
    start_crawl, live, tmp_path, is_whole
):
    page = live.article("foxes")
    name, written = await _left_by_a_dead_process(tmp_path / "dead", page, is_whole=is_whole)
    await _next_second()
    (await _saved(start_crawl, page) / name).write_bytes(written)

    async with start_crawl() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        async with crawl.context.db.read() as conn:
            stored = await captures.of_url(conn, page, limit=9)
            timestamps = (
                (await conn.execute(text("SELECT timestamp FROM snapshot"))).scalars().all()
            )
            files = await segment_rows.indexed_sizes(conn)
        (job,) = await crawl.jobs()
    assert live.requests["/foxes"] == len(stored) == 2
    assert stored[-1].timestamp == job.timestamp
    assert max(timestamps) == int(job.timestamp)
    assert len(timestamps) == (2 if is_whole else 1)
    assert name in files


@pytest.mark.parametrize("is_whole", [True, False], ids=["a visit", "a capture without its visit"])
async def test_a_page_fetched_after_its_job_ended_is_indexed_too(
    start_crawl, live, tmp_path, is_whole
):
    page = live.article("foxes")
    directory = await _saved(start_crawl, page)
    await _next_second()
    name, written = await _left_by_a_dead_process(tmp_path / "dead", page, is_whole=is_whole)
    (directory / name).write_bytes(written)

    async with start_crawl() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        async with crawl.context.db.read() as conn:
            stored = await captures.of_url(conn, page, limit=9)
            timestamps = (
                (await conn.execute(text("SELECT timestamp FROM snapshot"))).scalars().all()
            )
    assert len(stored) == 2
    assert len(timestamps) == (2 if is_whole else 1)


OURS = "archiver-20240229120001-0123456789ab-00001.warc.gz"
UNUSABLE = {
    "a folder": lambda path: path.mkdir(),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "garbage": lambda path: path.write_bytes(b"garbage " * 99),
    "nothing": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(b"\0" * 9999),
    "gzip that breaks off": lambda path: path.write_bytes(gzip.compress(b"WARC/1.1\r\n" * 99)[:-9]),
    "gzip of something else": lambda path: path.write_bytes(gzip.compress(b"something else")),
}


async def test_unknown_files_do_not_prevent_opening_and_are_left_unchanged(dead_data, start_crawl):
    paths = []
    for number, make in enumerate(UNUSABLE.values(), 1):
        for name in (OURS.replace("00001", f"{number:05}"), f"other-{number}.warc.gz"):
            paths.append(dead_data / "warc" / name)
            make(paths[-1])
    before = [path.read_bytes() if path.is_file() else None for path in paths]

    async with start_crawl() as crawl:
        for _ in range(2):
            await recover(crawl.context.db, crawl.context.store)
            await crawl.run()

        assert [each.state for each in await crawl.jobs()] == [State.SAVED] * 3
    assert [path.read_bytes() if path.is_file() else None for path in paths] == before
    assert not [*(dead_data / "warc").glob("*.torn")]


async def test_an_unreadable_segment_does_not_delay_other_segments(
    dead_data, start_crawl, monkeypatch
):
    """The first block of a bad segment can be read, the next cannot."""
    (segment,) = survey(dead_data / "warc").segments
    content = (dead_data / "warc" / segment.name).read_bytes()
    bad = dead_data / "warc" / OURS
    bad.write_bytes(content)
    remove_index(dead_data)
    real = os.pread

    def pread(file, size, offset):
        if Path(f"/proc/self/fd/{file}").resolve() == bad and offset:
            raise OSError(errno.EIO, "Input/output error")
        return real(file, size, offset)

    monkeypatch.setattr(os, "pread", pread)
    async with start_crawl() as crawl:
        await recover(crawl.context.db, crawl.context.store)

        assert [each.name for each in crawl.context.store.storage.unusable_files] == [OURS]
        async with crawl.context.db.read() as conn:
            assert (await segment_rows.indexed_sizes(conn))[segment.name] == segment.size


async def test_a_segment_still_being_copied_is_read_completely_later(dead_data, start_crawl):
    """A segment of another machine with an unknown name arrives in two pieces."""
    (segment,) = survey(dead_data / "warc").segments
    whole = (dead_data / "warc" / segment.name).read_bytes()
    (dead_data / "warc" / segment.name).unlink()
    remove_index(dead_data)
    copy = dead_data / "warc" / "copy.warc.gz"
    copy.write_bytes(whole[:-100])

    async with start_crawl() as crawl:
        for _ in range(2):
            await recover(crawl.context.db, crawl.context.store)
        (unusable_files,) = crawl.context.store.storage.unusable_files
        assert "its end is not changed" in unusable_files.problem
        assert copy.read_bytes() == whole[:-100]

        copy.write_bytes(whole)
        await recover(crawl.context.db, crawl.context.store)
        assert crawl.context.store.storage.unusable_files == ()
        async with crawl.context.db.read() as conn:
            assert await segment_rows.indexed_sizes(conn) == {copy.name: len(whole)}
