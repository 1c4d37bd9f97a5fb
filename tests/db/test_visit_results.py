from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from archiver.db import (
    attempts,
    entries,
    host_queue,
    imports,
    jobs,
    list_order,
    new_entries,
    queue,
    snapshots,
    visit_results,
)
from archiver.db.entries import Filters
from archiver.db.schema import attempt
from archiver.model import seed as model_seed
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State
from archiver.model.listing import SearchDocument, Sort
from archiver.model.page import UNREAD

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL = "http://a.example/"
FAILURE = Failure(FailureKind.HTTP_STATUS, "The server answered 503.", 503)


@pytest.fixture
async def lease(db, seed):
    """The lease of an imported entry with a title and a tag."""
    async with db.write() as conn:
        number = await imports.create(conn, name="f", form="plain", path=None, owner="a", now=NOW)
        link = seed(URL, title="Given", tags=("t",))
        await new_entries.receive(conn, [link], now=NOW, recapture=False, import_id=number)
        await imports.advance(conn, number, {model_seed.SaveOutcome.ADDED: 1}, [])
        hosts = await host_queue.due_hosts(conn, (), now=NOW, count=99)
        (job,) = await queue.lease(conn, owner="me", count=1, per_host=1, hosts=hosts, now=NOW)
    return job


async def entry_of(db, lease):
    async with db.read() as conn:
        return (await entries.by_ids(conn, [lease.entry.id]))[lease.entry.id]


@pytest.fixture
def find_entries(find):
    """Return a function that finds entries with a word."""

    async def matching(word):
        return [entry_id for _, entry_id in await find(word)]

    return matching


def attempt_of(lease, *, final, after=1):
    at = NOW + timedelta(seconds=after)
    return attempts.FailedAttempt(
        lease.entry.id, at, FAILURE, final=final, search_document=SearchDocument(title="given")
    )


async def test_an_entry_keeps_its_place_if_it_fails_or_is_captured_again(
    db, lease, add_snapshot, seed
):
    async with db.write() as conn:
        moment = NOW + timedelta(seconds=10)
        newer = seed("http://b.example/", tags=("t",), added_at=moment)
        await new_entries.receive(conn, [newer], now=moment, recapture=False)
        for after in (60, 90):
            await attempts.add_failures(conn, [attempt_of(lease, final=True, after=after)])
    assert (await entry_of(db, lease)).sorted_at == (await entry_of(db, lease)).annotation.saved_at

    async with db.write() as conn:
        await add_snapshot(conn, lease.entry.id, URL, 120)
        for filters in (Filters(), Filters(tag="t")):
            places = await list_order.rows_in_order(conn, filters, after=None, limit=9)
            listed = await entries.by_ids(conn, [each.row for each in places])
            assert [listed[each.row].url for each in places] == ["http://b.example/", URL]
        first, _ = await list_order.rows_in_order(
            conn, Filters(), after=None, limit=9, order=Sort.CAPTURED
        )
    assert first.row == lease.entry.id


async def test_a_snapshot_reported_twice_is_stored_once_with_its_article(
    db, lease, new_snapshot, find_entries
):
    async with db.write() as conn:
        twice = [
            await new_snapshot(conn, lease.entry.id, URL, 5, ("Given", words), extractor=extractor)
            for extractor, words in ((UNREAD, "unread"), ("1", "wombats"), ("1", "again"))
        ]
        assert await visit_results.add_snapshots(conn, twice) == 1

    assert (await entry_of(db, lease)).snapshot_count == 1
    assert len(await find_entries("wombats")) == 1


async def test_the_article_of_the_newer_extractor_wins_in_any_order(
    db, lease, add_snapshot, new_snapshot, find_entries
):
    async with db.write() as conn:
        for extractor, words in (
            ("9", "nine"),
            ("10", "ten"),
            ("1", "one"),
            ("odd", "odd"),
            ("10", "x"),
        ):
            again = await new_snapshot(
                conn, lease.entry.id, URL, 5, ("", words), extractor=extractor
            )
            await visit_results.add_snapshots(conn, [again])

    async with db.read() as conn:
        (row,) = await snapshots.of_entry(conn, lease.entry.id, limit=9)
    assert row.snapshot.extractor == "10"
    assert await find_entries("ten") == [lease.entry.id]
    assert [await find_entries(word) for word in ("nine", "one", "odd", "x")] == [[], [], [], []]


async def test_attempts_are_recorded_and_a_retry_leaves_the_entry_queued(db, lease):
    again = NOW + timedelta(seconds=30)
    async with db.write() as conn:
        await attempts.add_failures(conn, [attempt_of(lease, final=False)])
        await queue.postpone_jobs(conn, [(lease, FAILURE, again)], NOW)

    async with db.read() as conn:
        (job,) = await jobs.by_ids(conn, [lease.job_id])
        count = (await conn.execute(select(func.count()).select_from(attempt))).scalar()
        counts = await jobs.queue_counts(conn)
    assert (job.state, job.attempts, job.not_before) == (State.QUEUED, 1, again)
    assert job.failure == FAILURE
    assert count == 1
    assert (counts.queued, counts.fetching) == (1, 0)
    assert (await entry_of(db, lease)).state is State.QUEUED


async def test_a_permanently_failed_entry_is_found_by_its_title(db, lease, find_entries):
    async with db.write() as conn:
        await attempts.add_failures(conn, [attempt_of(lease, final=True)])
        await queue.end_jobs(conn, [(lease, None, FAILURE)], NOW)

    entry = await entry_of(db, lease)
    assert (entry.state, entry.failure) == (State.FAILED, FAILURE)
    assert await find_entries("Given") == [lease.entry.id]


async def test_a_failure_does_not_change_a_saved_entry(db, lease, add_snapshot, find_entries):
    async with db.write() as conn:
        await add_snapshot(conn, lease.entry.id, URL, 1, ("", "wombats"))
        await attempts.add_failures(conn, [attempt_of(lease, final=True, after=90)])

    entry = await entry_of(db, lease)
    assert (entry.state, entry.snapshot_count, entry.failure) == (State.SAVED, 1, FAILURE)
    assert await find_entries("wombats") == [lease.entry.id]


async def test_the_end_of_a_job_is_counted_once(db, lease, add_snapshot):
    async with db.write() as conn:
        await add_snapshot(conn, lease.entry.id, URL, 1)
        await queue.end_jobs(conn, [(lease, "20260301120001", None)], NOW)

    async with db.read() as conn:
        counts = await jobs.queue_counts(conn)
        status = await imports.status(conn, lease.import_id)
        (job,) = await jobs.by_ids(conn, [lease.job_id])
    assert (counts.queued, counts.fetching, counts.saved, counts.failed) == (0, 0, 1, 0)
    assert (status.counts.open, status.counts.saved) == (0, 1)
    assert (job.state, job.attempts, job.timestamp) == (State.SAVED, 1, "20260301120001")
