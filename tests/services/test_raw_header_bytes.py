"""Header bytes beyond ASCII have one meaning: on the wire, in a browser, after a reindex."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from playwright.async_api import Browser, async_playwright

from archiver.cdx.query import parse_cdx_query
from archiver.services.reindexing import reindex

PAGE = "<!DOCTYPE html><title>Here</title><p>Led here by bytes that are no ASCII, as it should be."
LOCATIONS = (
    b"/g\xc3\xa5rd?\xc3\xa5",
    b"/g\xe5rd?\xe5",
    b"/a\x85b",
    b"/a\xa0\x85",
    b"/\xc3\x85\xc5",
    b"/\xe2\x80\xa8x",
)
FIELDS = (
    b"Content-Type: text/ht\xe5ml; charset=utf-8; \xe5=\x85\r\nServer: m\xf8lle\x85\r\n"
    b"X-Said: gr\xc3\xbc\xc3\x9fe\xc2\x85\r\nRefresh: 9;url=/\xe5\r\nLink: </\xe5>; rel=preload\r\n"
)


class RawServer:
    """Leads ``/from/N`` to a location, and answers everything else with a page."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.origin = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(request.split(b" ", 2)[1]))
                await writer.drain()
        writer.close()

    def _answer(self, target: bytes) -> bytes:
        self.asked.append(target)
        if target.startswith(b"/from/"):
            location = LOCATIONS[int(target[6:])]
            head = b"HTTP/1.1 302 F\xf8lg\x85\r\nLocation: " + location + b"\r\n"
            return head + b"Content-Length: 0\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(PAGE)
        return head + FIELDS + b"\r\n" + PAGE.encode()


@asynccontextmanager
async def raw_server():
    web = RawServer()
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    web.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield web
    finally:
        server.close()
        await server.wait_closed()


@pytest.fixture
async def chromium() -> AsyncIterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, names))), args=["--no-sandbox"]
        )
        yield browser
        await browser.close()


async def test_a_redirect_is_followed_as_a_browser_does_and_so_it_stays(settings, opened, chromium):
    async with raw_server() as web, opened() as archive:
        seeds = [f"{web.origin}/from/{n}" for n in range(len(LOCATIONS))]
        page = await chromium.new_page()
        for seed in seeds:
            await page.goto(seed)
            await page.goto("about:blank")
        by_browser = [each for each in web.asked if each != b"/favicon.ico"]
        web.asked.clear()

        for seed in seeds:
            await archive.entries.save([seed], source="cli")
            await archive.crawling.work()

        assert web.asked == by_browser
        captures = [await archive.replay.captures_of(seed) for seed in seeds]
        assert [finding async for finding in archive.fixity.verify()] == []

    await reindex(settings)

    async with opened() as archive:
        assert [await archive.replay.captures_of(seed) for seed in seeds] == captures


async def test_header_bytes_beyond_ascii_are_shown_and_break_nothing(opened):
    async with raw_server() as web, opened() as archive:
        url = f"{web.origin}/page"
        await archive.entries.save([url], source="cli")
        await archive.crawling.work()

        (capture,) = await archive.replay.captures_of(url)
        replayed = await archive.replay.open(capture)
        await replayed.body.aclose()
        answer = archive.cdx.answer(parse_cdx_query({"url": [url], "output": ["json"]}))
        rows = json.loads(b"".join([piece async for piece in answer]))

    shown = dict(replayed.headers)
    assert shown["X-Archive-Orig-server"] == "mølle\x85"
    assert shown["X-Archive-Orig-x-said"] == "grüße\x85"
    assert shown["Refresh"].endswith(
        "/%C3%A5"
    )  # Chromium escapes only Location's bytes as they came
    assert rows[1][3] == capture.media_type == "text/ht\xe5ml"
