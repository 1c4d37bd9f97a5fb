"""Effect of replay's headers in Chromium.

The hostile page is served as stored, so that only those headers restrict it.
"""

import base64
import re
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer, make_mocked_request
from playwright.async_api import Page

from archiver.app import open_app
from archiver.config import Settings
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.web import auth
from archiver.web.app import build_app
from archiver.web.app_keys import PERMISSIONS
from archiver.web.routes import ROUTES as OURS
from tests.chromium import chromium, new_page
from tests.conftest import live_web
from tests.handmade_archive import archive_in
from tests.recorded_browser import RequestLog

TIME = "20240229120001"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = """<!DOCTYPE html><title>as it was</title>
<link rel=stylesheet href="PREFIX/TIMEcs_/http://a.example/s.css">
<meta http-equiv=refresh content="0; url=http://127.0.0.1:PORT/changed?refresh">
<body onload="document.title='ran'" style="color: rgb(1, 2, 3)">
<script>document.title = "ran"</script>
<img id=ours src="PREFIX/TIMEim_/http://a.example/i.png" onload="document.title='ran'">
<img id=route src="/changed?img"><img id=away src="http://away.localhost:PORT/changed?away">
<iframe src="PREFIX/TIMEif_/http://a.example/inner"></iframe>
<iframe src="/changed?frame"></iframe>
<object data="/changed?object"></object><embed src="/changed?embed">
<iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>
<video src="/changed?video"></video><link rel=prefetch href="/changed?prefetch">
<form action="/changed?form" method=post><button id=send>send</button></form>
<a id=script href="javascript:document.title='ran'">go</a>
"""
LOOKS = "el => getComputedStyle(el).backgroundColor"
"""Script for the background colour; polled, because a page without scripts has no events."""
FILES = {
    "http://a.example/": ("text/html", HOSTILE),
    "http://a.example/inner": ("text/html", "<p>inner"),
    "http://a.example/s.css": (
        "text/css",
        """@font-face { font-family: f; src: url(f.woff2) }
        body { font-family: f; background: rgb(4, 5, 6) url(/changed?css) }""",
    ),
    "http://a.example/i.png": ("image/png", PNG),
    "http://a.example/f.woff2": ("font/woff2", b"no font"),
    "http://a.example/i.svg": (
        "image/svg+xml",
        '<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("/changed?svg")</script></svg>',
    ),
}


def signed(app: web.Application, modifier: str, url: str) -> str:
    permissions = app[PERMISSIONS]
    return permissions.write(permissions.new(), ReplayAddress(TIME, Modifier(modifier), url))


async def banner(request: web.Request) -> web.Response:
    page = signed(request.app, Modifier.IDENTITY, "http://a.example/")
    return web.Response(
        text=f'<title>ours</title><iframe sandbox src="{page}"></iframe>', content_type="text/html"
    )


async def changed(request: web.Request) -> web.Response:
    return web.Response(text="reached")


ROUTES = (
    web.get("/", banner),
    web.route("*", "/changed", changed),
    next(each for each in OURS if each.kwargs.get("name") == "replay"),
)


def filled(content: str | bytes, client: TestClient) -> bytes:
    """Return a stored page with the replay URLs that a rewritten page would contain."""
    if isinstance(content, bytes):
        return content

    def opened(expected: re.Match[str]) -> str:
        return signed(client.app, expected[1] or "", expected[2])

    content = re.sub(r"PREFIX/TIME([a-z]{2}_)?/(http://a\.example/[\w.]+)", opened, content)
    return content.replace("PORT", str(client.port)).encode()


@asynccontextmanager
async def service(serve, data, password):
    """Serve the hostile files."""
    async with archive_in(data) as archive:
        client = await serve(*ROUTES, services={"replay": archive.replay}, password=password)
        for url, (kind, content) in FILES.items():
            fields = (("Content-Type", kind), ("Set-Cookie", "evil=1"))
            await archive.add(url, filled(content, client), TIME, headers=fields)
        yield client


async def sign_in(client, browser_page: Page) -> None:
    request = make_mocked_request("GET", "/", app=client.app)
    response = web.Response()
    await auth.start_session(request, response)
    await browser_page.context.add_cookies(
        [
            {
                "name": auth.COOKIE,
                "value": response.cookies[auth.COOKIE].value,
                "url": f"http://127.0.0.1:{client.port}/",
                "sameSite": "Strict",
                "httpOnly": True,
            }
        ]
    )


async def it_is_shown_in_a_frame(client, browser_page):
    requests = RequestLog()
    base = f"http://127.0.0.1:{client.port}"
    await sign_in(client, browser_page)
    browser_page.on("response", lambda response: requests.add(response.url))

    await browser_page.goto(f"{base}/", wait_until="networkidle")
    frame = browser_page.frames[1]
    await requests.wait_for("s.css", "i.png", "inner", "f.woff2")

    paths = [url.removeprefix(base) for url in requests]
    assert all(path == "/" or path.startswith("/web/") for path in paths), paths
    for name in ("s.css", "i.png", "inner", "f.woff2"):
        assert any(path.endswith(f"http://a.example/{name}") for path in paths), name
    assert await frame.title() == "as it was"
    inner = next(each for each in browser_page.frames if each.url.endswith("/inner"))
    assert "inner" in await inner.content()
    assert await frame.locator("body").evaluate(LOOKS) == "rgb(4, 5, 6)"
    assert await frame.locator("#ours").evaluate("el => el.naturalWidth") == 1
    assert await frame.locator("#route").evaluate("el => el.naturalWidth") == 0
    assert {each["name"] for each in await browser_page.context.cookies()} == {auth.COOKIE}


async def it_does_nothing_outside_a_frame_or_when_clicked(client, browser_page):
    requests: list[str] = []
    base = f"http://127.0.0.1:{client.port}"
    await sign_in(client, browser_page)
    await browser_page.goto(f"{base}/web/{TIME}id_/http://a.example/", wait_until="networkidle")
    browser_page.on("response", lambda response: requests.append(response.url))

    await browser_page.locator("#send").click()
    await browser_page.locator("#script").click()
    await browser_page.goto(
        f"{base}/web/{TIME}id_/http://a.example/i.svg", wait_until="networkidle"
    )

    assert [url.removeprefix(base) for url in requests] == [
        f"/web/{TIME}id_/http://a.example/i.svg"
    ]


async def only_the_archive_can_frame_it(client, browser_page):
    async def attack(_: web.Request) -> web.Response:
        memento = f"http://127.0.0.1:{client.port}/web/{TIME}if_/http://a.example/inner"
        return web.Response(text=f"<iframe src='{memento}'></iframe>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", attack)
    async with TestServer(app) as attacker:
        await browser_page.goto(f"http://localhost:{attacker.port}/", wait_until="networkidle")
        stolen = [await each.content() for each in browser_page.frames[1:]]
    await sign_in(client, browser_page)
    await browser_page.goto(f"http://127.0.0.1:{client.port}/", wait_until="networkidle")
    shown = [await each.content() for each in browser_page.frames]

    assert not any("inner</p>" in each for each in stolen)
    assert any("<p>inner" in each for each in shown)


async def test_a_hostile_page_is_harmless_in_replay(serve, tmp_path):
    async with chromium() as browser:
        for password in (None, "pass"):
            async with service(serve, tmp_path / f"archive-{password}", password) as client:
                for check in (
                    it_is_shown_in_a_frame,
                    it_does_nothing_outside_a_frame_or_when_clicked,
                    only_the_archive_can_frame_it,
                ):
                    page = await new_page(browser)
                    await check(client, page)
                    await page.context.close()
        await a_user_signs_in_and_opens_a_saved_page(browser, tmp_path / "data")


SAVED_PAGE = """<!DOCTYPE html><title>As it was</title><link rel=stylesheet href=/s.css>
<img id=shown src=/i.png><iframe src=/inner></iframe><a id=next href=/inner>on</a>"""


async def a_user_signs_in_and_opens_a_saved_page(browser, data):
    """Resources of a replayed page are requested without a cookie."""

    async def picture(_: web.Request) -> web.Response:
        return web.Response(body=PNG, content_type="image/png")

    settings = Settings(
        data=data, password="a pass phrase", allow_networks="127.0.0.0/8", host_delay=0
    )
    async with (
        live_web() as live,
        open_app(settings) as runtime,
        TestServer(build_app(runtime)) as server,
    ):
        live.add_handler("/i.png", picture)
        live.put("/s.css", "body { background: rgb(4, 5, 6) }", kind="text/css")
        live.put("/inner", "<!DOCTYPE html><p>inner<img src=/i.png>")
        url, base = live.put("/page", SAVED_PAGE), f"http://127.0.0.1:{server.port}"
        await runtime.entries.save([url], source="web")
        await runtime.crawling.work()
        entry = (await runtime.entries.get(url)).entry
        page = await new_page(browser)
        await page.goto(f"{base}/snapshots?q=x")
        for password, led_to in (("wrong", "/login"), ("a pass phrase", "/snapshots?q=x")):
            await page.fill("input[type=password]", password)
            await page.keyboard.press("Enter")
            await page.wait_for_url(f"{base}{led_to}")

        failed: list[str] = []
        page.on("response", lambda match: failed.append(match.url) if match.status >= 400 else None)
        shown = f"{base}/{entry.hash_url}/{entry.latest}/"
        await page.goto(shown, wait_until="networkidle")

        frame = page.frames[1]
        assert frame.url.startswith(f"{base}/web/~")
        assert await frame.locator("body").evaluate(LOOKS) == "rgb(4, 5, 6)"
        assert await frame.locator("#shown").evaluate("el => el.naturalWidth") == 1
        assert await frame.child_frames[0].locator("img").evaluate("el => el.naturalWidth") == 1
        assert failed == []

        await page.goto(f"{base}/web/{url}", wait_until="networkidle")
        assert await page.locator("#shown").evaluate("el => el.naturalWidth") == 1
        await page.locator("#next").click()
        await page.locator("p", has_text="inner").wait_for()
        link = f"{base}/web/{entry.latest}/{live.url('/inner')}"
        assert failed == [link], "the link was followed without a cookie, then from an own page"
        await page.context.close()
