"""The main journeys of a user: with the keyboard alone in Chromium, and without scripts."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from aiohttp import FormData
from aiohttp.test_utils import TestClient, TestServer
from lxml import html
from playwright.async_api import Page

from archiver.app import open_app
from archiver.http.urls import hash_url
from archiver.web.app import build_app
from archiver.web.app_keys import RUNTIME
from tests.chromium import new_page

BOOKMARKS = "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='http://a.example/1'>One</A></DL>"
MOST_TABS = 120
WIDE = 1440
"""Width of a screen that shows the side bar beside the page."""
FOCUSED = """selector => {
  const focused = document.activeElement;
  const { x, y, width, height } = focused.getBoundingClientRect();
  const above = document.elementFromPoint(x + width / 2, y + height / 2);
  const bar = above?.closest(".dock, .top, .bar, .bar-reading");
  const isCovered = focused !== document.body && bar && !bar.contains(focused);
  return [focused.matches(selector), isCovered ? focused.outerHTML : ""];
}"""
"""Script that tells whether an element has the focus, and which element with it a bar covers."""
NAMES = ("owls", "wrens", "rooks", "swifts")


@asynccontextmanager
async def service(saved_archive, live) -> AsyncIterator[TestClient]:
    """Serve an archive of two entries; articles of these `NAMES` can be saved."""
    for name in NAMES:
        live.article(name)
    settings = replace(saved_archive.settings, allow_networks=("127.0.0.0/8",), host_delay=0)
    async with open_app(settings) as runtime:
        server = TestServer(build_app(runtime), skip_url_asserts=True)
        async with TestClient(server) as client:
            yield client


@dataclass
class Keyboard:
    """A page that is used with the keyboard alone."""

    page: Page

    async def tab_to(self, selector: str, by: str = "Tab") -> None:
        """Press Tab until an element that matches the selector has the focus."""
        for _ in range(MOST_TABS):
            await self.page.keyboard.press(by)
            is_there, covered = await self.page.evaluate(FOCUSED, selector)
            assert not covered
            if is_there:
                return
        raise AssertionError(f"Tab does not lead to {selector}")

    async def skip_to_content(self) -> None:
        """Follow the first link of the page, which leads past the bars."""
        await self.page.keyboard.press("Tab")
        await self.page.keyboard.press("Enter")
        await self.sees("#main:focus")

    async def press(self, selector: str, key: str = "Enter", by: str = "Tab") -> None:
        """Go to an element with Tab and press a key."""
        await self.tab_to(selector, by)
        await self.page.keyboard.press(key)

    async def type(self, selector: str, text: str) -> None:
        """Go to a field with Tab and type."""
        await self.tab_to(selector)
        await self.page.keyboard.type(text)

    async def sees(self, selector: str) -> None:
        """Wait until an element is visible."""
        await self.page.locator(selector).first.wait_for()


async def save_with_tags(keyboard: Keyboard, client: TestClient, url: str) -> None:
    await keyboard.page.goto("/")
    await keyboard.press(":is(.dock, .top) [popovertarget=add]", by="Shift+Tab")
    await keyboard.type("#add-url", url)
    await keyboard.type("#add-tags", "ol")
    await keyboard.sees("[role=option]")
    for key in ("ArrowDown", "Enter"):
        await keyboard.page.keyboard.press(key)
    await keyboard.page.keyboard.type("birds")
    await keyboard.press("[action$='/add'] button.primary")
    await keyboard.sees("[data-job]")
    await client.app[RUNTIME].crawling.work()
    entry = await client.app[RUNTIME].entries.get(url)
    assert entry.entry.state == "saved"
    assert entry.entry.annotation.tags == ("Old", "birds")


async def find_read_and_highlight(keyboard: Keyboard, name: str) -> None:
    await keyboard.page.goto("/tags")
    await keyboard.page.keyboard.press("/")
    await keyboard.sees("#find:focus")
    await keyboard.page.keyboard.type(name)
    await keyboard.page.keyboard.press("Enter")
    await keyboard.page.wait_for_url(f"**q={name}")
    await keyboard.skip_to_content()
    await keyboard.press(".item h3 a")
    await keyboard.sees("article.reading .text")
    await keyboard.press(".bar-reading .reading-style summary", by="Shift+Tab")
    face = "document.documentElement.dataset.face"
    before = await keyboard.page.evaluate(face)
    await keyboard.press("[name=face]:checked", "ArrowRight")
    assert await keyboard.page.evaluate(face) != before
    await keyboard.page.keyboard.press("Escape")
    await keyboard.press("#marking summary")
    await keyboard.type("#marking [name=quote]", "kept by whoever")
    await keyboard.press("#marking [name=colour]", "ArrowRight")
    await keyboard.type("#marking [name=note]", "so it is")
    await keyboard.press("#marking button")
    await keyboard.sees(".text mark.hl-green")


async def tag_many_and_undo(keyboard: Keyboard) -> None:
    await keyboard.page.goto("/snapshots?q=-tag:birds")
    await keyboard.skip_to_content()
    for _ in range(2):
        await keyboard.press(".item > input", "Space")
    await keyboard.press(".bar .menu:has(#with_tags) > summary")
    await keyboard.type("#with_tags", "many,")
    await keyboard.press(".bar .menu:has(#with_tags) button.primary")
    await keyboard.sees(".toast >> text=Changed 2 entries.")
    await keyboard.press(".toast button")
    await keyboard.sees("text=Undone.")


async def rename_a_tag_in_place(keyboard: Keyboard) -> None:
    await keyboard.page.goto("/tags")
    await keyboard.skip_to_content()
    await keyboard.press("[data-name=birds] .rename summary")
    await keyboard.sees("[data-name=birds] textarea:focus")
    await keyboard.page.keyboard.type("not this")
    await keyboard.page.keyboard.press("Escape")
    await keyboard.sees("[data-name=birds] summary:focus")
    await keyboard.page.keyboard.press("Enter")
    await keyboard.sees("[data-name=birds] textarea:focus")
    await keyboard.page.keyboard.type("night birds")
    await keyboard.page.keyboard.press("Enter")
    await keyboard.sees("[data-name='night birds']")
    await keyboard.press(".toast button")
    await keyboard.sees("[data-name=birds]")


async def delete_and_restore(keyboard: Keyboard, key: str) -> None:
    await keyboard.page.goto(f"/{key}/")
    await keyboard.skip_to_content()
    await keyboard.press(".bar-reading .menu:last-of-type > summary")
    await keyboard.press("[formaction$='/delete']")
    await keyboard.sees(".toast >> text=Deleted 1 entry.")
    if keyboard.page.viewport_size["width"] < WIDE:
        await keyboard.press(".dock [popovertarget=rail]", by="Shift+Tab")
    await keyboard.press(".rail [href='/bin']")
    await keyboard.sees("h1 >> text=Bin")
    await keyboard.skip_to_content()
    await keyboard.press(".bin input", "Space")
    await keyboard.press("[name=do][value=restore]")
    await keyboard.sees("text=Undone.")


async def every_journey_can_be_made_with_the_keyboard_alone(browser, client, live, saved_archive):
    page = await new_page(browser, base_url=str(client.make_url("/")))
    page.set_default_timeout(60_000)
    keyboard = Keyboard(page)
    sizes_and_schemes = itertools.product((WIDE, 360), ("light", "dark"))
    for (width, scheme), name in zip(sizes_and_schemes, NAMES, strict=True):
        await page.set_viewport_size({"width": width, "height": 740})
        await page.emulate_media(color_scheme=scheme)
        await save_with_tags(keyboard, client, live.url(f"/{name}"))
        await find_read_and_highlight(keyboard, name)
        await tag_many_and_undo(keyboard)
        await rename_a_tag_in_place(keyboard)
        await delete_and_restore(keyboard, hash_url(saved_archive.url("/foxes")))
    await page.context.close()


class Plain:
    """A browser without scripts: it follows links and submits forms as they are in the page."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self.text = ""

    async def open(self, path: str) -> None:
        async with self._client.get(path) as response:
            await self._show(response)

    async def submit(self, button: str, **values: object) -> None:
        """Fill the form of a button (XPath) and submit it."""
        page = html.fromstring(self.text)
        pressed = page.xpath(button)[0]
        owner = pressed.get("form")
        form = page.get_element_by_id(owner) if owner else pressed.xpath("ancestor::form")[0]
        assert {each for each in values if each not in form.fields} == set()
        fields = FormData(
            [(name, value) for name, value in form.form_values() if name not in values]
        )
        if pressed.get("name"):
            fields.add_field(pressed.get("name"), pressed.get("value", ""))
        for name, value in values.items():
            is_file = isinstance(value, bytes)
            fields.add_field(name, value, **({"filename": "b.html"} if is_file else {}))
        action = pressed.get("formaction") or form.get("action")
        async with self._client.request(form.method, action, data=fields) as response:
            await self._show(response)

    async def _show(self, response) -> None:
        self.text = await response.text()
        assert response.status == 200, self.text

    def shows(self, text: str) -> bool:
        return text in html.fromstring(self.text).text_content()


@pytest.fixture
async def client(saved_archive, live) -> AsyncIterator[TestClient]:
    async with service(saved_archive, live) as client:
        yield client


async def test_every_journey_can_be_made_without_scripts(client, live, saved_archive):
    plain, url = Plain(client), live.url("/owls")
    key = hash_url(url)
    await plain.open("/")
    await plain.submit("//*[@id='add']//button", url=url, tags="Old, birds")
    assert plain.shows("Reload")
    await client.app[RUNTIME].crawling.work()

    await plain.open("/snapshots?q=owls")
    assert f'href="/{key}/' in plain.text
    await plain.submit(f"//*[@data-entry='{key}']//button[@name='is_starred']")
    await plain.open("/snapshots?q=is:starred")
    assert plain.shows("owls")

    await plain.open(f"/{key}/")
    await plain.submit("//*[@id='edit']//button[contains(@class, 'primary')]", tags="birds, night")
    assert plain.shows("Changed 1 entry.")
    await plain.submit("//*[contains(@class, 'toast')]//button")
    assert plain.shows("Undone.")
    await plain.submit("//*[@id='marking']//button", quote="kept by whoever", note="so it is")
    assert "<mark" in plain.text

    await plain.submit("//button[contains(@formaction, '/delete')]")
    assert plain.shows("Deleted 1 entry.")
    await plain.open("/bin")
    await plain.submit("//button[@value='all']")
    assert plain.shows("The bin is empty")

    await plain.open("/import")
    await plain.submit("//button[.='Preview']", file=BOOKMARKS.encode())
    await plain.submit("//form[contains(@class, 'choices')]//button", capture="never")
    await plain.open("/import/1/undo")
    await plain.submit("//button[contains(@class, 'danger')]")
    assert plain.shows("This import was undone")

    await plain.open("/settings")
    await plain.submit("//*[@id='set-retries']/ancestor::form//button", retries="5")
    assert plain.shows("Settings saved.")
