"""Compaction erases deleted records from the disk and changes nothing else."""

import gzip
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from warcio.archiveiterator import ArchiveIterator

from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.services.compaction import HourClock
from archiver.services.reindex import reindex
from tests.segments import segments
from tests.services.test_deletion import listed, problems, save


def on_disk(settings):
    """Return the bytes of all segments, decompressed."""
    return b"".join(map(gzip.decompress, segments(settings.data).values()))


def check(settings):
    """Return the result of another implementation for every digest."""
    for each in segments(settings.data).values():
        for record in ArchiveIterator(BytesIO(each), check_digests="raise"):
            record.content_stream().read()


def records(settings):
    for each in segments(settings.data).values():
        for record in ArchiveIterator(BytesIO(each)):
            yield record.rec_type, record.rec_headers


async def payload(archive, url):
    (capture,) = await archive.replay.captures_of(url)
    request = ReplayRequest(Viewer("http://127.0.0.1"), Modifier.IDENTITY)
    shown = await archive.replay.open(capture, request)
    return b"".join([piece async for piece in shown.body])


async def everything(archive):
    results = []
    for url in sorted(await listed(archive)):
        detail = await archive.entries.get(url)
        article = (await archive.entries.snapshot(url)).article
        results.append((detail.entry, [each.timestamp for each in detail.snapshots], article))
    return results


@pytest.fixture
def pages(live):
    live.put("/shared.css", "p { color: #123 }", kind="text/css")
    link = '<link rel="stylesheet" href="/shared.css">'
    return [live.article(name, head=link) for name in ("foxes", "bears", "owls")]


async def test_compaction_erases_deleted_records_and_changes_nothing_else(
    open_archive, pages, settings
):
    foxes, bears, _ = pages
    async with open_archive() as archive:
        await save(archive, *pages, tags=("animal",))
        await save(archive, bears)
        oldest = (await archive.entries.get(bears)).snapshots[-1].timestamp
        await archive.deleting.entries([foxes])
        await archive.deleting.snapshot(bears, oldest)
        before = await everything(archive)
        preview = await archive.compacting.compact(dry_run=True, empty_bin=True)
        size = len(on_disk(settings))
        await archive.crawling.write_pending_records()

        done = await archive.compacting.compact(empty_bin=True)

        assert (done.left, done.segments > 0, done.records) == ({}, True, preview.records)
        assert done.freed > 0.5 * preview.freed > 0
        assert await everything(archive) == before
        assert await problems(archive) == []
        again = await archive.compacting.compact(empty_bin=True)
        assert (again.segments, again.freed) == (0, 0)
    remaining = on_disk(settings)
    assert (foxes.encode() in remaining, b"<h1>foxes" in remaining, len(remaining) < size) == (
        False,
        False,
        True,
    )
    check(settings)

    await reindex(settings)

    async with open_archive() as archive:
        assert await everything(archive) == before
        assert await problems(archive) == []


async def test_a_payload_moves_to_where_it_is_needed(open_archive, live, settings):
    duplicates = [
        live.put(path, "<title>Twin</title><p>the same bytes") for path in ("/a", "/b", "/c")
    ]
    async with open_archive() as archive:
        for duplicate in duplicates:
            await save(archive, duplicate)
        await archive.deleting.entries([duplicates[0]])

        done = await archive.compacting.compact(empty_bin=True)

        assert done.left == {}
        for duplicate in duplicates[1:]:
            assert (await payload(archive, duplicate)).endswith(b"the same bytes")
        assert await problems(archive) == []
        assert (await archive.compacting.compact(empty_bin=True)).segments == 0
    assert duplicates[0].encode() not in on_disk(settings).replace(b"deletion", b"")
    check(settings)
    remaining = [
        each
        for each in records(settings)
        if each[0] in {"response", "revisit"} and each[1]["WARC-Target-URI"] in duplicates
    ]
    assert [(kind, fields["WARC-Target-URI"]) for kind, fields in remaining] == [
        ("response", duplicates[1]),
        ("revisit", duplicates[2]),
    ]
    assert remaining[1][1]["WARC-Refers-To"] == remaining[0][1]["WARC-Record-ID"]
    assert remaining[1][1]["WARC-Refers-To-Target-URI"] == duplicates[1]
    assert remaining[1][1]["WARC-Refers-To-Date"] == remaining[0][1]["WARC-Date"]

    await reindex(settings)

    async with open_archive() as archive:
        for duplicate in duplicates[1:]:
            assert (await payload(archive, duplicate)).endswith(b"the same bytes")


async def test_user_metadata_and_shared_articles_of_deleted_snapshots_are_kept(
    open_archive, live, settings
):
    foxes = live.article("foxes")
    async with open_archive() as archive:
        for tags in ((), (), ("said",)):
            await save(archive, foxes, tags=tags)
        newest, middle, oldest = (await archive.entries.get(foxes)).snapshots
        before = (await archive.entries.snapshot(foxes, middle.timestamp)).article
        for each in (newest, oldest):
            await archive.deleting.snapshot(foxes, each.timestamp)
        assert (await archive.compacting.compact(empty_bin=True)).left == {}

    await reindex(settings)

    async with open_archive() as archive:
        after = await archive.entries.snapshot(foxes)
        assert (after.article, after.entry.annotation.tags) == (before, ("said",))


def test_the_quiet_hour_follows_clock_changes():
    for hour, start, not_yet, begins in (
        (4, "2026-03-01T04:00+01:00", "2026-03-02T03:59+01:00", "2026-03-02T04:00+01:00"),
        (4, "2026-03-28T23:30+01:00", "2026-03-29T03:59+02:00", "2026-03-29T04:00+02:00"),
        (4, "2026-10-24T23:30+02:00", "2026-10-25T03:59+01:00", "2026-10-25T04:00+01:00"),
        (2, "2026-03-29T01:30+01:00", "2026-03-29T01:59+01:00", "2026-03-29T03:00+02:00"),
        (2, "2026-10-25T01:30+02:00", "2026-10-25T01:59+02:00", "2026-10-25T02:00+02:00"),
    ):
        quiet = HourClock(hour, datetime.fromisoformat(start))
        results = [quiet.has_begun(datetime.fromisoformat(each)) for each in (not_yet, begins)]
        again = datetime.fromisoformat(begins[:16] + "+01:00") + timedelta(hours=1)
        assert [*results, quiet.has_begun(again)] == [False, True, False], begins


def test_a_quiet_hour_during_which_the_machine_slept_is_made_up_for():
    day = datetime(2026, 3, 1, tzinfo=UTC).astimezone()
    quiet = HourClock(4, day.replace(hour=3))

    assert not quiet.has_begun(day.replace(hour=3, minute=59))
    assert quiet.has_begun(day.replace(hour=9))
    assert not quiet.has_begun(day.replace(hour=9, minute=1))
    assert quiet.has_begun(day.replace(hour=9) + timedelta(days=3))
