"""A server on loopback that sends exactly the bytes it is given, and a browser to look at it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from playwright.async_api import Browser, async_playwright


@asynccontextmanager
async def raw_web(answer: Callable[[bytes], bytes]) -> AsyncIterator[str]:
    """Answer each request's target with a whole response; gives the origin."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(answer(request.split(b" ", 2)[1]))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def chromium(*arguments: str) -> AsyncIterator[Browser]:
    """A browser; ``make test`` installs one where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, names))),
            args=["--no-sandbox", *arguments],
        )
        yield browser
        await browser.close()
