"""Replayed pages cannot send requests outside the archive, or act.

Pages that are fetched, uploaded or rendered are tested in a browser whose connections are all
recorded.
"""

import asyncio
import io
import json
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from itertools import product
from urllib.parse import urlsplit

from playwright.async_api import Error

from archiver.crawl import browser_rendering
from archiver.model.rendering import Rendering
from tests.recorded_browser import (
    HOSTILE_TOGETHER,
    RUN,
    all_are_harmless,
    logging_browser,
    navigate,
    open_logged_page,
    open_testbed,
    outside_requests,
    save_and_capture,
)
from tests.small_web.matter import opened, png

BIG = "width=40 height=20"
CONSTRUCTS = f"""<!DOCTYPE html><html lang=en><head><meta charset=utf-8>
<meta http-equiv="Content-Security-Policy" content="img-src 'none'; style-src 'none'">
<title>Everything</title>
<base href="OTHER/deep/">
<link rel=stylesheet href="/c/sheet.css" integrity="sha256-AAAA" nonce=abc crossorigin>
<link rel="alternate stylesheet" title=b href="/c/alternate.css">
<link rel=icon href="/c/icon.png"><link rel=apple-touch-icon href="/c/touch.png">
<link rel=manifest href="/c/manifest.json"><link rel=preload as=image href="/c/preload.png"
 imagesrcset="/c/preload2.png 2x"><link rel=modulepreload href="/c/module.js">
<link rel=prefetch href="/c/prefetch.html"><link rel=dns-prefetch href="//dns.away.example">
<link rel=preconnect href="http://connect.away.example"><link rel=prerender href="/c/prerender">
<link rel=pingback href="/c/pingback"><link rel=next href="/c/next">
<script src="/c/script.js"></script><script type=module src="/c/module.js"></script>
<script type=importmap>{{"imports": {{"x": "/c/mapped.js"}}}}</script>
<style nonce=abc>@import "/c/imported.css"; @import url(/c/imported2.css) screen;
@font-face {{ font-family: f; src: url("/c/font.woff2") }}
.a {{ background: u\\72l(/c/escaped.png) }} /* url(/c/comment.png) */
.b {{ background-image: image-set("/c/set1.png" 1x, url(/c/set2.png) 2x) }}
.c {{ background: -webkit-image-set(url(/c/set3.png) 1x) }}
.d {{ list-style: inside url( '/c/bullet.png' ); cursor: url(/c/cursor.png), auto }}
.e:hover {{ background: url(/c/hover.png) }}
video, audio {{ visibility: hidden }} /* what a player shows of what it can't play differs */
</style></head>
<body background="/c/background.png">
<p class=a>a</p><p class=b>b</p><p class=c>c</p><ul><li class=d>d</ul><p class=e id=hover>hover</p>
<img src="/c/image.png" {BIG} lowsrc="/c/low.png" longdesc="/c/long" usemap="#map" alt="">
<img srcset="/c/one.png 1x, /c/two.png 2x" {BIG} alt="">
<picture><source srcset="/c/source.png" media="(min-width: 1px)"><img src="/c/not.png" {BIG} alt="">
</picture><map name=map><area href="/c/area" shape=rect coords="0,0,9,9" ping="/c/ping"></map>
<p style="background: url('/c/styled.png'); color: #123">styled</p>
<video poster="/c/poster.png" src="/c/video.mp4" {BIG}></video>
<audio src="/c/audio.mp3"></audio><video {BIG}><source src="/c/video2.mp4"><track src="/c/t.vtt">
</video><input type=image src="/c/button.png" formaction="/c/formaction" {BIG} alt="">
<svg {BIG}><image href="/c/svg.png" {BIG} /><use xlink:href="/c/use.svg#x" />
<a xlink:href="/c/svglink"><text y=10>link</text></a><feImage href="/c/fe.png" /></svg>
<object data="/c/object.png" {BIG}></object><embed src="/c/embed.png" {BIG}>
<iframe src="/c/frame.html" {BIG}></iframe>
<iframe {BIG} srcdoc="<img src='/c/srcdoc.png' {BIG}><a href='/c/inside'>x</a>"></iframe>
<template><img src="/c/template.png"></template>
<noscript><img src="/c/noscript.png" {BIG} alt=""></noscript>
<table background="/c/table.png"><tr><td background="/c/cell.png">cell</table>
<blockquote cite="/c/cite"><q cite="/c/q">quoted</q></blockquote><del cite="/c/del">gone</del>
<form action="/c/form" method=post><button id=send formaction="/c/button">send</button></form>
<a id=link href="/c/link">link</a> <a id=blank href="/c/link" target=_blank ping="/c/ping">blank</a>
<a id=top href="http://away.example/" target=_top>top</a> <a id=mail href="mailto:a@b.example">m</a>
<a id=js href="javascript:document.title='ran'">js</a> <a id=hash href="#here">hash</a>
<a id=download href="/c/file.bin" download="../../etc/passwd">download</a></body></html>"""
SHOWN = {
    "sheet.css", "nested.css", "relative.png", "imported.css", "imported2.css", "escaped.png",
    "background.png", "image.png", "source.png", "styled.png", "poster.png", "button.png",
    "svg.png", "object.png", "embed.png", "frame.html", "srcdoc.png", "table.png", "cell.png",
    "bullet.png", "hover.png", "noscript.png",
}  # fmt: skip
"""Requests to the archive."""


async def no_construct_leaves_the_archive_when_loaded_hovered_or_clicked(testbed, browser):
    live, runtime, port, _ = testbed
    base = f"http://127.0.0.1:{port}"
    live.pages["/"] = ("text/html", CONSTRUCTS.replace("OTHER", live.other))
    (entry,) = await save_and_capture(live, runtime, "/")
    url = f"{base}/web/{entry.latest}if_/{entry.url}"

    context, page, requests = await open_logged_page(browser, url)
    await page.locator("#hover").hover()
    await requests.wait_for("hover.png")
    for name in ("mail", "js", "send"):  # the page stays
        await page.locator(f"#{name}").click(force=True)
    await requests.settle(page)
    title = await page.title()
    for name in ("download", "blank", "hash", "link", "top"):
        await page.locator(f"#{name}").click(force=True)
        await requests.settle(page)
        await navigate(page, requests, url)
    await requests.wait_for(*SHOWN)
    await context.close()

    assert outside_requests(requests, base) == []
    assert title == "Everything"


FILES = {
    "/svg.svg": (
        "image/svg+xml",
        f"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"
        onload="{RUN.replace("'", "&apos;")}"><script>{RUN}</script><image x:href="BEACON/svg" />
        <foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:0" />
        </foreignObject><use href="BEACON/use#x" /></svg>""",
    ),
    "/xml.xml": (
        "application/xml",
        f"""<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="BEACON/x.xsl"?>
        <html xmlns="http://www.w3.org/1999/xhtml"><script>{RUN}</script></html>""",
    ),
    "/xhtml": (
        "application/xhtml+xml",
        f"""<html xmlns="http://www.w3.org/1999/xhtml"><body onload="{RUN}"><script>
        <![CDATA[{RUN}]]></script><p>x</p></body></html>""",
    ),
    "/polyglot.gif": ("image/gif", f"GIF89a/*<html><script>{RUN}</script>*/=1;"),
    "/text.txt": ("text/plain", f"<html><script>{RUN}</script>"),
    "/octets": ("application/octet-stream", f"<!doctype html><script>{RUN}</script>"),
    "/parts": ("multipart/x-mixed-replace; boundary=b", f"--b\r\n\r\n<script>{RUN}</script>--b--"),
}


async def hostile_pages_run_no_scripts_set_no_state_and_send_no_requests(testbed, browser):
    live, runtime, port, _ = testbed
    base = f"http://127.0.0.1:{port}"

    def with_origins(text):
        return text.replace("BEACON", f"{live.other}/beacon").replace("SERVICE", base)

    for name, body in HOSTILE_TOGETHER.items():
        text = f"<!DOCTYPE html><title>calm</title><article><p>{'Words. ' * 60}</p>{body}</article>"
        live.pages[f"/{name}"] = ("text/html", with_origins(text))
    for path, (kind, body) in FILES.items():
        live.pages[path] = (kind.partition(";")[0], with_origins(body))
    entries = await save_and_capture(live, runtime, *live.pages)
    await all_are_harmless(browser, base, entries[: len(HOSTILE_TOGETHER)])
    await all_are_harmless(browser, base, entries[len(HOSTILE_TOGETHER) :], views=["capture"])

    assert (await runtime.crawling.counts()).open == 0


LEAKS = """<!DOCTYPE html><title>calm</title><meta name=referrer content=unsafe-url>
<meta http-equiv=refresh content="600; url=http://away.example/refresh">
<link rel=stylesheet href=http://away.example/s.css referrerpolicy=unsafe-url>
<img src=http://away.example/i.png referrerpolicy=unsafe-url><iframe referrerpolicy=unsafe-url
src=http://away.example/f></iframe><script>document.title='ran'</script>
<body onload="document.title='ran'"><p><a id=click href=http://away.example/clicked/NUMBER
referrerpolicy=unsafe-url>click</a><svg><a href=http://away.example/svg referrerpolicy=unsafe-url>
<text y=9>svg</text></a></svg>"""
TYPES = ("application/pdf, text/html", "text/html, application/pdf", "application/pdf")
"""Types that browsers read in different ways; ``replay/test_response.py`` has all of them."""


def pdf(link):
    """Return a coloured page that is a link from edge to edge."""
    parts = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Annots[5 0 R]>>",
        "<</Length 26>>stream\n0 0 1 rg 0 0 300 200 re f \nendstream",
        f"<</Type/Annot/Subtype/Link/Rect[0 0 300 200]/A<</S/URI/URI({link})>>>>",
    )
    text, places = "%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(text))
        text += f"{number} 0 obj{part}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{text}xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}"
        f"trailer<</Size {len(parts) + 1}/Root 1 0 R>>\nstartxref\n{len(text)}\n%%EOF"
    )


async def wait_for_proxied_request(live, address):
    """Wait until the recorder was asked for a URL; a click ends before its request is sent."""
    async with asyncio.timeout(60):
        while not any(address in head for head in live.proxied_requests):
            live.proxy_requested.clear()
            await live.proxy_requested.wait()


async def no_media_type_lets_a_page_run_leave_or_send_a_referrer(testbed, browser):
    live, runtime, port, (_, connections) = testbed
    base = f"http://127.0.0.1:{port}"
    live.more = {
        "Referrer-Policy": "unsafe-url",
        "Refresh": "600; url=http://away.example/header",
    }
    for number, kind in enumerate(TYPES):
        live.pages[f"/{number}"] = (kind, LEAKS.replace("NUMBER", str(number)))
    entries = await save_and_capture(live, runtime, *live.pages)
    live.more = {}
    context, page, requests = await open_logged_page(browser, "about:blank")
    for stored, entry in product((False, True), entries):
        modifier = "id_" if stored else ""
        url = f"{base}/web/{entry.latest}{modifier}/{entry.url}"
        with suppress(Error):  # a download is not a page
            await requests.open(page, url)
        assert await page.title() != "ran", url
        link = page.locator("#click")
        if await link.count():  # other documents have nothing to click
            await link.click(force=True)
            if stored:
                await wait_for_proxied_request(
                    live, f"//away.example/clicked{urlsplit(entry.url).path} "
                )
        await requests.settle(page)
        assert [line for line in connections if line and "away.example/clicked" not in line] == []
        assert [head for head in live.proxied_requests if "\r\nreferer:" in head.lower()] == []
        assert stored or not live.proxied_requests
    assert live.proxied_requests, "what is given as it was stored has a live link"
    await context.close()


async def wait_until_viewer_shows_blue(page, area):
    """Return whether the viewer displays the page.

    The viewer is a browser extension, whose loading gives no event; it rarely fails to start, and
    the page is then reloaded.
    """
    clock = asyncio.get_running_loop().time
    for _ in range(3):
        until = clock() + 20
        while clock() < until:
            if opened(await page.screenshot(clip=area)).getpixel((0, 0)) == (0, 0, 255):
                return
        await page.reload()
    raise AssertionError("no page of the PDF")


async def a_pdf_is_shown_and_its_links_send_no_referrer(testbed, browser):
    live, runtime, port, (_, connections) = testbed
    base = f"http://127.0.0.1:{port}"
    live.pages["/a.pdf"] = ("application/pdf", pdf("http://away.example/clicked"))
    (entry,) = await save_and_capture(live, runtime, "/a.pdf")

    for url in (f"{base}/{entry.hash_url}/", f"{base}/{entry.hash_url}/{entry.latest}/"):
        context, page, _ = await open_logged_page(browser, url)
        box = await page.locator("iframe").bounding_box()
        x, y = box["x"] + box["width"] * 0.7, box["y"] + 150
        area = {"x": x, "y": y, "width": 4, "height": 4}
        await wait_until_viewer_shows_blue(page, area)
        live.proxy_requested.clear()
        while not live.proxy_requested.is_set():  # the first click may only focus the viewer
            await page.mouse.move(x - 5, y - 5)
            await page.mouse.click(x, y)
        await context.close()

    assert all("away.example/clicked" in line for line in filter(None, connections)), connections
    assert [head for head in live.proxied_requests if "\r\nreferer:" in head.lower()] == []


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
    upload = await runtime.page_uploads.take(io.BufferedReader(io.BytesIO(content)), name)
    return (await runtime.entries.get(upload.hash_url)).entry


async def hostile_uploaded_pages_are_harmless(testbed, browser):
    live, runtime, port, _ = testbed
    base = f"http://127.0.0.1:{port}"
    entries = []
    for form, names in ((single_file, ["together"]), (hostile_mhtml, HOSTILE_TOGETHER)):
        for name in names:
            body = HOSTILE_TOGETHER[name]
            html = f"<html><title>calm</title><article><p>{WORDS}</p>{body}</article>"
            content = form(f"{live.other}/{form.__name__}/{name}", html).decode()
            with_origins = content.replace("BEACON", f"{live.other}/beacon").replace(
                "SERVICE", base
            )
            entries.append(await upload_page(runtime, name, with_origins.encode()))

    await all_are_harmless(browser, base, entries, views=["capture"])

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
        live.pages[f"/rendered-{name}"] = ("text/html", with_origins)
    urls = [live.origin + path for path in live.pages]
    await runtime.entries.save(urls, source="test", render=True)
    await runtime.crawling.work()
    live.hits.clear()
    entries = [(await runtime.entries.get(each)).entry for each in urls]

    await all_are_harmless(browser, base, entries, views=["capture", "read"])

    assert {each.rendering for each in entries} == {Rendering.DONE}


async def resources_of_style_sheets_and_frames_are_counted_and_shown(testbed, browser):
    _, runtime, port, _ = testbed
    base, url = f"http://127.0.0.1:{port}", "http://127.0.0.1/page"
    entry = await upload_page(runtime, "page.mhtml", mhtml(url, PAGE, NESTED))

    detail = await runtime.entries.snapshot(entry.hash_url)
    context, page, requests = await open_logged_page(browser, f"{base}/web/{entry.latest}if_/{url}")
    heading = page.locator("h1")
    inner = page.frame_locator("iframe").frame_locator("iframe").locator("p")
    colour = "el => getComputedStyle(el).color"
    colours = await heading.evaluate(colour), await inner.evaluate(colour)
    needed = {"first.css", "second.css", "back.png", "outer.png", "inner.css", "within.png"}
    await requests.wait_for(*needed)
    await context.close()

    names = {urlsplit(each.url).path.rpartition("/")[2] for each in detail.requisites}
    assert not [each.url for each in detail.requisites if each.is_missing]
    assert names >= needed
    assert colours == ("rgb(10, 20, 30)", "rgb(40, 50, 60)")
    assert outside_requests(requests, base) == []
    assert detail.snapshot.rendering is Rendering.NONE


async def test_replayed_pages_stay_in_the_archive(tmp_path, monkeypatch, subtests):
    monkeypatch.setattr(browser_rendering, "LEAST_SECONDS", 1.2)
    checks = (
        no_construct_leaves_the_archive_when_loaded_hovered_or_clicked,
        hostile_pages_run_no_scripts_set_no_state_and_send_no_requests,
        hostile_uploaded_pages_are_harmless,
        hostile_rendered_pages_are_harmless,
        resources_of_style_sheets_and_frames_are_counted_and_shown,
    )
    checks_with_pdf_viewer = (
        no_media_type_lets_a_page_run_leave_or_send_a_referrer,
        a_pdf_is_shown_and_its_links_send_no_referrer,
    )
    settings = {"browser_pages": 6, "host_concurrency": 12}
    async with open_testbed(tmp_path / "data", **settings) as testbed:
        live, _, _, (_, connections) = testbed
        for whole, chosen in ((False, checks), (True, checks_with_pdf_viewer)):
            async with logging_browser(testbed, whole=whole) as browser:
                for check in chosen:
                    for each in (live.pages, live.more, live.hits, live.proxied_requests):
                        each.clear()
                    connections.clear()
                    with subtests.test(check.__name__):
                        await check(testbed, browser)
                        assert live.hits == [], "no request left the archive"
                        assert whole or connections == []
