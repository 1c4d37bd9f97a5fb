"""The banner above a snapshot follows what its frame shows, as Chromium shows both."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.config import Settings
from archiver.urls.parse import hash_url
from archiver.web.app import build_app
from tests.browser import chromium

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


async def test_it_says_of_a_page_with_a_form_that_nothing_can_be_sent(linked, live):
    client, path = linked
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url(path)))
        said, frame = page.locator(".shown [data-forms]"), page.frame_locator("iframe.replay")
        assert await said.is_hidden()

        await frame.locator("#kept").click()
        await said.wait_for()
        assert "be sent from here" in await said.inner_text()

        await page.evaluate("history.back()")
        await said.wait_for(state="hidden")


async def test_it_is_one_slim_bar_on_every_screen_and_whole_without_scripts(linked):
    client, path = linked
    async with chromium() as browser:
        page = await browser.new_page(java_script_enabled=False)
        for width in (360, 768, 1440):
            await page.set_viewport_size({"width": width, "height": 800})
            await page.goto(str(client.make_url(path)))
            bar = await page.locator(".banner").bounding_box()
            frame = await page.locator("iframe.replay").bounding_box()
            assert (bar["width"], bar["height"], frame["y"]) == (width, 44, 44)

            live_page = page.locator(".of-snapshot").get_by_role("link", name="Live page")
            if not await live_page.is_visible():
                await page.get_by_role("button", name="More").click()
            assert await live_page.is_visible()


async def test_a_page_that_is_not_kept_is_offered_to_be_captured_in_the_banner(linked, live):
    client, path = linked
    lost = live.put("/lost", "<title>Lost</title><p>Found again.</p>") + "?a=%3Cb%3E"
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url(path)))
        await page.frame_locator("iframe.replay").locator("#lost").click()
        offer = page.locator("[data-absent]")
        await offer.wait_for()
        public = await offer.get_by_role("link", name="Public archive").get_attribute("href")
        live_page = await offer.get_by_role("link", name="Live page").get_attribute("href")

        await offer.get_by_role("button", name="Capture it").click()

        await page.get_by_role("heading", name="Being saved").wait_for()
        assert (live_page, public.endswith(lost)) == (lost, True)


async def test_without_scripts_the_frame_itself_leads_to_the_form_that_saves(linked):
    client, path = linked
    async with chromium() as browser:
        page = await browser.new_page(java_script_enabled=False)
        await page.goto(str(client.make_url(path)))
        frame = page.frame_locator("iframe.replay")
        await frame.locator("#lost").click()
        await frame.get_by_role("link", name="Capture it").click()

        await page.get_by_role("heading", name="Save this page?").wait_for()
        assert urlsplit(page.url).path == "/save"


async def test_a_frame_within_a_page_is_not_what_the_banner_speaks_of(linked):
    client, path = linked
    text = await (await client.get(path)).text()
    banner = text.partition('data-banner="')[2][:16]
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url(path)), wait_until="load")
        own = await page.locator("[data-banner]").get_attribute("data-banner")
        shown = await (await client.get(f"/shown/{own}")).json()

    assert shown["title"] == "First"
    assert (await client.get(f"/shown/{banner}")).status == 404
