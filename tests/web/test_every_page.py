"""Every page on a phone and on a wide screen: no overflow, and no console messages.

Only a browser that computes the layout can show this.
"""

import pytest
from aiohttp.test_utils import TestServer

from archiver.app import open_app
from archiver.http.urls import hash_url
from archiver.web.app import build_app
from tests.chromium import chromium, new_page

PATHS = (
    *("/", "/snapshots", "/snapshots?view=dense", "/snapshots?view=covers", "/snapshots?q=fox"),
    *(
        "/search/help",
        "/api",
        "/highlights",
        "/tags",
        "/lists",
        "/feeds",
        "/activity",
        "/settings",
        "/settings/sites",
        "/settings/maintenance",
        "/bin",
        "/import",
        "/export",
    ),
    *("/access", "/save?url=a.example/x", "{entry}/", "{entry}/delete", "{snapshot}/"),
    *("{entry}/compare", "{captures}", "/export#kept"),
)
STICKS_OUT = """() => {
  const room = document.documentElement.clientWidth;
  const left = element => !element.closest("[popover], .skip") && element.getClientRects().length
    && element.getBoundingClientRect().width > 1 && element.getBoundingClientRect().left < 0;
  return document.documentElement.scrollWidth > room
    || [...document.body.querySelectorAll("*")].filter(left).map(each => each.outerHTML)[0];
}"""
"""Content to the left of the screen cannot be scrolled to, so it does not make a page wider."""


@pytest.fixture
async def browser():
    async with chromium() as browser:
        yield browser


async def test_every_page_fits_its_screen_and_logs_no_errors(saved_archive, browser):
    url = saved_archive.url("/foxes")
    async with (
        open_app(saved_archive.settings) as runtime,
        TestServer(build_app(runtime), skip_url_asserts=True) as server,
    ):
        latest = (await runtime.entries.get(url)).entry.latest
        places = {"entry": f"/{hash_url(url)}", "snapshot": f"/{hash_url(url)}/{latest}"}
        places["captures"] = f"/web/*/{url}"
        page = await new_page(browser, base_url=str(server.make_url("/")))
        said = []
        page.on("console", lambda message: said.append((page.url, message.text)))
        page.on("pageerror", lambda error: said.append((page.url, str(error))))
        for width in (320, 1440):
            await page.set_viewport_size({"width": width, "height": 800})
            for path in PATHS:
                await page.goto(path.format(**places))
                if what := await page.evaluate(STICKS_OUT):
                    said.append((path, f"wider than {width}", what))
        await page.close()  # before its server, or requests after loading would log errors

    assert said == []
