"""The pages of the small web. ``OTHER`` in a text is the origin of the second host."""

import gzip
import zlib
from collections import Counter
from contextlib import AsyncExitStack

import brotli
from aiohttp import web

from archiver.http.content_coding import zstd
from tests.small_web.matter import FONT, png

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The mill by the river</title>
<link rel="stylesheet" href="/styles/main.css"><link rel="icon" href="/icon.png">
<style>.inline { background: url('/pictures/inline.png') repeat-x; height: 30px }</style>
<script>document.addEventListener("DOMContentLoaded", () => { document.body.innerHTML = "ran" })
</script><script src="/script.js"></script></head>
<body onload="fetch('/beacon?onload')"><main><article><h1 class="blocks">AAAA A</h1>
<p>The mill stood by the river for two hundred years, and ground what the valley grew. People came
from far away, with carts and later with lorries, and waited in the yard, and talked.</p>
<p>When it closed, someone wrote this page, so that it would be remembered, and put pictures on it,
which is more than most mills ever get, and asked nothing for it but to be read now and then.</p>
<img src="/pictures/one.png" alt="one"><img src="OTHER/two.png" alt="two">
<picture><source srcset="/pictures/wide.png 1x, /pictures/wide-2x.png 2x" type="image/png">
<img src="/pictures/narrow.png" alt="three"></picture>
<img srcset="/pictures/small.png 40w, /pictures/large.png 800w" sizes="40px" alt="four">
<div class="inline"></div><div style="background: url(/pictures/attribute.png); height: 30px"></div>
<iframe src="/frame.html" width="300" height="120"></iframe>
<noscript><p>This page can be read without scripts.</p></noscript>
<p><a href="/about.html">About</a> <a href="https://example.org/">Elsewhere</a></p>
</article></main></body></html>"""
MAIN_CSS = """@charset "utf-8"; @import url("more.css"); @import 'print.css' print;
@font-face { font-family: Blocks; src: url(OTHER/blocks.ttf) format("truetype") }
body { margin: 1em; font-family: "DejaVu Sans", sans-serif; background: #f6f1e4 }
.blocks { font-family: Blocks; font-size: 40px }"""
LAZY = """<title>Lazy</title><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="
data-src="/pictures/lazy.png" alt="lazy" width="40" height="30">"""
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"
onload="fetch('/beacon')"><rect width="60" height="40" fill="#484"/>
<script>fetch('/beacon?svg')</script></svg>"""
FRAME = """<!DOCTYPE html><body style="background:#dfe">Inside
<img src="/pictures/inside.png" alt="">"""
TEXTS = {
    "/": ("text/html; charset=utf-8", PAGE),
    "/styles/main.css": ("text/css", MAIN_CSS),
    "/styles/more.css": (
        "text/css",
        "h1 { color: #7a2e1d } p { background: url(../pictures/p.png) }",
    ),
    "/styles/print.css": ("text/css", "h1 { display: none }"),
    "/frame.html": ("text/html", FRAME),
    "/about.html": ("text/html", "<title>About</title><base href='/deep/er/'><img src=../up.png>"),
    "/lazy.html": ("text/html", LAZY),
    "/script.js": ("text/javascript", "fetch('/beacon?script'); document.title = 'ran'"),
    "/notes.txt": ("text/plain", "Notes on barley, and on <b>nothing else</b>."),
    "/data.json": ("application/json", '{"grain": "barley"}'),
    "/drawing.svg": ("image/svg+xml", DRAWING),
}
BYTES = {
    "/icon.png": ("image/png", png(10, 10, 10)),
    "/deep/up.png": ("image/png", png(1, 2, 3)),
    "/blocks.ttf": ("font/ttf", FONT),
    "/two.png": ("image/png", png(40, 80, 160)),
    "/paper.pdf": ("application/pdf", b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"),
    "/old.html": (
        "text/html; charset=iso-8859-1",
        "<title>Café</title><p>Où était-ce, l\u2019été ?</p>".encode("cp1252"),
    ),
    "/mislabelled.html": (
        "text/html; charset=iso-8859-1",
        "<title>Grüße</title><p>Schöne Grüße.</p>".encode(),
    ),
}
STATUSES = {"/missing.html": 404, "/gone.html": 410, "/broken.html": 500}
CODED = "<!DOCTYPE html><title>Coded</title><p>The same words in another coding.</p>"


class SmallWeb:
    """Two hosts; ``hits`` counts the requests of each path."""

    def __init__(self):
        self.hits = Counter()
        self.origin = self.other = ""
        self._stack = AsyncExitStack()

    async def __aenter__(self):
        self.origin = await self._host("127.0.0.1")
        self.other = await self._host("127.0.0.2")
        return self

    async def __aexit__(self, *_):
        await self._stack.aclose()

    async def _host(self, address):
        app = web.Application()
        app.router.add_get("/{tail:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, address, 0).start()
        host, port = runner.addresses[0][:2]
        return f"http://{host}:{port}"

    async def _answer(self, request):
        path = request.path
        self.hits[path] += 1
        if path in TEXTS:
            kind, text = TEXTS[path]
            body = text.replace("OTHER", self.other).encode()
            return web.Response(body=body, headers={"Content-Type": kind})
        if path in BYTES:
            kind, body = BYTES[path]
            shared = {"Content-Type": kind, "Access-Control-Allow-Origin": "*"}
            return web.Response(body=body, headers=shared)
        if path.startswith("/pictures/"):
            mark = zlib.crc32(path.encode())
            return web.Response(body=png(*mark.to_bytes(4, "big")[:3]), content_type="image/png")
        return await self._special(request, path)

    async def _special(self, request, path):
        if path in STATUSES:
            return web.Response(
                status=STATUSES[path], text="<p>Sorry.</p>", content_type="text/html"
            )
        if path == "/moved":
            raise web.HTTPMovedPermanently("/moved-again")
        if path == "/moved-again":
            raise web.HTTPFound("/about.html")
        if path == "/round":
            raise web.HTTPFound("/round")
        if path == "/busy.html" and self.hits[path] == 1:
            return web.Response(status=503, headers={"Retry-After": "0"})
        if path == "/busy.html":
            return web.Response(text="<title>Free now</title><p>Yes.</p>", content_type="text/html")
        if path == "/huge.bin":
            return web.Response(body=bytes(3 << 20), content_type="application/octet-stream")
        if path.startswith("/coded/"):
            return await coded(request, path.rpartition("/")[2])
        return web.Response(status=404, text="nothing here")


async def coded(request, coding):
    """Return the same page in one of the content codings."""
    body = CODED.encode()
    if coding == "chunked":
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for start in range(0, len(body), 7):
            await response.write(body[start : start + 7])
        await response.write_eof()
        return response
    pack = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": brotli.compress,
        "zstd": zstd.compress,
    }[coding]
    headers = {"Content-Type": "text/html", "Content-Encoding": coding}
    return web.Response(body=pack(body), headers=headers)
