"""Program that opens a page with an endless script in a browser and prints its processes.

Run as ``python -m tests.a_browser DIRECTORY``; it runs until it is killed.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

from archiver.browser.chromium import find_browser
from archiver.browser.page import open_page
from archiver.browser.process import Browser, Launch
from archiver.browser.request_gate import Gate, GateHandlers, make_gate_key
from archiver.config import Settings
from archiver.http.headers import ResponseHead
from tests.canaries import StaticResponse, refuse

PAGE = b"<title>Busy</title><script>setTimeout(() => { while (true); }, 100)</script>"


@asynccontextmanager
async def respond(_: object) -> AsyncIterator[StaticResponse]:
    yield StaticResponse(
        ResponseHead("HTTP/1.1", 200, "OK", (("content-type", "text/html"),)), PAGE
    )


async def main(directory: Path) -> None:
    key = make_gate_key()
    browser = await Browser.start(
        Launch(
            executable=find_browser(Settings()),
            profiles=directory,
            fingerprint=key.fingerprint,
            user_agent="Mozilla/5.0",
            memory_bytes=1 << 30,
        )
    )
    listening, port = await browser.gate_socket()
    gate = asyncio.create_task(Gate(listening, key.tls, GateHandlers(respond, refuse)).serve())
    async with open_page(browser, port) as page:
        await page.navigate("http://site.test/")
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                while True:
                    await page.seconds_unchanged()
        processes = [
            [each.pid, each.cmdline()] for each in psutil.Process().children(recursive=True)
        ]
        sys.stdout.write(json.dumps(processes) + "\n")
        sys.stdout.flush()
        await gate


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
