"""Keys, in a real browser: each does what it says, and none where a person types."""

import re

import pytest
from aiohttp.test_utils import TestServer

from archiver.app import open_app
from archiver.web.app import build_app
from tests.browser import chromium


@pytest.fixture
async def page(kept):
    async with (
        open_app(kept.settings) as runtime,
        TestServer(build_app(runtime), skip_url_asserts=True) as server,
        chromium() as browser,
    ):
        page = await browser.new_page(base_url=str(server.make_url("/")))
        yield page


async def test_a_list_and_an_entry_are_walked_by_keys(page):
    await page.goto("/snapshots?sort=title")
    focused = page.locator(":focus")
    await page.keyboard.press("j")
    assert await focused.text_content() == "bears"
    await page.keyboard.press("j")
    assert await focused.text_content() == "foxes"
    await page.keyboard.press("t")
    assert await focused.get_attribute("name") == "with_tags"
    assert await page.locator("input[name=entry]:checked").count() == 1
    await page.keyboard.type("jkso#")
    assert await focused.input_value() == "jkso#", "a field is typed into"
    await focused.evaluate("field => field.blur()")

    await page.keyboard.press("k")
    await page.keyboard.press("k")
    async with page.expect_navigation():  # to its end: keys are heard once its scripts have run
        await page.keyboard.press("o")
    await page.wait_for_selector("article.reading")
    for key, shown in (("s", "★ Starred"), ("e", "Mark as unread")):
        async with page.expect_navigation():
            await page.keyboard.press(key)
        await page.get_by_text(shown).wait_for()
    await page.keyboard.press("#")
    await page.wait_for_url(re.compile(r"/delete\?in=sort%3Dtitle$"))


@pytest.mark.parametrize(
    "path", ["/", "/feeds", "/crawl", "/import", "/export", "/access", "/search/help", "/lists"]
)
async def test_on_a_phone_lists_open_beside_every_page_and_have_the_keys_to_themselves(page, path):
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(path)

    await page.get_by_role("button", name="Lists", exact=True).focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("/")

    await page.get_by_role("link", name="Starred").wait_for()
    assert await page.locator("#find:focus").count() == 0
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="Starred").wait_for(state="hidden")
    await page.keyboard.press("/")
    await page.locator("#find:focus").wait_for()


async def test_the_sheet_of_lists_keeps_the_keyboard_until_it_is_closed(page):
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto("/snapshots")
    await page.locator(".opens-side").focus()
    await page.keyboard.press("Enter")
    await page.locator(".side .closes:focus").wait_for()

    for _ in range(12):
        await page.keyboard.press("Tab")
        assert await page.locator(":is(main, header) :focus").count() == 0

    await page.keyboard.press("Escape")
    await page.locator(".opens-side:focus").wait_for()
    await page.keyboard.press("Enter")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.locator("main:not([inert])").wait_for()


async def test_they_are_shown_and_turned_off(page):
    await page.goto("/")
    await page.locator("#latest-title").click()
    await page.keyboard.press("?")
    await page.locator("#keys").wait_for()
    await page.keyboard.press("/")
    assert await page.locator("#find:focus").count() == 0, "a dialog has the keys to itself"
    await page.locator("#keys input").uncheck()
    await page.keyboard.press("Escape")
    await page.goto("/snapshots")
    await page.keyboard.press("/")
    assert await page.locator("#q:focus").count() == 0
    await page.keyboard.press("?")
    await page.locator("#keys input").check()
    await page.keyboard.press("Escape")
    await page.locator("#keys").wait_for(state="hidden")
    await page.keyboard.press("/")
    await page.locator("#q:focus").wait_for()


@pytest.fixture
async def plain(kept):
    """A page of a browser that runs no scripts, on a telephone."""
    async with (
        open_app(kept.settings) as runtime,
        TestServer(build_app(runtime), skip_url_asserts=True) as server,
        chromium() as browser,
    ):
        context = await browser.new_context(
            base_url=str(server.make_url("/")),
            java_script_enabled=False,
            viewport={"width": 360, "height": 640},
        )
        yield await context.new_page()


async def test_what_can_be_done_stays_in_view_while_anything_is_ticked_without_scripts(plain):
    await plain.goto("/snapshots?view=comfortable")
    star = plain.get_by_role("button", name="Star", exact=True)
    assert not await star.is_visible()

    await plain.locator("input[name=entry]").first.check()
    await plain.evaluate("scrollTo(0, 0)")

    box = await star.bounding_box()
    assert 0 <= box["y"] <= 640 - box["height"]
    await star.click()
    await plain.get_by_text("Changed 1 entry.").wait_for()


async def test_shift_ticks_all_up_to_the_last_one_and_their_number_is_told(page):
    await page.goto("/snapshots")
    boxes = page.locator("input[name=entry]")
    await boxes.first.click()
    await boxes.last.click(modifiers=["Shift"])
    assert await page.locator("[data-ticked]").text_content() == f"Ticked: {await boxes.count()}"

    await page.get_by_role("button", name="Untick all").click()

    await page.wait_for_function("!document.querySelector('[data-ticked]').textContent")
    assert await page.locator("input[name=entry]:checked").count() == 0


async def test_enter_sends_a_field_that_wraps_as_it_sends_any_other(page):
    await page.goto("/lists")
    await page.fill("#path", "Recipes")
    async with page.expect_navigation():
        await page.press("#path", "Enter")
    await page.goto("/lists")
    await page.locator("textarea[name=new]").fill("Recipes of a long winter")
    await page.keyboard.press("Enter")

    listed = page.locator("main").get_by_role("link")
    await listed.get_by_text("Recipes of a long winter").wait_for()
    assert await listed.all_inner_texts() == ["Recipes of a long winter"]


async def test_what_only_works_with_scripts_is_not_shown_without_them(plain):
    await plain.goto("/snapshots?sort=title")
    await plain.get_by_role("link", name="foxes").click()

    await plain.locator(".address a").wait_for()
    assert not await plain.locator("[data-copy]").is_visible()


async def test_keys_of_a_list_say_it_of_its_entries_in_place_and_take_it_back(page):
    await page.goto("/snapshots?sort=title")
    await page.evaluate("window.wasHere = true")
    await page.keyboard.press("s")
    assert await page.locator(".star, .notice").count() == 0, "nothing was gone to, or ticked"

    await page.keyboard.press("j")
    await page.keyboard.press("s")
    await page.get_by_text("Changed 1 entry.").wait_for()
    assert await page.locator(".item:has(.star) h3").inner_text() == "★\xa0bears"
    assert await page.locator("h3 :focus").inner_text() == "bears"

    await page.keyboard.press("s")
    await page.locator(".star").wait_for(state="detached")
    assert await page.evaluate("window.wasHere"), "it is the same page all the time"

    await page.keyboard.press("j")
    await page.keyboard.press("e")
    await page.locator(".item.is_read").wait_for()
    await page.get_by_role("button", name="Undo").click()
    await page.get_by_text("Undone.").wait_for()
    assert await page.locator(".item.is_read").count() == 0


async def test_the_next_entry_is_gone_to_where_one_leaves_the_list(page):
    await page.goto("/snapshots?q=is:unread&sort=title")
    await page.keyboard.press("j")
    await page.keyboard.press("e")
    await page.locator(".item >> nth=1").wait_for(state="detached")
    assert await page.locator("h3 :focus").inner_text() == "foxes"

    await page.keyboard.press("e")
    await page.get_by_role("heading", name="Nothing fits").wait_for()
    await page.get_by_role("button", name="Undo").wait_for()
