"""The pages of the service in Chromium: layout, scripts, keyboard and forms.

One browser serves all checks, because starting one takes longer than most of them.
"""

import io
from datetime import datetime, timedelta, timezone

from aiohttp.test_utils import TestServer
from axe_playwright_python.async_playwright import Axe
from PIL import Image, ImageStat

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.web.app import build_app
from tests.chromium import chromium, new_page
from tests.conftest import SENTENCE, filled_by, saved_url
from tests.web.test_journeys import every_journey_can_be_made_with_the_keyboard_alone, service

WORDS = "however clever, are lost in time"
PATHS = (
    "/ /snapshots /snapshots?status=queued /snapshots?view=dense /snapshots?view=covers "
    "/snapshots?q=fox /search/help /api /highlights /tags /lists /feeds /activity /settings "
    "/settings/sites /settings/library /settings/maintenance /bin /components /import /export "
    "/access /save?url=a.example/x {entry}/ {entry}/delete {snapshot}/ {entry}/compare {captures} "
    "/export#kept"
).split()
WIDE = ("/", "/snapshots?view=covers", "/settings", "{entry}/")
STICKS_OUT = """() => {
  const room = document.documentElement.clientWidth;
  const left = element => !element.closest("[popover], .skip, .chips")
    && element.getClientRects().length && element.getBoundingClientRect().width > 1
    && element.getBoundingClientRect().left < 0;
  return document.documentElement.scrollWidth > room
    || [...document.body.querySelectorAll("*")].filter(left).map(each => each.outerHTML)[0];
}"""
"""Script that returns a true value if content is wider than the screen or left of it.

Content to the left cannot be scrolled to, so it does not make a page wider.
"""
SKIPPED_HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4")]
  .filter((each) => each.checkVisibility())
  .filter((each, at, all) => each.tagName[1] - (at ? all[at - 1].tagName[1] : 0) > 1)
  .map((each) => each.outerHTML)"""
TABLE = (
    "Seite,Address,name,folder\n"
    "x,http://127.0.0.1:1/1,One,Food/Soups\n"
    "y,http://127.0.0.1:1/2,Two,Other\n"
    "z,javascript:alert(1),Bad,Food\n"
)


@filled_by
async def save_three_articles(runtime, live):
    long = f"<title>long</title><article>{SENTENCE.format(name='long') * 60}</article>"
    urls = [live.article("foxes"), live.article("bears"), live.put("/long", long)]
    await runtime.entries.save(urls, source="web")
    await runtime.crawling.work()


class Site:
    """The service over an archive of three articles, and a browser."""

    def __init__(self, runtime, browser, base):
        self.runtime, self._browser, self._base = runtime, browser, base

    def url(self, name):
        return saved_url(self.runtime.settings, f"/{name}")

    def path(self, name):
        return f"/{hash_url(self.url(name))}/"

    async def open(self, path, **options):
        """Open a page in a new context."""
        page = await new_page(self._browser, base_url=self._base, **options)
        await page.goto(path)
        return page


async def test_pages_work_in_a_browser(prepared, tmp_path, live, saved_archive):
    data = tmp_path / "three"
    await prepared.copy(save_three_articles, data)
    async with (
        open_app(Settings(data=data)) as runtime,
        TestServer(build_app(runtime), skip_url_asserts=True) as server,
        chromium() as browser,
    ):
        await runtime.entries.save(["http://a.example/"], source="web")  # a job that waits
        site = Site(runtime, browser, str(server.make_url("/")))
        for check in (
            every_page_fits_its_screen_and_logs_no_errors,
            menus_the_focus_and_the_text_are_in_view_on_a_phone,
            tags_are_edited_from_a_list_without_scripts,
            the_end_of_the_side_bar_is_in_view_beside_many_lists,
            a_list_is_moved_by_dragging_it_in_the_side_bar,
            components_are_accessible_and_follow_each_theme,
            selected_text_is_highlighted_in_whole_words,
            a_highlight_is_changed_in_its_place,
            an_article_is_read_sentence_by_sentence,
            reading_options_and_position_are_remembered,
            the_home_page_saves_urls_searches_words_and_follows_jobs,
            a_row_is_changed_in_place_beside_folded_lists,
            keys_change_entries_of_a_list_in_place,
            keys_move_in_a_list_and_an_entry,
            a_file_is_previewed_imported_followed_and_undone,
        ):
            await check(site)
        async with service(saved_archive, live) as client:
            await every_journey_can_be_made_with_the_keyboard_alone(
                browser, client, live, saved_archive
            )


async def every_page_fits_its_screen_and_logs_no_errors(site):
    latest = (await site.runtime.entries.get(site.url("foxes"))).entry.latest
    entry = site.path("foxes").removesuffix("/")
    places = {"entry": entry, "snapshot": f"{entry}/{latest}"}
    places["captures"] = f"/web/*/{site.url('foxes')}"
    page, results = await site.open("/"), []
    page.on("console", lambda message: results.append((page.url, message.text)))
    page.on("pageerror", lambda error: results.append((page.url, str(error))))
    await page.request.post("/api/v1/lists", data={"path": "Recipes/Soups/Hot"})
    for width, paths in ((320, PATHS), (1440, WIDE)):
        await page.set_viewport_size({"width": width, "height": 800})
        for path in paths:
            await page.goto(path.format(**places))
            await page.evaluate(
                "document.querySelectorAll('.rename').forEach(e => { e.open = true; })"
            )
            if element := await page.evaluate(STICKS_OUT):
                results.append((path, f"wider than {width}", element))
            results.extend((path, each) for each in await page.evaluate(SKIPPED_HEADINGS))
    await page.close()  # while the server still answers; otherwise late requests log errors

    assert results == []


OFF_SCREEN = """() => [...document.querySelectorAll("details.menu")]
  .filter((menu) => menu.checkVisibility())
  .filter((menu) => {
    menu.open = true;
    const { top, left, right } = menu.lastElementChild.getBoundingClientRect();
    menu.open = false;
    return top < 0 || left < 0 || right > innerWidth;
  }).map((menu) => menu.firstElementChild.outerHTML)"""


COVERED = """() => [...document.querySelectorAll("main :is(a, button, input, summary)")]
  .filter((each) => {
    each.focus();
    const { x, y, width, height } = each.getBoundingClientRect();
    const shown = document.elementFromPoint(x + width / 2, y + height / 2);
    const bar = shown?.closest(".dock, .top, .bar, .bar-reading");
    return document.activeElement === each && bar && !bar.contains(each);
  }).map((each) => each.outerHTML)"""


async def menus_the_focus_and_the_text_are_in_view_on_a_phone(site):
    page = await site.open("/", viewport={"width": 360, "height": 740})
    for path in ("/snapshots", site.path("foxes")):
        await page.goto(path)
        for about in await page.locator(".item .about").all():
            assert (await about.bounding_box())["width"] > 200, path
        for tick in await page.locator(".item > input").all():
            await tick.check()
        assert await page.evaluate(OFF_SCREEN) == [], path
        assert await page.evaluate(COVERED) == [], path
    title = "A title of an article that is so long that it needs several lines on a phone"
    await page.locator("h1").evaluate("(each, title) => { each.textContent = title; }", title)
    assert (await page.locator(".text p").first.bounding_box())["y"] < 350
    await page.close()


async def tags_are_edited_from_a_list_without_scripts(site):
    page = await site.open("/snapshots?q=foxes", java_script_enabled=False)
    await page.locator(".item .tools [href$='#edit']").click()
    for tags, shown in (("x" * 201, ".panel .alert"), ("new", ".toast")):
        await page.locator("#tags").fill(tags)
        await page.locator("#edit .primary").click()
        await page.locator(shown).wait_for()
    await page.close()


async def the_end_of_the_side_bar_is_in_view_beside_many_lists(site):
    page = await site.open("/snapshots", viewport={"width": 1440, "height": 900})
    lists = page.locator(".rail .groups ul").first
    await lists.evaluate("each => { each.innerHTML = each.innerHTML.repeat(40); }")
    settings = await page.locator(".rail [href='/settings']").bounding_box()
    assert settings["y"] + settings["height"] <= 900
    await page.close()


async def a_list_is_moved_by_dragging_it_in_the_side_bar(site):
    for name in ("Birds", "Kites", "Maps"):
        await site.runtime.lists.make(name, "")
    page = await site.open("/snapshots")
    names = "rows => rows.map(row => row.dataset.name)"
    rows = page.locator(".rail [data-name]")
    first = (await rows.evaluate_all(names))[0]
    await page.drag_and_drop(
        ".rail [data-name=Maps]", f".rail [data-name={first}]", target_position={"x": 60, "y": 2}
    )
    await page.locator(f".rail [data-name=Maps] ~ [data-name={first}]").wait_for()
    moved = await rows.evaluate_all(names)
    await site.runtime.lists.delete("Maps")
    await page.drag_and_drop(".rail [data-name=Maps]", ".rail [data-name=Kites]")
    await page.get_by_role("alert").get_by_text("There is no list “Maps”.").wait_for()
    await page.close()
    assert moved.index("Maps") < moved.index("Birds") < moved.index("Kites")


async def violations(page, *rules):
    """Return what axe finds: WCAG 2.2 AA and best practices, or only these rules."""
    result = await Axe().run(page, options={"runOnly": rules} if rules else {})
    return [
        (each["id"], n["html"]) for each in result.response["violations"] for n in each["nodes"]
    ]


async def components_are_accessible_and_follow_each_theme(site):
    page = await site.open("/components")
    await page.click(".menu > summary")
    for theme, rules, is_dark in (
        ("light", (), False),
        ("sepia", ("color-contrast",), False),
        ("dark", (), True),
        ("black", ("color-contrast",), True),
    ):
        await page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        assert await violations(page, *rules) == [], theme
        image = Image.open(io.BytesIO(await page.screenshot())).convert("L")
        assert (ImageStat.Stat(image).median[0] < 128) == is_dark, theme
    await page.close()


async def selected_text_is_highlighted_in_whole_words(site):
    page = await site.open(site.path("foxes"))
    await page.evaluate(
        """() => {
          const node = document.querySelectorAll("[data-text] p")[1].firstChild;
          const start = node.data.indexOf("however");
          document.getSelection().setBaseAndExtent(node, start + 2, node, start + 31);
        }"""
    )

    await page.click(".marker .hl-blue")
    await page.wait_for_selector("mark.hl-blue")

    assert await page.locator("mark.hl-blue").text_content() == WORDS
    marked = "[...document.querySelectorAll('[data-text] p')].findIndex("
    assert await page.evaluate(f"{marked}(each) => each.querySelector('mark'))") == 1


async def a_highlight_is_changed_in_its_place(site):
    page = await site.open(site.path("foxes"))
    await page.click("mark.hl-blue")
    assert await violations(page, "color-contrast") == []
    await page.check("form.marker [value=pink]")
    await page.fill("form.marker textarea", "look here")
    await page.click("form.marker [value=change]")
    await page.click("mark.hl-pink[title='look here']")
    await page.keyboard.press("Escape")
    assert not await page.locator("form.marker").count()
    await page.click("mark.hl-pink")
    await page.click("form.marker [value=remove]")
    await page.wait_for_selector("mark.hl-pink", state="detached")


VOICE = """
window.spoken = [];
Object.defineProperty(window, "speechSynthesis", {
  value: { speak: (said) => spoken.push(said), cancel: () => {} },
});
"""
"""A voice that does not speak; headless Chromium has none."""


async def an_article_is_read_sentence_by_sentence(site):
    page = await site.open("/")
    await page.add_init_script(VOICE)
    await page.goto(site.path("foxes"))
    marked = "CSS.highlights.get('spoken') && [...CSS.highlights.get('spoken')][0].toString()"
    spoken = "spoken.map((each) => each.text.trim())"
    pressed = "document.querySelector('[data-listen]').ariaPressed"
    first, second = "Is it the first?", "It is the 2.5th."
    await page.evaluate(
        "words => { document.querySelector('[data-text] p').innerHTML = words; }",
        "Is <b>it</b> the first? It is the 2.5th.",
    )
    await page.click("[data-listen]")
    await page.evaluate("spoken[0].onend()")
    assert await page.evaluate(spoken) == [first, second]
    assert (await page.evaluate(marked)).strip() == second

    await page.click("[data-listen]")
    assert (await page.evaluate(marked), await page.evaluate(pressed)) == (None, "false")
    await page.click("[data-listen]")
    await page.evaluate("spoken[1].onerror(); spoken[1].onend()")  # of the cancelled sentence
    assert await page.evaluate(spoken) == [first, second, second]
    assert await page.evaluate(pressed) == "true"

    await page.evaluate("spoken.at(-1).onerror()")
    assert await page.evaluate(pressed) == "false"


async def reading_options_and_position_are_remembered(site):
    path = site.path("long")
    page = await site.open(path, timezone_id="Asia/Tokyo")
    size = "getComputedStyle(document.querySelector('.text')).fontSize"
    before = await page.evaluate(size)
    position = page.locator("header time").last
    moment = datetime.fromisoformat(await position.get_attribute("datetime"))
    tokyo = moment.astimezone(timezone(timedelta(hours=9)))
    assert f"{tokyo:%H:%M}" in await position.text_content()

    await page.click(".reading-style summary")
    await page.check("[name=size][value='5']")
    await page.check("[name=paper][value=sepia]")
    async with page.expect_response(f"**{path}place") as stored:
        await page.evaluate("scrollTo(0, 3000)")
    assert (await stored.value).status == 204
    at = await page.evaluate("scrollY")
    await page.goto("/")
    assert await page.locator("section:has(#continue-title) a").all_inner_texts() == ["long"]
    other_device = await site.open(path)
    assert await other_device.evaluate("scrollY") > 1000
    await page.goto(path)

    assert await page.evaluate(size) != before
    assert await page.evaluate("document.documentElement.dataset.paper") == "sepia"
    assert abs(await page.evaluate("scrollY") - at) < 400


async def the_home_page_saves_urls_searches_words_and_follows_jobs(site):
    page = await site.open("/")
    await page.click("#activity")
    await page.click("#activity-panel >> text=Pause")
    await page.click("#activity-panel >> text=Resume")
    await page.locator("#activity-panel >> text=Pause").wait_for()
    await page.keyboard.press("Escape")
    await site.runtime.crawl_status.cancel()
    await page.locator("#activity[hidden]").wait_for(state="attached")
    await page.locator("#latest .failure-reason").wait_for()
    reasons = await page.locator("#latest .failure-reason").all_inner_texts()
    assert reasons == ["You cancelled saving this page."]

    await page.goto("/")
    await page.fill("#find", "http://a.example/1")
    await page.press("#find", "Control+a")
    await page.press("#find", "Control+x")
    await page.press("main", "Control+v")
    await page.fill(".offer-save #found-tags", "kites")
    await page.press("#find", "Enter")
    await page.locator("[data-jobs] li").first.wait_for()
    await page.wait_for_load_state()
    saved = await page.locator("[data-jobs] > li > a").all_inner_texts()
    tagged = await page.locator(".rail [href='/snapshots?tag=kites']").count()

    await page.press(".top [popovertarget=add]", "Enter")
    await page.fill("#add-url", "mailto:x")
    await page.click("#add button.primary")
    await page.fill("#url", "")
    await page.press("#url", "Control+v")
    await page.locator("[data-jobs] li").first.wait_for()
    assert (saved, tagged) == (["http://a.example/1"], 1)


async def a_row_is_changed_in_place_beside_folded_lists(site):
    page = await site.open("/snapshots?q=clever&sort=title")
    for n in range(12):
        await page.request.post("/api/v1/lists", data={"path": f"List {n}"})
    await page.reload()
    assert await page.locator(".rail summary .n").count() == 1
    counts = page.locator(".rail a > .n").evaluate_all
    before = await counts("all => all.map(each => each.innerHTML)")
    await page.locator(".item").first.hover()
    await page.locator(".item .tools [name=is_starred]").first.click()
    await page.get_by_role("button", name="Undo").wait_for()
    assert await counts("all => all.map(each => each.innerHTML)") == before
    await page.get_by_role("button", name="Undo").click()
    await page.get_by_text("Undone.").wait_for()

    await page.locator(".item").nth(2).hover()
    await page.locator(".item .tools [data-tag-row]").nth(2).click()
    await page.keyboard.type("kites")
    await page.keyboard.press("Enter")
    await page.locator("details[open] button.primary").click()
    await page.get_by_text("Changed 1 entry.").wait_for()
    assert await page.locator(".item:nth-of-type(3) .tags").inner_text() == "kites"
    await page.close()


async def keys_change_entries_of_a_list_in_place(site):
    page = await site.open("/snapshots?q=clever&sort=title")
    await page.evaluate("window.wasHere = true")
    await page.keyboard.press("s")
    assert await page.locator(".is_starred, .toast").count() == 0, "no entry has the focus yet"

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


async def keys_move_in_a_list_and_an_entry(site):
    page = await site.open("/snapshots?q=clever&sort=title")
    focused = page.locator(":focus")
    await page.keyboard.press("j")
    assert await focused.text_content() == "bears"
    await page.keyboard.press("j")
    assert await focused.text_content() == "foxes"
    await page.keyboard.press("t")
    assert await focused.get_attribute("id") == "with_tags"
    assert await page.locator("input[name=entry]:checked").count() == 1
    await page.keyboard.type("jkso#")
    assert await focused.input_value() == "jkso#", "shortcuts do not work in a field"
    await page.locator(".selected > summary").click()
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


async def a_file_is_previewed_imported_followed_and_undone(site):
    page = await site.open("/import", viewport={"width": 360, "height": 900})
    file = {"name": "list.csv", "mimeType": "text/csv", "buffer": TABLE.encode()}
    await page.set_input_files("#file", file)
    await page.click("main button.primary")

    await page.get_by_role("heading", name="Preview: list.csv", exact=True).wait_for()
    await page.wait_for_load_state()  # a script replaces the field of tags
    await page.fill("#tags", "new")
    await page.select_option("#capture", "never")
    await page.click("summary:has-text('folders')")
    await page.check("input[name=only_folder][value=Food]")
    await page.click("summary:has-text('column')")
    await page.select_option("label:has-text('name') select", label="note")
    assert await page.evaluate(STICKS_OUT) is None
    await page.click("button:has-text('Check again')")

    await page.locator("dl.numbers", has_text="skipped").wait_for()
    assert await page.is_checked("input[name=only_folder][value=Food]")
    await page.click("button.primary:has-text('Import')")
    await page.wait_for_url("**/import/1")
    # The page shows the progress, and reloads at the end.
    await page.wait_for_selector("[data-open=no] .phase:has-text('Done')")
    await page.wait_for_load_state()

    async with page.expect_download() as download:
        await page.get_by_role("link", name="CSV", exact=True).click()
    rows = (await (await download.value).path()).read_text().splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == ["added", "left out", "unusable"]
    assert await page.evaluate(STICKS_OUT) is None
    await page.click("text=View imported entries")
    await page.locator("ol.entries", has_text="link only").wait_for()
    await page.goto("/import/1")
    await page.click("text=Undo this import…")
    await page.click("button.danger")

    await page.locator("main", has_text="This import was undone").wait_for()
    await page.goto("/snapshots?q=import:list.csv")
    assert await page.query_selector("ol.entries li") is None
