"""Deleting entries and snapshots, and restoring them."""

import asyncio
from io import BytesIO

import pytest
from aiohttp import web

from archiver.errors import NotFound
from archiver.model.job import State
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.services.export_selection import Selected
from archiver.services.reindex import reindex
from tests.conftest import exported


async def save(archive, *urls, **more):
    await archive.entries.save(urls, source="cli", **more)
    await archive.crawling.work()


async def is_captured(archive, *urls):
    return [bool(await archive.replay.captures_of(url)) for url in urls]


async def tags_of(archive):
    return {(each.name, each.entry_count) for each in await archive.editing.tags()}


async def listed(archive, q=""):
    return {each.entry.url for each in (await archive.search.listing(ListingQuery(q=q))).items}


async def packed(archive):
    """Return an export without decompression: deleted content must not be in it even compressed."""
    return await exported(archive, "wacz", Selected())


async def problems(archive):
    return [each async for each in archive.fixity.verify() if each.is_wrong]


@pytest.fixture
def styled_articles(live):
    """Two articles with a common style sheet; the first has a picture."""
    live.put("/shared.css", "p { color: #123 }", kind="text/css")
    live.put("/own.png", "not really", kind="image/png")
    link = '<link rel="stylesheet" href="/shared.css">'
    first = live.article("foxes", head=link, body='<img src="/own.png">')
    return first, live.article("bears", head=link)


async def test_a_resource_that_was_deleted_with_its_page_is_requested_again(open_archive, live):
    live.put("/own.png", "not really", kind="image/png")
    foxes = live.article("foxes", body='<img src="/own.png">')
    saved = asyncio.Event()

    def on_change(job):
        if job.state is State.SAVED:
            saved.set()

    async with open_archive() as archive:

        async def after_the_deletion(_):
            await saved.wait()
            await archive.deleting.entries([foxes])
            return web.Response(text='<img src="/own.png">', content_type="text/html")

        bears = live.add_handler("/bears", after_the_deletion)
        await archive.entries.save([foxes, bears], source="cli")

        await archive.crawling.work(on_change=on_change)

    assert live.requests["/own.png"] == 2


async def test_a_deletion_hides_entries_keeps_shared_captures_and_survives_a_reindex(
    open_archive, styled_articles, live, settings
):
    foxes, bears = styled_articles
    picture, shared = live.url("/own.png"), live.url("/shared.css")
    async with open_archive() as archive:
        await save(archive, foxes, bears, tags=("animal",))
        assert await is_captured(archive, foxes, picture, shared, bears) == [True] * 4

        deleted = await archive.deleting.entries([foxes])

        assert (deleted.entries, deleted.snapshots) == (1, 1)
        assert await is_captured(archive, foxes, picture, shared, bears) == [
            False,
            False,
            True,
            True,
        ]
        assert await listed(archive) == await listed(archive, "clever") == {bears}
        assert await tags_of(archive) == {("animal", 1)}
        assert (await archive.search.overview()).entries == 1
        with pytest.raises(NotFound):
            await archive.entries.get(foxes)
        assert foxes.encode() not in await packed(archive)
        assert await problems(archive) == []

    for _ in range(2):  # the first time, no record of the deletion is written yet
        await reindex(settings)

    async with open_archive() as archive:
        assert await listed(archive) == {bears}
        assert await is_captured(archive, foxes, picture, shared) == [False, False, True]
        assert await problems(archive) == []
        await archive.deleting.entries([bears])
        assert await is_captured(archive, shared, bears) == [False, False]


async def test_a_payload_that_only_a_deleted_page_holds_still_replays_for_others(archive, live):
    duplicates = [live.put(path, "<title>Twin</title><p>the same bytes") for path in ("/a", "/b")]
    await save(archive, duplicates[0])
    await save(archive, duplicates[1])
    (second,) = await archive.replay.captures_of(duplicates[1])
    assert second.is_revisit

    await archive.deleting.entries([duplicates[0]])

    request = ReplayRequest(Viewer("http://127.0.0.1"), Modifier.IDENTITY)
    shown = await archive.replay.open(second, request)
    body = b"".join([piece async for piece in shown.body])
    assert body.endswith(b"the same bytes")
    assert await problems(archive) == []


async def test_a_waiting_job_is_cancelled_and_waits_again_once_that_is_undone(
    archive, styled_articles
):
    foxes, _ = styled_articles
    await archive.entries.save([foxes], source="cli")
    deleted = await archive.deleting.entries([foxes])
    assert (await archive.crawling.work()).total == 0

    await archive.deleting.undo(deleted.id)
    await archive.crawling.work()

    assert await is_captured(archive, foxes) == [True]


async def test_a_visit_of_a_deleted_entry_adds_nothing(open_archive, live, settings):
    go_on = asyncio.Event()

    async def slow(_):
        await go_on.wait()
        return web.Response(
            text="<title>Late</title><img src='/own.png'>", content_type="text/html"
        )

    live.add_handler("/late", slow)
    live.put("/own.png", "x", kind="image/png")
    late, picture = live.url("/late"), live.url("/own.png")
    async with open_archive() as archive:
        await archive.entries.save([late], source="cli")
        visiting = asyncio.create_task(archive.crawling.work())
        await live.wait_for_request("/late")
        await archive.deleting.entries([late])
        go_on.set()
        counts = await visiting

        assert (counts.total, await listed(archive)) == (0, set())
        assert await is_captured(archive, late, picture) == [False, False]

    await reindex(settings)

    async with open_archive() as archive:
        assert (await listed(archive), await is_captured(archive, late, picture)) == (
            set(),
            [False, False],
        )
        assert await problems(archive) == []


async def test_importing_a_deleted_list_again_restores_its_links(archive, styled_articles):
    links = "\n".join(styled_articles).encode()
    first = await archive.imports.read_file(BytesIO(links), name="links.txt")
    await archive.deleting.entries([styled_articles[0]])
    await archive.crawling.work()
    ended = await archive.imports.status(first.id)
    assert (ended.read, ended.added, ended.counts.saved, ended.is_open) == (2, 2, 1, False)

    second = await archive.imports.read_file(BytesIO(links), name="links.txt")
    await archive.crawling.work()

    assert (second.added, second.known) == (1, 1)
    assert await listed(archive) == {*styled_articles}


async def test_an_undo_restores_all_but_entries_saved_again(
    open_archive, styled_articles, live, settings
):
    foxes, bears = styled_articles
    picture, shared = live.url("/own.png"), live.url("/shared.css")
    async with open_archive() as archive:
        await save(archive, foxes, bears, tags=("old",))
        before = await archive.entries.get(bears)
        deleted = await archive.deleting.entries([foxes, bears])
        await archive.entries.save([foxes], source="cli", tags=("new",))

        restored = await archive.deleting.undo(deleted.id)

        assert (restored.entries, restored.snapshots, restored.not_restored) == (1, 1, 1)
        shown = await archive.entries.get(bears)
        assert (shown.entry, shown.snapshots) == (before.entry, before.snapshots)
        assert (await archive.entries.get(foxes)).entry.annotation.tags == ("new",)
        assert await is_captured(archive, foxes, picture, shared, bears) == [
            False,
            False,
            True,
            True,
        ]
        with pytest.raises(NotFound):
            await archive.deleting.undo(deleted.id)
        await archive.crawling.work()
        listed_before = await listed(archive), len((await archive.entries.get(foxes)).snapshots)
        assert listed_before == ({foxes, bears}, 1)
        assert await problems(archive) == []

    await reindex(settings)

    async with open_archive() as archive:
        assert (
            await listed(archive),
            len((await archive.entries.get(foxes)).snapshots),
        ) == listed_before
        assert await tags_of(archive) == {("new", 1), ("old", 1)}
        assert len(await archive.replay.captures_of(foxes)) == 1
        assert await problems(archive) == []


async def test_an_entry_deleted_twice_stays_deleted_after_the_first_undo(
    open_archive, styled_articles, settings
):
    foxes, bears = styled_articles
    async with open_archive() as archive:
        await save(archive, foxes, bears)
        first = await archive.deleting.entries([foxes, bears])
        await save(archive, foxes)
        second = await archive.deleting.entries([foxes])

        restored = await archive.deleting.undo(first.id)
        assert (restored.entries, restored.not_restored) == (1, 1)
        assert await listed(archive) == {bears}

        assert (await archive.deleting.undo(second.id)).not_restored == 0
        assert await listed(archive) == {foxes, bears}
        assert len(await archive.replay.captures_of(foxes)) == 1

    await reindex(settings)

    async with open_archive() as archive:
        assert await listed(archive) == {foxes, bears}
        assert len(await archive.replay.captures_of(foxes)) == 1
        assert await problems(archive) == []
