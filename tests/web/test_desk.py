"""The home page as a desk, as Chromium shows it."""

from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.runtime import open_runtime
from archiver.urls.parse import hash_url
from archiver.web.app import build_app
from tests.browser import chromium


@pytest.fixture
async def client(kept) -> AsyncIterator[TestClient]:
    """The service over an archive of two entries, and a link that waits."""
    async with open_runtime(kept.settings) as runtime:
        await runtime.entries.save(["http://a.example/"], source="web")
        server = TestServer(build_app(runtime), skip_url_asserts=True)
        async with TestClient(server) as client:
            yield client


async def test_what_is_new_and_what_is_under_way_lie_on_it_without_scripts(client):
    page = await (await client.get("/")).text()

    assert "New this week" in page
    assert "1 page is waiting or being fetched" in page
    assert "Saved on this day" not in page


async def test_what_was_begun_to_be_read_is_known_in_the_browser_alone(client, kept):
    key, done = hash_url(kept.url("/foxes")), hash_url(kept.url("/bears"))
    await client.patch(f"/api/v1/entries/{done}", json={"is_read": True})
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url("/tags")))
        places = f'{{"{done}": 9, "{"0" * 32}": 3, "{key}": 7}}'
        await page.evaluate("(places) => localStorage.setItem('places', places)", places)
        await page.goto(str(client.make_url("/")))
        links = page.locator("[data-continue] a")
        await links.first.wait_for()

        assert await links.all_inner_texts() == ["foxes"]
