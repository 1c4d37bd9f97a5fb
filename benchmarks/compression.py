"""Prints the size on the wire of important pages, and the cost of compressing them.

Usage: python -m benchmarks.compression [PAGE.html]

An archive of 200 pages, with PAGE.html among them, is served in this process; each URL is
requested in each coding in turn. Milliseconds are CPU time of server and client; compare a coding
with ``identity``. The last lines show what is compressed on the event loop and what in a thread.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from yarl import URL

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.content_coding import gzipped
from archiver.http.urls import hash_url
from archiver.web.app import build_app
from archiver.web.app_keys import STATIC
from archiver.web.responses import INLINE
from tests.warcs import Warc

CODINGS = ("identity", "gzip")
TIMES = 40
PAGES = 200
PAGE = "http://a.example/page"
MOMENT = "20200102030405"
TEXT = "<p>The heron stands in shallow water and waits for fish number {}, {}.</p>"


def row(*cells: str) -> str:
    return f"{cells[0]:22}" + "".join(f"{each:>16}" for each in cells[1:])


def main() -> None:
    page = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else long_page()
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(compare(Path(directory), page))
    inline(page)


def long_page() -> bytes:
    text = "".join(TEXT.format(each, hash_url(str(each))) for each in range(2000))
    return f"<title>Long</title><article>{text}</article>".encode()


def archived(page: bytes) -> bytes:
    warc = Warc()
    warc.response(PAGE, page, "text/html")
    for number in range(PAGES):
        text = "".join(TEXT.format(each, number) for each in range(20))
        body = f"<title>Page {number} of herons</title><article>{text}</article>".encode()
        warc.response(f"http://host{number % 20}.example/{number}", body, "text/html")
    return warc.bytes


async def compare(folder: Path, page: bytes) -> None:
    async with open_app(Settings(data=folder / "data")) as runtime:
        source = folder / "some.warc.gz"
        source.write_bytes(archived(page))
        with source.open("rb") as file:
            await runtime.imports.read_file(file, name=source.name)
        app = build_app(runtime)
        async with TestServer(app) as server, ClientSession(auto_decompress=False) as client:
            print(row("", *(f"{coding} {unit}" for coding in CODINGS for unit in ("bytes", "ms"))))
            for path in (
                "/", "/snapshots", "/snapshots?q=heron", f"/{hash_url(PAGE)}/",
                f"/web/{MOMENT}/{PAGE}", "/api/v1/entries?limit=100",
                "/cdx?url=example&matchType=domain", app[STATIC].url("components.css"),
            ):  # fmt: skip
                url = URL(str(server.make_url("/"))[:-1] + path, encoded=True)
                sizes = [await measure(client, url, coding) for coding in CODINGS]
                print(row(path.split("?")[0][:20], *(each for pair in sizes for each in pair)))


async def measure(client: ClientSession, url: URL, coding: str) -> tuple[str, str]:
    took, size = [], 0
    for _ in range(TIMES):
        began = time.process_time()
        async with client.get(url, headers={"Accept-Encoding": coding}) as answer:
            size = len(await answer.read())
        took.append(time.process_time() - began)
    return f"{size:,}", f"{statistics.median(took) * 1000:.2f}"


def inline(page: bytes) -> None:
    body = (page * (INLINE // len(page) + 1))[:INLINE]
    began = time.thread_time()
    for _ in range(TIMES):
        gzipped(body)
    took = (time.thread_time() - began) / TIMES * 1000
    print(f"{INLINE:,} bytes, the most that is packed on the loop: {took:.2f} ms")


if __name__ == "__main__":
    main()
