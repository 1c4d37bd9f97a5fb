"""Non-ASCII header bytes have the same meaning on the wire, in a browser, and after a reindex."""

import json

from archiver.replay.cdx_query import parse_cdx_query
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.services.reindex import reindex
from tests.raw_server import raw_web

PAGE = "<!DOCTYPE html><title>Here</title><p>Led here by bytes that are no ASCII, as it should be."
LOCATIONS = {
    b"/g\xc3\xa5rd?\xc3\xa5": b"/g%C3%A5rd?%C3%A5",
    b"/g\xe5rd?\xe5": b"/g%E5rd?%E5",
    b"/a\x85b": b"/a%85b",
    b"/a\xa0\x85": b"/a%A0%85",
    b"/\xc3\x85\xc5": b"/%C3%85%C5",
    b"/\xe2\x80\xa8x": b"/%E2%80%A8x",
}
"""Request targets that Chromium sent, by the ``Location`` of the redirect."""
FIELDS = (
    b"Content-Type: text/html; charset=utf-8; \xe5=\x85\r\nServer: m\xf8lle\x85\r\n"
    b"X-Said: gr\xc3\xbc\xc3\x9fe\xc2\x85\r\nLink: </\xe5>; rel=preload\r\n"
)


class Web:
    """Server that redirects ``/from/N`` to a location, and sends a page for other paths."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []

    @property
    def pages(self) -> list[bytes]:
        """Return the requests, except for the icon."""
        return [each for each in self.requests if each != b"/favicon.ico"]

    def answer(self, target: bytes) -> bytes:
        self.requests.append(target)
        if target.startswith(b"/from/"):
            location = [*LOCATIONS][int(target[6:])]
            head = b"HTTP/1.1 302 F\xf8lg\x85\r\nLocation: " + location + b"\r\n"
            return head + b"Content-Length: 0\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(PAGE)
        return head + FIELDS + b"\r\n" + PAGE.encode()


async def test_a_redirect_is_followed_as_by_a_browser_also_after_a_reindex(settings, open_archive):
    web = Web()
    async with raw_web(web.answer) as origin, open_archive() as archive:
        seeds = [f"{origin}/from/{n}" for n in range(len(LOCATIONS))]
        await archive.entries.save(seeds, source="cli")
        await archive.crawling.work()

        requests = [(b"/from/%d" % n, target) for n, target in enumerate(LOCATIONS.values())]
        assert sorted(web.pages) == sorted(path for both in requests for path in both)
        captures = [await archive.replay.captures_of(seed) for seed in seeds]
        assert [finding async for finding in archive.fixity.verify()] == []

    await reindex(settings)

    async with open_archive() as archive:
        assert [await archive.replay.captures_of(seed) for seed in seeds] == captures


async def test_header_bytes_beyond_ascii_are_shown_and_break_nothing(open_archive):
    async with raw_web(Web().answer) as origin, open_archive() as archive:
        url = f"{origin}/page"
        await archive.entries.save([url], source="cli")
        await archive.crawling.work()

        (capture,) = await archive.replay.captures_of(url)
        replayed = await archive.replay.open(capture, ReplayRequest(Viewer("http://localhost")))
        await replayed.body.aclose()
        answer = archive.cdx.result(parse_cdx_query({"url": [url], "output": ["json"]}))
        rows = json.loads(b"".join([piece async for piece in answer]))

    shown = dict(replayed.headers)
    assert shown["X-Archive-Orig-server"] == "mølle\x85"
    assert shown["X-Archive-Orig-x-said"] == "grüße\x85"
    assert rows[1][2:4] == [url, capture.media_type]
