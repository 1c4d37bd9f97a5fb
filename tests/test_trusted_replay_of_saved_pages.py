"""Pages saved or rendered by a browser are replayed as safely and completely as other pages."""

import io
import json
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import urlsplit

from archiver.crawl import browser_rendering
from archiver.model.rendering import Rendering
from archiver.services.page_uploads import Given
from tests.recorded_browser import (
    HOSTILE_TOGETHER,
    RUN,
    all_are_harmless,
    logging_browser,
    open_logged_page,
    open_testbed,
    outside_requests,
)
from tests.small_web.matter import png

SAVED = "Thu Feb 29 2024 12:00:01 GMT+0100 (CET)"
WORDS = "Words. " * 60
RAN = "document.title='ran'"
NESTED = (
    ("css", "/c/first.css", "@import 'deep/second.css'; h1 { color: rgb(10, 20, 30) }"),
    ("css", "/c/deep/second.css", "body { background: url(back.png) }"),
    ("png", "/c/deep/back.png", ""),
    ("html", "/outer.html", "<p>outer<img src=/c/outer.png><iframe src='cid:inner.html@m'>"),
    ("png", "/c/outer.png", ""),
    ("html", "/inner.html", "<link rel=stylesheet href=/c/inner.css><p>inner"),
    ("css", "/c/inner.css", "p { background: url(within.png); color: rgb(40, 50, 60) }"),
    ("png", "/c/within.png", ""),
)
PAGE = f"""<!DOCTYPE html><title>Nested</title><link rel=stylesheet href=/c/first.css>
<h1>Nested</h1><p>{WORDS}</p><iframe src="cid:outer.html@m"></iframe>"""


def single_file(url, html):
    """Return a page in the format of SingleFile."""
    comment = f"Page saved with SingleFile \n url: {url} \n saved date: {SAVED}\n"
    return f"<!DOCTYPE html> <html><!--\n {comment}-->{html}</html>".encode()


def mhtml(url, html, parts):
    """Return a page in MHTML with parts: (type, path, text). A part without path has no URL."""
    saved = EmailMessage(policy=SMTP)
    saved["Snapshot-Content-Location"] = url
    saved["Date"] = "Thu, 29 Feb 2024 11:00:01 -0000"
    saved.set_content(html, subtype="html")
    saved.make_related()
    saved.get_payload()[0]["Content-Location"] = url
    for kind, path, text in parts:
        name = path.rpartition("/")[2] or kind
        if kind in {"css", "html"}:
            saved.add_related(text, subtype=kind, cid=f"<{name}@m>")
        else:
            content = text.encode() or png(1, 2, 3)
            saved.add_related(content, "image", kind, cid=f"<{name}@m>")
        if path:
            saved.get_payload()[-1]["Content-Location"] = "http://127.0.0.1" + path
    return saved.as_bytes()


def hostile_mhtml(url, html):
    """Return a page in MHTML with a hostile frame, style sheet and SVG."""
    run = RUN.replace("'", "&apos;")
    needs = (
        '<link rel=stylesheet href="cid:css@m"><iframe src="cid:html@m"></iframe>'
        '<iframe src="cid:svg+xml@m"></iframe><object data="cid:svg+xml@m"></object>'
    )
    parts = (
        (
            "html",
            "",
            f'<body onload="{run}"><script>{RUN}</script><a id=click href="javascript:0">',
        ),
        ("css", "", "@import url(BEACON/sheet.css); body { background: url(BEACON/sheet.png) }"),
        (
            "svg+xml",
            "",
            f'<svg xmlns="http://www.w3.org/2000/svg" onload="{run}"><script>{RUN}</script></svg>',
        ),
    )
    return mhtml(url, html + needs, parts)


async def upload_page(runtime, name, content):
    upload = await runtime.page_uploads.take(io.BufferedReader(io.BytesIO(content)), Given(name))
    return (await runtime.entries.get(upload.hash_url)).entry


async def hostile_uploaded_pages_are_harmless(testbed, browser):
    live, runtime, port, _ = testbed
    base = f"http://127.0.0.1:{port}"
    entries = []
    for form in (single_file, hostile_mhtml):
        for name, body in HOSTILE_TOGETHER.items():
            html = f"<html><title>calm</title><article><p>{WORDS}</p>{body}</article>"
            content = form(f"{live.other}/{form.__name__}/{name}", html).decode()
            with_origins = content.replace("BEACON", f"{live.other}/beacon").replace(
                "SERVICE", base
            )
            entries.append(await upload_page(runtime, name, with_origins.encode()))

    await all_are_harmless(browser, base, entries)

    assert (await runtime.crawling.counts()).open == 0


def created_by_script(html):
    """Return a page created by a script, also in a shadow root; it may run during the capture."""
    html = html.replace(RAN, f"/archiver/.test(navigator.userAgent)||({RAN})")
    written = json.dumps(html).replace("</", "<\\/")
    return f"""<!DOCTYPE html><title>calm</title><div id=root></div><div id=under></div><script>
        const written = {written};
        under.attachShadow({{mode: 'open'}}).innerHTML = written;
        root.innerHTML = written;</script>"""


async def hostile_rendered_pages_are_harmless(testbed, browser):
    live, runtime, port, _ = testbed
    base = f"http://127.0.0.1:{port}"
    live.more = {"Content-Security-Policy": ""}
    for name, body in HOSTILE_TOGETHER.items():
        html = created_by_script(f"<article><p>{WORDS}</p>{body}</article>")
        with_origins = html.replace("BEACON", f"{live.other}/beacon").replace("SERVICE", base)
        live.pages[f"/{name}"] = ("text/html", with_origins)
    urls = [live.origin + path for path in live.pages]
    await runtime.entries.save(urls, source="test", render=True)
    await runtime.crawling.work()
    live.hits.clear()
    entries = [(await runtime.entries.get(each)).entry for each in urls]

    await all_are_harmless(browser, base, entries)

    assert {each.rendering for each in entries} == {Rendering.DONE}


async def resources_of_style_sheets_and_frames_are_counted_and_shown(testbed, browser):
    _, runtime, port, _ = testbed
    base, url = f"http://127.0.0.1:{port}", "http://127.0.0.1/page"
    entry = await upload_page(runtime, "page.mhtml", mhtml(url, PAGE, NESTED))

    found = await runtime.entries.snapshot(entry.hash_url)
    context, page, requests = await open_logged_page(browser, f"{base}/web/{entry.latest}if_/{url}")
    heading = page.locator("h1")
    inner = page.frame_locator("iframe").frame_locator("iframe").locator("p")
    colour = "el => getComputedStyle(el).color"
    seen = await heading.evaluate(colour), await inner.evaluate(colour)
    needed = {"first.css", "second.css", "back.png", "outer.png", "inner.css", "within.png"}
    await requests.wait_for(*needed)
    await context.close()

    names = {urlsplit(each.url).path.rpartition("/")[2] for each in found.requisites}
    assert not [each.url for each in found.requisites if each.is_missing]
    assert names >= needed
    assert seen == ("rgb(10, 20, 30)", "rgb(40, 50, 60)")
    assert outside_requests(requests, base) == []
    assert found.snapshot.rendering is Rendering.NONE


async def test_saved_and_rendered_pages_stay_in_the_archive(tmp_path, monkeypatch, subtests):
    monkeypatch.setattr(browser_rendering, "LEAST_SECONDS", 1.2)
    settings = {"browser_pages": 6, "host_concurrency": 12}
    async with (
        open_testbed(tmp_path / "data", **settings) as testbed,
        logging_browser(testbed) as browser,
    ):
        for check in (
            hostile_uploaded_pages_are_harmless,
            hostile_rendered_pages_are_harmless,
            resources_of_style_sheets_and_frames_are_counted_and_shown,
        ):
            with subtests.test(check.__name__):
                await check(testbed, browser)
                assert (testbed[0].hits, testbed[3][1]) == ([], []), "no request left the archive"
