"""Archives with segments in a bucket: saving a small site, and reading all of it back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestServer

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer

NAMES = ("foxes", "bears", "owls", "hares")


async def page(request: web.Request) -> web.Response:
    text = f"<title>{request.path}</title><article><p>{f'Of {request.path} alone. ' * 40}</article>"
    return web.Response(text=text, content_type="text/html")


@asynccontextmanager
async def site() -> AsyncIterator[list[str]]:
    """Serve pages while the block runs; yield their URLs."""
    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    async with TestServer(app) as server:
        yield [f"http://127.0.0.1:{server.port}/{name}" for name in NAMES]


async def save(settings: Settings, urls: list[str]) -> None:
    """Capture URLs; return after all finished segments were uploaded."""
    async with open_app(settings) as archive:
        await archive.entries.save(urls, source="test")
        await archive.crawling.work()


async def stored_content(settings: Settings) -> list[tuple[str, str, bytes]]:
    """Return every entry with its text and payload; `verify` must find no problems."""
    async with open_app(settings) as archive:
        listing = await archive.search.listing(ListingQuery())
        found = []
        for url in sorted(each.entry.url for each in listing.items):
            text = (await archive.entries.snapshot(url)).text
            found.append((url, text, await payload(archive, url)))
        assert [each async for each in archive.fixity.verify() if each.is_wrong] == []
        return found


async def payload(archive: App, url: str) -> bytes:
    capture = (await archive.replay.captures_of(url))[-1]
    shown = await archive.replay.open(
        capture, ReplayRequest(Viewer("http://test"), Modifier.IDENTITY)
    )
    return b"".join([piece async for piece in shown.body])


def other_machine(settings: Settings, data: Path) -> Settings:
    """Return the settings of the same archive for another machine with a separate disk."""
    data.mkdir(exist_ok=True)
    return replace(settings, data=data)
