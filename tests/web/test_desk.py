"""The home page as a desk, as Chromium shows it."""

from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.urls.parse import hash_url
from archiver.web.app import build_app
from archiver.web.keys import RUNTIME
from tests.browser import chromium


@pytest.fixture
async def client(kept) -> AsyncIterator[TestClient]:
    """The service over an archive of two entries, and a link that waits."""
    async with open_app(kept.settings) as runtime:
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


async def test_what_is_saved_meanwhile_comes_onto_the_desk_by_itself(client, kept):
    runtime = client.app[RUNTIME]
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url("/")))

        await runtime.oversight.cancel()

        await page.locator("#work:not(:has(section))").wait_for(state="attached")
        await page.wait_for_load_state()
        assert await page.locator("#latest .why").all_inner_texts() == ["You cancelled it."]


async def test_what_was_saved_is_not_said_to_be_saved_still(client, kept):
    runtime = client.app[RUNTIME]
    sent = await client.post("/api/v1/entries", json={"urls": ["http://127.0.0.1:1/"]})
    (job,) = (each["job_id"] for each in (await sent.json())["accepted"])
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url(f"/?jobs={job}")))
        heading = page.locator("#jobs-title")
        assert await heading.text_content() == "Being saved"

        await runtime.oversight.cancel()

        await page.get_by_role("heading", name="Not all could be saved").wait_for()
    assert ">Not all could be saved</h2>" in await (await client.get(f"/?jobs={job}")).text()


async def test_a_file_name_is_searched_for_and_may_be_saved_as_an_address(client):
    async with client.post("/add", data={"url": "node.js"}) as answer:
        page, where = await answer.text(), answer.url.path_qs

    assert where == "/snapshots?q=node.js"
    assert '<a href="/save?url=https%3A//node.js">Save https://node.js</a>' in page
    assert "/save?url=https" not in await (await client.get("/snapshots?q=kites")).text()
    refused = await (await client.get("/snapshots?q=https://example.org/x")).text()
    assert "Save https://example.org/x" in refused


async def test_addresses_that_are_pasted_are_saved_and_words_are_searched_for(client, kept):
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url("/")))
        await page.fill("#tags", "pasted")
        await page.fill("#find", "http://a.example/1")
        await page.press("#find", "Control+a")
        await page.press("#find", "Control+x")
        await page.press("#url", "Control+v")
        await page.locator("[data-jobs] li").first.wait_for()
        await page.wait_for_load_state()
        saved = await page.locator("[data-jobs] a").all_inner_texts()

        for keys in ("Enter", "Control+Enter"):
            await page.goto(str(client.make_url("/")))
            await page.fill("#url", "foxes")
            await page.press("#url", keys)
            await page.wait_for_url("**/snapshots?q=foxes")

    assert saved == ["http://a.example/1"]


async def test_a_long_text_with_addresses_is_pasted_at_once_and_waits_to_be_sent(client):
    text = "\n\n".join([f"http://a.example/{number}" for number in range(60)]) + "\n\nsome words"
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url("/")))
        await page.evaluate(
            """text => {
              const clipboardData = new DataTransfer();
              clipboardData.setData("text", text);
              const field = document.querySelector("#url");
              field.dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
              field.value = text;
              field.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
            }""",
            text,
        )

        assert await page.input_value("#url") == text
        assert page.url == str(client.make_url("/"))


async def test_what_is_typed_after_a_paste_that_was_prevented_is_not_sent(client):
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(str(client.make_url("/")))
        await page.evaluate(
            """() => {
              const clipboardData = new DataTransfer();
              clipboardData.setData("text", "http://a.example/1");
              document.querySelector("#url").dispatchEvent(
                new ClipboardEvent("paste", { clipboardData }));
            }"""
        )

        await page.press("#url", "h")
        await page.press("#url", "i")

        assert await page.input_value("#url") == "hi"
