"""The banner above a snapshot follows what its frame shows, as Chromium shows both."""

from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.web.app import build_app
from tests.chromium import chromium

PAGE = """<title>First</title><a id=kept href="/second">kept</a>
<a id=lost href="/lost?a=<b>">lost</a><iframe src="/within"></iframe>"""


@pytest.fixture
async def linked(live, tmp_path) -> AsyncIterator[tuple[TestClient, str]]:
    """The service over a page that leads to one that is kept and one that is not."""
    first = live.put("/first", PAGE)
    second = live.put(
        "/second",
        "<title>Second</title><p>Here.</p><FORM action=/sent><button>Send</button></FORM>",
    )
    live.put("/within", "<title>Within</title><p>Within.</p>")
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    async with open_app(settings) as runtime:
        await runtime.entries.save([first, second], source="cli")
        await runtime.crawling.work()
        server = TestServer(build_app(runtime), skip_url_asserts=True)
        async with TestClient(server) as client:
            timestamp = (await runtime.entries.get(first)).entry.latest
            yield client, f"/{hash_url(first)}/{timestamp}/"


async def test_title_and_buttons_are_of_the_page_that_the_frame_shows(linked, live):
    client, path = linked
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url(path)))
        title, frame = page.locator("h1"), page.frame_locator("iframe.replay")
        assert await title.inner_text() == "First"

        await frame.locator("#kept").click()
        await page.locator("h1", has_text="Second").wait_for()
        second = hash_url(f"{live.origin}/second")
        assert second in await page.get_by_role("link", name="Read").get_attribute("href")

        await page.evaluate("history.back()")
        await page.locator("h1", has_text="First").wait_for()
        assert await page.locator("[data-absent]").is_hidden()
