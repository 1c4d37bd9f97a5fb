"""The page of the crawl: its content and its buttons."""

import asyncio
import re
from html import unescape

import pytest

from archiver.http.urls import hash_url
from archiver.model.annotation import AnnotationChange


@pytest.fixture
async def runtime(runtime, live):
    await runtime.entries.save([live.article("foxes"), live.url("/gone")], source="web")
    await runtime.crawling.work()
    return runtime


async def press(client, **fields):
    async with client.post("/activity", data=fields) as answer:
        return await answer.text()


async def test_the_activity_page_lists_failures_and_retries_them(client, runtime, live):
    page = await (await client.get("/activity")).text()
    assert "the server responded with 404" in page
    (link,) = re.findall(r'href="([^"]+)">the server responded with 404<', page)
    assert 'name="entry"' in await (await client.get(unescape(link))).text(), "they are listed"

    live.article("gone")
    page = await press(client, do="again", reason="http-status 404")

    assert "1 page is queued again." in page
    await runtime.crawling.work()
    assert "the server responded with 404" not in await (await client.get("/activity")).text()


async def test_many_new_failures_leave_saved_pages_on_the_home_page(client, runtime, live):
    await runtime.entries.save([live.url(f"/gone-{n}") for n in range(6)], source="web")
    await runtime.crawling.work()

    home = await (await client.get("/")).text()

    assert home.count('class="failure-reason"') == 3
    assert f"/{hash_url(live.url('/foxes'))}/" in home


async def test_a_failed_row_is_retried_or_gets_another_address(client, runtime, live):
    listed = await (await client.get("/snapshots?status=failed")).text()
    key = hash_url(live.url("/gone"))
    for action in (f'/save?instead={key}"', f'value="{key}">Retry', "Upload a saved copy"):
        assert action in listed
    offered = await (await client.get("/save", params={"url": live.url("/gone")})).text()
    assert "could not be saved yet. The server responded with 404" in offered
    assert ">Retry<" in offered

    tried = await client.post("/capture", data={"entry": key, "back": "/snapshots"})
    assert "1 page is queued again." in await tried.text()
    for path in ("/", "/snapshots"):
        waiting = await (await client.get(path)).text()
        assert "The server responded with 404" not in waiting, (
            "the failure is of an earlier attempt"
        )
    offered = await (await client.get("/save", params={"url": live.url("/gone")})).text()
    assert "This page is being saved." in offered
    await runtime.crawling.work()

    await runtime.editing.change([key], AnnotationChange(tags=("a, b",), folders=("Bears",)))
    form = await (await client.get(f"/save?instead={key}")).text()
    fields = dict(re.findall(r'name="(instead|tags|folders)" value="([^"]*)"', form))
    fields = {name: unescape(value) for name, value in fields.items()}
    page = await (await client.post("/add", data=fields | {"url": live.article("here")})).text()

    assert "Deleted 1 entry." in page
    about = (await runtime.entries.get(live.url("/here"))).entry.annotation
    assert (about.tags, about.folders) == (("a, b",), ("Bears",))


async def test_a_paused_crawl_continues_when_resumed(client, runtime, live):
    await press(client, do="pause")
    assert "Paused." in await (await client.get("/activity")).text()
    working = asyncio.create_task(runtime.crawling.work(until_empty=False))
    await runtime.entries.save([live.article("late")], source="web")
    assert (await runtime.crawling.counts()).queued == 1
    assert live.requests["/late"] == 0

    await press(client, do="resume")
    await live.wait_for_request("/late")
    working.cancel()
    await asyncio.wait([working])


async def test_all_queued_jobs_are_cancelled_after_confirmation(client, runtime, live):
    await press(client, do="pause")
    await runtime.entries.save([live.article("late")], source="web")
    page = await press(client, do="cancel", sure="0")
    assert "Yes, cancel 1 page" in page

    page = await press(client, do="cancel", sure="1")

    assert "cancelled by you" in page
    assert (await runtime.crawling.counts()).queued == 0
    assert live.requests["/late"] == 0
