"""Uploaded pages of a browser are replayed as safely and completely as captures."""

import asyncio
import io
import json
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import urlsplit

import pytest

from archiver.crawl import browser_rendering
from archiver.model.rendering import Rendering
from archiver.services.page_uploads import Given
from tests.chromium import chromium, new_page
from tests.recorded_browser import (
    AT_ONCE,
    HOSTILE_TOGETHER,
    RUN,
    is_harmless,
    observed,
    open_world,
    outside,
    watching,
)

SAVED = "Thu Feb 29 2024 12:00:01 GMT+0100 (CET)"
WORDS = "Words. " * 60
RAN = "document.title='ran'"
NESTED = {
    "/c/first.css": ("text/css", "@import 'deep/second.css'; h1 { color: rgb(10, 20, 30) }"),
    "/c/deep/second.css": (
        "text/css",
        """@font-face { font-family: kept; src: url(kept.woff2) }
        body { font-family: kept; background: url(back.png) }""",
    ),
    "/c/deep/kept.woff2": ("font/woff2", b"wOF2 no font, but bytes that were sent as one"),
    "/outer.html": ("text/html", "<p>outer<img src=/c/outer.png><iframe src=/inner.html></iframe>"),
    "/inner.html": ("text/html", "<link rel=stylesheet href=/c/inner.css><p>inner"),
    "/c/inner.css": ("text/css", "p { background: url(within.png); color: rgb(40, 50, 60) }"),
    "/page": (
        "text/html",
        f"""<!DOCTYPE html><title>Nested</title><link rel=stylesheet href=/c/first.css>
        <h1>Nested</h1><p>{WORDS}</p><iframe src=/outer.html></iframe>""",
    ),
}


def single_file(url, html):
    """Return a page in the format of SingleFile."""
    said = f"Page saved with SingleFile \n url: {url} \n saved date: {SAVED}\n"
    return f"<!DOCTYPE html> <html><!--\n {said}-->{html}</html>".encode()


def mhtml(url, html):
    """Return a page in MHTML, with a hostile frame, style sheet and SVG.

    The last two have no URL, only a Content-ID.
    """
    saved = EmailMessage(policy=SMTP)
    saved["Snapshot-Content-Location"] = url
    saved["Date"] = "Thu, 29 Feb 2024 11:00:01 -0000"
    run = RUN.replace("'", "&apos;")
    frame = f'<html><body onload="{run}"><script>{RUN}</script><a id=click href="javascript:0">x'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{run}"><script>{RUN}</script></svg>'
    sheet = "@import url(BEACON/sheet.css); body { background: url(BEACON/sheet.png) }"
    needs = (
        '<link rel=stylesheet href="cid:sheet@m"><iframe src="cid:frame@m"></iframe>'
        '<iframe src="cid:drawing@m"></iframe><object data="cid:drawing@m"></object>'
    )
    saved.set_content(html + needs, subtype="html")
    saved.make_related()
    saved.get_payload()[0]["Content-Location"] = url
    for text, kind, name in (
        (frame, "html", "frame"),
        (sheet, "css", "sheet"),
    ):
        saved.add_related(text, subtype=kind, cid=f"<{name}@m>")
    saved.add_related(drawing.encode(), "image", "svg+xml", cid="<drawing@m>")
    return saved.as_bytes()


@pytest.fixture
async def world(tmp_path):
    async with open_world(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
async def watched(world):
    async with watching(world) as browser:
        yield browser


async def hand_in(runtime, name, content):
    taken = await runtime.page_uploads.take(io.BufferedReader(io.BytesIO(content)), Given(name))
    return (await runtime.entries.get(taken.hash_url)).entry


@pytest.mark.parametrize("form", [single_file, mhtml])
async def test_hostile_uploaded_pages_run_no_scripts_and_send_no_requests(world, watched, form):
    live, runtime, port, (_, strays) = world
    base = f"http://127.0.0.1:{port}"
    entries = []
    for name, body in HOSTILE_TOGETHER.items():
        html = f"<html><title>calm</title><article><p>{WORDS}</p>{body}</article>"
        content = form(f"{live.other}/{name}", html).decode()
        armed = content.replace("BEACON", f"{live.other}/beacon").replace("SERVICE", base)
        entries.append(await hand_in(runtime, name, armed.encode()))

    turns = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        for entry in entries:
            group.create_task(is_harmless(watched, base, entry, turns))

    assert (live.hits, strays) == ([], [])
    assert (await runtime.crawling.counts()).open == 0


def brought(html):
    """Return a page created by a script, also in a shadow root; it may run during the capture."""
    html = html.replace(RAN, f"/archiver/.test(navigator.userAgent)||({RAN})")
    written = json.dumps(html).replace("</", "<\\/")
    return f"""<!DOCTYPE html><title>calm</title><div id=root></div><div id=under></div><script>
        const written = {written};
        under.attachShadow({{mode: 'open'}}).innerHTML = written;
        root.innerHTML = written;</script>"""


async def test_hostile_rendered_pages_run_no_scripts_and_send_no_requests(tmp_path, monkeypatch):
    monkeypatch.setattr(browser_rendering, "LEAST_SECONDS", 1.2)
    async with open_world(tmp_path / "data", browser_pages=6, host_concurrency=12) as world:
        live, runtime, port, (_, strays) = world
        base = f"http://127.0.0.1:{port}"
        live.more = {"Content-Security-Policy": ""}
        for name, body in HOSTILE_TOGETHER.items():
            html = brought(f"<article><p>{WORDS}</p>{body}</article>")
            armed = html.replace("BEACON", f"{live.other}/beacon").replace("SERVICE", base)
            live.pages[f"/{name}"] = ("text/html", armed)
        urls = [live.origin + path for path in live.pages]
        await runtime.entries.save(urls, source="test", render=True)
        await runtime.crawling.work()
        live.hits.clear()
        entries = [(await runtime.entries.get(each)).entry for each in urls]

        turns = asyncio.Semaphore(AT_ONCE)
        async with watching(world) as browser, asyncio.TaskGroup() as group:
            for entry in entries:
                group.create_task(is_harmless(browser, base, entry, turns))

        assert {each.rendering for each in entries} == {Rendering.DONE}
        assert (live.hits, strays) == ([], [])


async def saved_by_chromium(url):
    """Return the page as saved by Chromium in one file."""
    async with chromium() as browser:
        page = await new_page(browser)
        await page.goto(url, wait_until="networkidle")
        devtools = await page.context.new_cdp_session(page)
        return (await devtools.send("Page.captureSnapshot"))["data"].encode()


async def test_resources_of_style_sheets_and_frames_are_counted_and_shown(world, watched):
    live, runtime, port, (_, strays) = world
    base = f"http://127.0.0.1:{port}"
    live.pages |= NESTED
    live.more = {"Content-Security-Policy": ""}
    entry = await hand_in(runtime, "page.mhtml", await saved_by_chromium(f"{live.origin}/page"))
    live.hits.clear()

    found = await runtime.entries.snapshot(entry.hash_url)
    context, page, asked = await observed(
        watched, f"{base}/web/{entry.latest}if_/{live.origin}/page"
    )
    heading = page.locator("h1")
    inner = page.frame_locator("iframe").frame_locator("iframe").locator("p")
    colour = "el => getComputedStyle(el).color"
    seen = await heading.evaluate(colour), await inner.evaluate(colour)
    needed = {"first.css", "second.css", "back.png", "outer.png", "inner.css", "within.png"}
    await asked.hold(*needed)
    await context.close()

    names = {urlsplit(each.url).path.rpartition("/")[2] for each in found.requisites}
    assert not [each.url for each in found.requisites if each.is_missing]
    assert names >= needed
    assert seen == ("rgb(10, 20, 30)", "rgb(40, 50, 60)")
    assert outside(asked, base) == []
    assert (live.hits, strays) == ([], [])
    assert found.snapshot.rendering is Rendering.NONE
