"""The home page in Chromium."""

from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.web.app import build_app
from archiver.web.app_keys import RUNTIME
from tests.chromium import chromium, new_page


@pytest.fixture
async def client(saved_archive) -> AsyncIterator[TestClient]:
    """The service over an archive of two entries, and a link that waits."""
    async with open_app(saved_archive.settings) as runtime:
        await runtime.entries.save(["http://a.example/"], source="web")
        server = TestServer(build_app(runtime), skip_url_asserts=True)
        async with TestClient(server) as client:
            yield client


async def test_the_home_page_saves_urls_searches_words_and_follows_jobs(client):
    runtime = client.app[RUNTIME]
    async with chromium() as browser:
        page = await new_page(browser)
        await page.goto(str(client.make_url("/")))
        await page.click("#activity")
        await page.click("#activity-panel >> text=Pause")
        await page.click("#activity-panel >> text=Resume")
        await page.locator("#activity-panel >> text=Pause").wait_for()
        await page.keyboard.press("Escape")
        await runtime.crawl_status.cancel()
        await page.locator("#activity[hidden]").wait_for(state="attached")
        await page.locator("#latest .why").wait_for()
        assert await page.locator("#latest .why").all_inner_texts() == ["You cancelled it."]

        await page.goto(str(client.make_url("/")))
        await page.fill("#tags", "pasted")
        await page.fill("#find", "http://a.example/1")
        await page.press("#find", "Control+a")
        await page.press("#find", "Control+x")
        await page.press("#url", "Control+v")
        await page.locator("[data-jobs] li").first.wait_for()
        await page.wait_for_load_state()
        saved = await page.locator("[data-jobs] > li > a").all_inner_texts()

        for keys in ("Enter", "Control+Enter"):
            await page.goto(str(client.make_url("/")))
            await page.fill("#url", "foxes")
            await page.press("#url", keys)
            await page.wait_for_url("**/snapshots?q=foxes")

    assert saved == ["http://a.example/1"]
