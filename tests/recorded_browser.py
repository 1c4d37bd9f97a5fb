"""A web server, an archive that captures it, and a browser whose connections are all recorded.

The hostile pages are here as well, for tests of every way in which pages enter the archive.
"""

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from hashlib import md5
from urllib.parse import urlsplit

from aiohttp import web
from playwright.async_api import Error

from archiver.app import open_app
from archiver.config import Settings
from archiver.web.app import build_app
from tests.chromium import chromium, new_page
from tests.small_web.matter import png

BROWSER_TRAFFIC = re.compile(r"google(apis)?\.com[:/]|gstatic\.com[:/]")
"""Chromium requests updates from Google, despite its flags."""
QUIET_SECONDS = 0.5
SHEET = """@import 'nested.css'; body { color: rgb(10, 20, 30); background-color: #eef }
p { background: url(relative.png) no-repeat right }"""


class HostileWeb:
    """Web server: a page at ``/``, any page below ``/c/``, and the hostile ones."""

    def __init__(self):
        self.origin = self.other = ""
        self.hits = []
        self.pages = {}
        self.more = {}
        """Header fields of every page."""
        self.proxied_requests = []
        """Requests that a browser sent to the recording proxy."""
        self.proxy_requested = asyncio.Event()

    async def respond(self, request):
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
            cors = {"Access-Control-Allow-Origin": "*"}
            return web.Response(text=text, content_type="text/css", headers=cors)
        if suffix == "html":
            return web.Response(text="<p>framed", content_type="text/html")
        raise web.HTTPNotFound


@asynccontextmanager
async def open_testbed(data, **more):
    """Run the web server, an archive that captures it, its service, and a recording proxy."""
    live, connections = HostileWeb(), []

    async def record_connection(reader, writer):
        line = (await reader.readline()).decode("latin-1")
        if not BROWSER_TRAFFIC.search(line):
            connections.append(line)
            with suppress(asyncio.IncompleteReadError):
                head = line + (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                live.proxied_requests.append(head)
                live.proxy_requested.set()
        writer.close()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", live.respond)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    live.origin, live.other = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
    proxy = await asyncio.start_server(record_connection, "127.0.0.1", 0)
    settings = Settings(data=data, allow_networks="127.0.0.0/8,::1/128", host_delay=0, **more)
    async with open_app(settings) as runtime:
        service = web.AppRunner(build_app(runtime), access_log=None)
        await service.setup()
        await web.TCPSite(service, "127.0.0.1", 0).start()
        yield live, runtime, service.addresses[0][1], (proxy, connections)
        await service.cleanup()
    proxy.close()
    await runner.cleanup()


def logging_browser(testbed, *, whole=False):
    """Run a browser that can reach the service; other connections go to the recorder."""
    _, _, port, (proxy, _) = testbed
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


async def save_and_capture(live, runtime, *paths):
    saved = await runtime.entries.save([live.origin + path for path in paths], source="test")
    await runtime.crawling.work()
    live.hits.clear()
    return [(await runtime.entries.get(each.hash_url)).entry for each in saved.accepted]


class RequestLog(list):
    """All requests of a page and of pages that it opens, as they arrive."""

    def __init__(self):
        self._more = asyncio.Event()

    def add(self, url):
        self.append(url)
        self._more.set()

    @property
    def names(self):
        """Return the last parts of their paths."""
        return {urlsplit(each).path.rpartition("/")[2] for each in self}

    async def settle(self, page):
        """Wait until a page has loaded and has requested nothing for `QUIET_SECONDS`.

        Playwright's "networkidle" never occurs if a frame navigates after another one has sent a
        late request.
        """
        while True:
            await page.wait_for_load_state()
            self._more.clear()
            try:
                await asyncio.wait_for(self._more.wait(), QUIET_SECONDS)
            except TimeoutError:
                return

    async def open(self, page, url):
        """Open a URL, and wait until the page has settled."""
        await page.goto(url)
        await self.settle(page)

    async def wait_for(self, *names):
        """Wait until all of these were requested."""
        with suppress(TimeoutError):
            async with asyncio.timeout(60):
                while not self.names.issuperset(names):
                    self._more.clear()
                    await self._more.wait()
        assert self.names >= {*names}


async def open_logged_page(browser, url):
    """Yield a page, and every request of it and of pages that it opens."""
    page = await new_page(browser, viewport={"width": 700, "height": 900})
    requests = RequestLog()
    page.context.on("request", lambda request: requests.add(request.url))
    page.context.on("websocket", lambda socket: requests.add(socket.url))
    await requests.open(page, url)
    return page.context, page, requests


async def navigate(page, requests, url):
    """Open a URL in a page, even if an earlier click is still navigating."""
    while True:
        try:
            await requests.open(page, url)
        except Error as error:
            if "interrupted by another navigation" not in str(error):
                raise
        else:
            return


async def titles_of(page):
    """Return the titles of a page and its frames after loading has ended."""
    while not page.is_closed():
        with suppress(Error):  # one of them is navigating
            return [await each.title() for each in page.frames if not each.is_detached()]
    raise AssertionError("the page was closed")


def outside_requests(requests, base, *allowed_prefixes):
    """Return the requests that went neither to replayed content nor to the service's pages."""
    own_prefixes = (f"{base}/web/", f"{base}/static/", f"{base}/shown/")
    allowed = (*own_prefixes, "data:", "about:", "mailto:", *allowed_prefixes)
    return [url for url in requests if not url.startswith(allowed)]


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


SEPARATE = ("break-out", "refresh")
"""Constructs that need a separate page, because they change the effect of others."""
HOSTILE_TOGETHER = {
    "together": "".join(f"<div>{HOSTILE[each]}</div>" for each in HOSTILE if each not in SEPARATE),
    **{each: HOSTILE[each] for each in SEPARATE},
}
"""All other constructs in one page, and each of ``SEPARATE`` in its own."""


async def all_are_harmless(browser, base, entries, *, views=("snapshot", "capture", "read")):
    """Show each page in these views, and click everything: in its banner, alone, as an article.

    All pages are opened in the same tab, because each tab costs a process.
    """
    context, page, requests = await open_logged_page(browser, "about:blank")
    for entry in entries:
        snapshot = f"{base}/{entry.hash_url}/{entry.latest}/"
        read = f"{base}/{entry.hash_url}/"
        capture = f"{base}/web/{entry.latest}/{entry.url}"
        for url in map({"snapshot": snapshot, "capture": capture, "read": read}.get, views):
            with suppress(Error):  # a download is not a page
                await requests.open(page, url)
            for frame in page.frames[:2]:
                with suppress(Error):  # a frame may be gone, or have nothing to click
                    await frame.locator("#click").first.click(force=True, timeout=100)
            await requests.settle(page)
            assert "ran" not in await titles_of(page), url
        assert outside_requests(requests, base, snapshot, read) == [], entry.url
        assert (await context.cookies(), context.service_workers) == ([], []), entry.url
        assert context.pages == [page], entry.url
        requests.clear()
    await context.close()
