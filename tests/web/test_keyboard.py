"""Keyboard shortcuts in a real browser; none while typing."""

import pytest
from aiohttp.test_utils import TestServer

from archiver.app import open_app
from archiver.web.app import build_app
from tests.chromium import chromium, new_page


@pytest.fixture
async def page(saved_archive):
    async with (
        open_app(saved_archive.settings) as runtime,
        TestServer(build_app(runtime), skip_url_asserts=True) as server,
        chromium() as browser,
    ):
        page = await new_page(browser, base_url=str(server.make_url("/")))
        yield page


async def keys_walk_a_list_and_an_entry(page):
    await page.goto("/snapshots?sort=title")
    focused = page.locator(":focus")
    await page.keyboard.press("j")
    assert await focused.text_content() == "bears"
    await page.keyboard.press("j")
    assert await focused.text_content() == "foxes"
    await page.keyboard.press("t")
    assert await focused.get_attribute("id") == "with_tags"
    assert await page.locator("input[name=entry]:checked").count() == 1
    await page.keyboard.type("jkso#")
    assert await focused.input_value() == "jkso#", "a field is typed into"
    await page.locator("form.change button[type=reset]").click()

    await page.keyboard.press("k")
    await page.keyboard.press("k")
    async with page.expect_navigation():  # shortcuts work after its scripts have run
        await page.keyboard.press("o")
    await page.wait_for_selector("article.reading")
    for key, shown in (("s", "Remove star"), ("e", "Mark as unread")):
        await page.keyboard.press(key)
        await page.get_by_role("button", name=shown).wait_for()
    await page.keyboard.press("#")
    await page.get_by_text("Deleted 1 entry.").wait_for()


async def keys_change_entries_of_a_list_in_place(page):
    await page.goto("/snapshots?sort=title")
    await page.evaluate("window.wasHere = true")
    await page.keyboard.press("s")
    assert await page.locator(".is_starred, .toast").count() == 0, "nothing was gone to, or ticked"

    await page.keyboard.press("j")
    await page.keyboard.press("s")
    await page.get_by_text("Changed 1 entry.").wait_for()
    assert await page.locator(".item.is_starred h3").inner_text() == "bears"
    assert await page.locator("h3 :focus").inner_text() == "bears"

    await page.keyboard.press("s")
    await page.locator(".item.is_starred").wait_for(state="detached")
    assert await page.evaluate("window.wasHere"), "it is the same page all the time"

    await page.keyboard.press("j")
    await page.keyboard.press("e")
    await page.locator(".item.is_read").wait_for()
    await page.get_by_role("button", name="Undo").click()
    await page.get_by_text("Undone.").wait_for()
    assert await page.locator(".item.is_read").count() == 0


async def test_keyboard_shortcuts_change_entries_and_move_in_lists(page):
    await keys_change_entries_of_a_list_in_place(page)
    await keys_walk_a_list_and_an_entry(page)
