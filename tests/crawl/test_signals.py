"""Pages that are empty without scripts, walls and parked domains are reported as such."""

from archiver.db import attempts, entries, snapshots
from archiver.http.urls import hash_url
from archiver.model.failure import FailureKind
from archiver.model.job import State
from archiver.model.rendering import Rendering
from archiver.warc.metadata_records import read_entry_record

SHELL = '<title>App</title><body><div id="root"></div><script src="/app.js"></script>'
CHALLENGE = "<title>Just a moment...</title><script>window._cf_chl_opt = {}</script>"


async def entry_of(crawl, url):
    async with crawl.context.db.read() as conn:
        number, entry = await entries.by_hash(conn, hash_url(url))
        rows = await snapshots.of_entry(conn, number, limit=9)
        return entry, rows, await attempts.of_entry(conn, number, limit=9)


async def test_a_page_that_needs_scripts_is_archived_and_marked(crawl, live):
    shell, whole = live.put("/shell", SHELL), live.article("whole")
    await crawl.queue(shell, whole)

    await crawl.run()

    entry, (row,), _ = await entry_of(crawl, shell)
    record = read_entry_record(crawl.context.store.read(row.record).block.read())
    assert entry.state is State.SAVED
    assert entry.rendering is row.snapshot.rendering is record.snapshot.rendering
    assert entry.rendering is Rendering.NEEDED
    assert (await entry_of(crawl, whole))[0].rendering is Rendering.NONE
    async with crawl.context.db.read() as conn:
        urls, _ = await entries.unrendered(conn, 0, limit=9)
    assert [*urls.values()] == [shell]


async def test_a_wall_is_a_named_failure_without_a_snapshot(crawl, live):
    walls = [
        live.put("/by-its-marks", CHALLENGE),
        live.put("/by-its-marks-and-status", CHALLENGE, status=403),
        live.put("/by-its-header", "A page?", headers={"cf-mitigated": "challenge"}),
    ]
    refused = live.put("/refused", "No.", status=403)
    await crawl.queue(*walls, refused)

    await crawl.run()

    for wall in walls:
        entry, rows, (attempt,) = await entry_of(crawl, wall)
        assert (entry.state, rows) == (State.FAILED, [])
        assert attempt.failure.kind is FailureKind.WALLED
        assert "Cloudflare" in attempt.failure.message
    assert (await entry_of(crawl, refused))[0].failure.kind is FailureKind.HTTP_STATUS


async def test_a_parked_domain_is_a_named_failure_without_a_snapshot(crawl, live):
    offer = '<title>For sale</title><script src="//img.sedoparking.com/a.js"></script>'
    url = live.put("/parked", offer)
    await crawl.queue(url)

    await crawl.run()

    entry, rows, _ = await entry_of(crawl, url)
    assert (entry.failure.kind, rows) == (FailureKind.PARKED, [])
