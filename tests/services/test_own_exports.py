"""An empty archive imports our exports as the same entries, in any state."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import attempts, entries
from archiver.http.timestamps import to_datetime
from archiver.http.urls import hash_url
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Selected
from archiver.services.reindex import reindex
from tests.conftest import exported
from tests.warcs import Warc

EARLIER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TIMEOUT = Failure(FailureKind.TIMEOUT, "It took too long.")


@pytest.fixture
def urls(live):
    return {
        "saved": live.article("heron"),
        "failed": live.url("/missing"),
        "given up": live.url("/often-missing"),
        "waiting": live.article("otter"),
        "tried": live.article("vole"),
    }


async def attempted(archive, url):
    """Add an earlier failed attempt to the index, as a crawl does; it is in no record."""
    async with archive.imports._db.write() as conn:
        row, _ = await entries.by_hash(conn, hash_url(url))
        await attempts.insert_attempts(conn, [(row, EARLIER, TIMEOUT)], skip_stored=False)


async def fill(archive, urls):
    for state in ("saved", "failed", "given up"):
        await archive.entries.save([urls[state]], tags=["mine", state], source="cli")
    await archive.crawling.work()
    await archive.entries.save([urls["saved"]], tags=["said later"], source="cli")
    for state in ("waiting", "tried"):
        await archive.entries.save([urls[state]], tags=["mine", state], source="web")
    for state in ("given up", "tried"):
        await attempted(archive, urls[state])


async def is_past(timestamp):
    """Wait for the next second, because a snapshot is identified by its second."""
    over = to_datetime(timestamp) + timedelta(seconds=1.1)
    await asyncio.sleep((over - datetime.now(UTC)).total_seconds())


async def entries_of(archive, urls):
    """Return each entry of an archive; the queueing time of a waiting one may differ."""
    results = {}
    for state, url in urls.items():
        detail = await archive.entries.get(url)
        entry = replace(detail.entry, annotation=None)
        annotation = replace(
            detail.entry.annotation, tags=tuple(sorted(detail.entry.annotation.tags))
        )
        article = (await archive.entries.snapshot(url)).article if detail.snapshots else ""
        results[state] = entry, annotation, detail.attempts, article
    return results


async def export(archive, tmp_path, form, selection):
    path = tmp_path / f"all.{form}"
    path.write_bytes(await exported(archive, form.removesuffix(".gz"), selection))
    return path


async def import_warc(archive, path):
    with path.open("rb") as source:
        return await archive.imports.read_file(source, name=path.name)


async def test_an_import_of_an_export_gives_the_same_entries(
    open_archive, settings, tmp_path, live, urls
):
    async with open_archive() as archive:
        await fill(archive, urls)
        before = await entries_of(archive, urls)
        wacz = await export(archive, tmp_path, "wacz", Selected(ListingQuery(tag="mine")))
        path = await export(archive, tmp_path, "warc.gz", Selected())
        request_count = live.requests.total()
    async with open_archive(replace(settings, data=tmp_path / "wacz")) as archive:
        await import_warc(archive, wacz)
        assert await entries_of(archive, urls) == before
    empty = replace(settings, data=tmp_path / "empty")
    async with open_archive(empty) as archive:
        status = await import_warc(archive, path)
        after = await entries_of(archive, urls)
        counts = await archive.crawling.counts()
        again = await import_warc(archive, path)

        assert after == before
        assert live.requests.total() == request_count
        assert (counts.queued, again.counts.total, again.added) == (2, 0, 0)
        assert (status.added, status.counts.queued) == (5, 2)
        assert (status.counts.saved, status.counts.failed) == (1, 2)
        assert await entries_of(archive, urls) == before
        assert await archive.crawling.counts() == counts

        await archive.crawling.work()
        crawled = await entries_of(archive, urls)
        assert {state: entry.state for state, (entry, *_) in crawled.items()} == {
            "saved": State.SAVED,
            "failed": State.FAILED,
            "given up": State.FAILED,
            "waiting": State.SAVED,
            "tried": State.SAVED,
        }
        last = await archive.imports.status(status.id)
        assert (last.counts.saved, last.counts.failed, last.counts.open) == (3, 2, 0)
        assert [each async for each in archive.fixity.verify()] == []

    await reindex(empty)

    async with open_archive(empty) as archive:
        rebuilt = await entries_of(archive, urls)
    for state in ("saved", "failed", "given up"):
        assert rebuilt[state] == crawled[state]


async def test_imported_failures_do_not_change_saved_entries(
    open_archive, settings, tmp_path, urls
):
    async with open_archive() as archive:
        await fill(archive, urls)
        path = await export(archive, tmp_path, "warc.gz", Selected())
        (exported,) = (await archive.entries.get(urls["saved"])).snapshots
    async with open_archive(replace(settings, data=tmp_path / "other")) as archive:
        await is_past(exported.timestamp)
        await archive.entries.save([urls["saved"]], source="cli")
        await archive.crawling.work()
        await archive.entries.save([urls["failed"]], source="cli")

        await import_warc(archive, path)

        saved, waiting = [await archive.entries.get(urls[each]) for each in ("saved", "failed")]
        assert (saved.entry.state, len(saved.snapshots)) == (State.SAVED, 2)
        assert "said later" in saved.entry.annotation.tags
        await archive.crawling.write_pending_records()
        assert [each async for each in archive.fixity.verify()] == []
        assert (waiting.entry.state, waiting.job.state) == (State.QUEUED, State.QUEUED)
        assert [each.failure.status for each in waiting.attempts] == [404]


async def test_invalid_entry_records_are_ignored(open_archive, tmp_path):
    fields = '"url_given": "", "title": "", "tags": [], "note": "", "source": ""'
    entry = '"entry": {"url": "%s", "hash_url": "x", "added_at": "2026-01-01T00:00:00Z", SAID}'
    entry = entry.replace("SAID", fields)
    odd = (
        b"{}",
        b'{"format": "archiver/1"}',
        b'{"format": "archiver/1", "at": "0001-01-01T00:00:00Z", %s, "waiting": 1}',
        b'{"format": "archiver/1", "at": "9999-12-31T23:59:59Z", %s, "failure": FAILURE}',
        b'{"format": "archiver/1", "at": "2026-01-01T00:00:00Z", %s, "failure": {"kind": "odd"}}',
        b'{"format": "archiver/1", "at": "2026-01-01T00:00:00Z", %s, "waiting": true}',
    )
    failure = b'{"kind": "dns", "message": "\\ud800", "status": "teapot"}'
    warc = Warc()
    for block in odd:
        for url in ("http://a.example/", "javascript:1", "http://[1"):
            record = (entry % url).encode()
            warc.add(
                "metadata",
                "urn:archiver:x",
                block.replace(b"%s", record).replace(b"FAILURE", failure),
            )
    path = tmp_path / "odd.warc.gz"
    path.write_bytes(warc.bytes)

    async with open_archive() as archive:
        status = await import_warc(archive, path)

        assert status.error == ""
        assert (status.added, status.counts.queued) == (1, 1)
