"""Signing in, and resources of a snapshot without a cookie."""

import base64
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Page

from archiver.app import open_app
from archiver.config import Settings
from archiver.web.app import build_app
from tests.chromium import chromium, new_page

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PAGE = """<!DOCTYPE html><title>As it was</title><link rel=stylesheet href=/s.css>
<img id=shown src=/i.png><iframe src=/inner></iframe><a id=next href=/inner>on</a>
<a id=lost href=/lost>off</a>"""
FILES = {
    "/page": ("text/html", PAGE.encode()),
    "/inner": ("text/html", b"<!DOCTYPE html><p>inner<img src=/i.png>"),
    "/s.css": ("text/css", b"body { background: rgb(4, 5, 6) }"),
    "/i.png": ("image/png", PNG),
}


async def file(request: web.Request) -> web.Response:
    if request.path not in FILES:
        raise web.HTTPNotFound
    kind, body = FILES[request.path]
    return web.Response(body=body, content_type=kind)


@pytest.fixture
async def site() -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/{path:.*}", file)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def base(tmp_path) -> AsyncIterator[str]:
    settings = Settings(
        data=tmp_path / "data",
        password="a pass phrase",
        allow_networks=("127.0.0.0/8",),
        host_delay=0,
        retries=0,
    )
    async with (
        open_app(settings, serve=True) as runtime,
        TestServer(build_app(runtime)) as server,
    ):
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with chromium() as browser:
        yield await new_page(browser)


async def test_a_user_signs_in_saves_a_page_and_opens_it(base, site, page):
    await page.goto(f"{base}/snapshots?q=x")
    assert page.url.startswith(f"{base}/login?next=")
    await page.fill("input[type=password]", "wrong")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{base}/login")
    await page.fill("input[type=password]", "a pass phrase")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{base}/snapshots?q=x")

    entry = await save(page, base, f"{site}/page")
    timestamp = entry["latest"]
    failed: list[str] = []
    page.on("response", lambda given: failed.append(given.url) if given.status >= 400 else None)
    await page.goto(f"{base}/{entry['hash_url']}/{timestamp}/", wait_until="networkidle")

    frame = page.frames[1]
    assert frame.url.startswith(f"{base}/web/~")
    looks = "el => getComputedStyle(el).backgroundColor"
    assert await frame.locator("body").evaluate(looks) == "rgb(4, 5, 6)"
    assert await frame.locator("#shown").evaluate("el => el.naturalWidth") == 1
    inner = frame.child_frames[0]
    assert await inner.locator("img").evaluate("el => el.naturalWidth") == 1
    assert failed == []

    await page.goto(f"{base}/web/{site}/page", wait_until="networkidle")
    assert await page.locator("#shown").evaluate("el => el.naturalWidth") == 1
    await page.locator("#next").click()
    await page.locator("p", has_text="inner").wait_for()
    link = f"{base}/web/{timestamp}/{site}/inner"
    assert failed == [link], "no cookie came with the link, so it went on from a page of ours"


async def save(page: Page, base: str, url: str) -> dict:
    """Save a URL by the API, as a script of our own page would; wait until it is kept."""
    script = """async ([url]) => {
        const headers = {"Content-Type": "application/json"}, body = JSON.stringify({urls: [url]});
        const sent = await fetch("/api/v1/entries", {method: "POST", headers, body});
        const {accepted: [{hash_url, job_id}]} = await sent.json();
        await (await fetch(`/api/v1/events?jobs=${job_id}`)).text();
        return (await (await fetch(`/api/v1/entries/${hash_url}`)).json()).entry;
    }"""
    return await page.evaluate(script, [url])
