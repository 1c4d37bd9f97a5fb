"""The bin: deleted entries can be restored until they are erased."""

import asyncio
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from archiver.db.schema import capture_table, entry_table, snapshot_table
from archiver.errors import ConfigurationError, InputError, NotFound
from archiver.services.deletion import BATCH
from archiver.services.reindex import reindex
from tests.conftest import filled_by, saved_url
from tests.services.test_compaction import everything, on_disk, payload
from tests.services.test_deletion import problems, save


async def make_older(archive, number, days):
    """Move a deletion ``days`` into the past."""
    milliseconds = int(timedelta(days=days).total_seconds() * 1000)
    async with archive.db.write() as conn:
        for table in (entry_table, snapshot_table, capture_table):
            deleted_at = table.c.deleted_at
            await conn.execute(
                update(table)
                .where(deleted_at == number)
                .values(deleted_at=deleted_at - milliseconds)
            )


def put_pages(live):
    live.put("/shared.css", "p { color: #123 }", kind="text/css")
    link = '<link rel="stylesheet" href="/shared.css">'
    return [live.article(name, head=link) for name in ("foxes", "bears", "owls")]


@filled_by
async def fill(archive, live):
    await save(archive, *put_pages(live), tags=("animal",))


@pytest.fixture
async def pages(prepared, settings):
    """URLs of three saved pages."""
    await prepared.copy(fill, settings.data)
    return [saved_url(settings, f"/{name}") for name in ("foxes", "bears", "owls")]


async def test_compaction_erases_old_deletions_and_keeps_the_bin(
    open_archive, pages, live, settings
):
    foxes, bears, _ = pages
    first, second = [live.put(path, "<title>Same</title><p>same bytes") for path in ("/a", "/b")]
    async with open_archive() as archive:
        await save(archive, first, second, tags=("animal",))
        before = await everything(archive)
        old = await archive.deleting.entries([foxes, first])
        await archive.deleting.entries([bears, second])
        await make_older(archive, old.id, days=31)

        done = await archive.compacting.compact()

        assert (done.left, done.records > 0) == ({}, True)
        remaining = on_disk(settings)
        assert (b"<h1>foxes" in remaining, b"<h1>bears" in remaining) == (False, True)
        assert {each.url for each in await archive.deleting.bin()} == {bears, second}
        restored = await archive.deleting.restore_from_bin()
        assert (restored.entries, restored.not_restored) == (2, 0)
        expected = [each for each in before if each[0].url not in {foxes, first}]
        assert await everything(archive) == expected
        assert (await payload(archive, second)).endswith(b"same bytes")
        assert await problems(archive) == []
        assert (await archive.compacting.compact()).segments == 0

    await reindex(settings)

    async with open_archive() as archive:
        assert await everything(archive) == expected
        assert await problems(archive) == []


async def test_the_bin_survives_a_reindex(open_archive, live, settings):
    pages = foxes, bears, owls = put_pages(live)
    later = live.url("/later")
    async with open_archive() as archive:
        await save(archive, *pages, tags=("animal",))
        await save(archive, owls)
        before = await everything(archive)
        await archive.entries.save([later], source="cli", tags=("queued",))
        oldest = (await archive.entries.get(owls)).snapshots[-1].timestamp
        old = await archive.deleting.entries([foxes])
        again = await archive.deleting.entries([bears])
        await archive.deleting.snapshot(owls, oldest)
        await archive.deleting.entries([later])  # no record has it
        await save(archive, bears, tags=("new",))
        last = await everything(archive)
        deleted_after = {(each.deletion, each.url) for each in await archive.deleting.bin()}

    for _ in range(2):  # the second time the records are the only source
        await reindex(settings)

    async with open_archive() as archive:
        result = await archive.deleting.bin()
        assert {(each.deletion, each.url) for each in result} == deleted_after
        assert await everything(archive) == last
        assert await problems(archive) == []
        assert (await archive.compacting.compact(dry_run=True)).records == 0
        with pytest.raises(InputError):  # saved again
            await archive.deleting.undo(again.id)
        assert (await archive.deleting.undo(old.id)).entries == 1
        await archive.deleting.restore_from_bin()
        waiting = await archive.entries.get(later)
        assert waiting.entry.annotation.tags == ("queued",)
        await archive.deleting.entries([later])
        restored = await everything(archive)
        assert [each for each in restored if each[0].url != bears] == [
            each for each in before if each[0].url != bears
        ]
        assert await problems(archive) == []


async def test_a_reindex_leaves_out_what_was_deleted_too_long_ago(open_archive, pages, settings):
    async with open_archive() as archive:
        await archive.deleting.entries(pages[:1])

    await reindex(replace(settings, bin_days=0))

    async with open_archive() as archive:
        assert await archive.deleting.bin() == []
        for empty_bin, is_erased in ((False, False), (True, True)):
            preview = await archive.compacting.compact(dry_run=True, empty_bin=empty_bin)
            done = await archive.compacting.compact(empty_bin=empty_bin)
            assert preview.records == done.records
            assert bool(done.records) == is_erased


async def test_of_two_simultaneous_deletions_one_finds_nothing(pages, archive):
    both = [archive.deleting.entries(pages[:1]) for _ in range(2)]
    results = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(each).__name__ for each in results) == ["Deleted", "NotFound"]


async def test_every_item_of_a_large_bin_is_restored(archive):
    urls = [f"http://h.example/{number}" for number in range(BATCH + 2)]
    await archive.entries.save(urls, source="cli")
    for batch in (urls[:1], urls[1:]):
        await archive.deleting.entries(batch)

    assert len(await archive.deleting.bin(10)) == 10
    assert await archive.deleting.size_of_bin() == len(urls)
    assert (await archive.deleting.restore_from_bin(urls[-1:])).entries == 1
    with pytest.raises(NotFound, match=urls[-1]):
        await archive.deleting.restore_from_bin(urls[-1:])
    assert (await archive.deleting.restore_from_bin()).entries == len(urls) - 1
    assert await archive.deleting.size_of_bin() == 0


@pytest.mark.parametrize("seconds", [-1, 7_258_118_400])
async def test_a_clock_outside_the_range_of_the_index_is_refused(
    settings, open_archive, monkeypatch, seconds
):
    """Jobs would never be due, and numbers of deletions would not fit into a column."""
    monkeypatch.setattr(time, "time", lambda: seconds)

    with pytest.raises(ConfigurationError, match="before 1970 or after 2200"):
        async with open_archive():
            pass
