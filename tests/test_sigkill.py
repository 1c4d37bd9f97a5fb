"""Killed repeatedly at random times, the archive loses and duplicates nothing."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.index_access import remove_index
from tests.processes import Archive, batch_size_variables
from tests.single_handler import serve_handler

PAGES = 40
MAX_HITS_BEFORE_A_KILL = 8
REPEATED = 20
KILLS = 3
SLOWLY = {"ARCHIVER_HOST_DELAY": "3600", **batch_size_variables(10)}

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Essay {number}</title>
<link rel="stylesheet" href="/site.css"></head><body><img src="/dot.png" alt="">
<article><h1>Essay {number}</h1>{paragraphs}</article></body></html>"""
SENTENCE = (
    "<p>Essay number {number} says, in its own words, that whoever keeps a page keeps a piece of "
    "the time it was written in, with everything its author knew, hoped for and forgot.</p>"
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


class Site:
    """Serves essays that share one style sheet and one image, and counts requests."""

    def __init__(self) -> None:
        self.origin = ""
        self._hits = 0
        self._hit = asyncio.Condition()

    def urls(self) -> list[str]:
        return [f"{self.origin}/essay/{number}" for number in range(PAGES)]

    async def handle(self, request: web.Request) -> web.Response:
        async with self._hit:
            self._hits += 1
            self._hit.notify_all()
        if request.path == "/site.css":
            return web.Response(text="article { color: #123 }", content_type="text/css")
        if request.path == "/dot.png":
            return web.Response(body=PNG, content_type="image/png")
        if not request.path.startswith("/essay/"):
            raise web.HTTPNotFound
        number = request.path.rpartition("/")[2]
        text = PAGE.format(number=number, paragraphs=SENTENCE.format(number=number) * 6)
        return web.Response(text=text, content_type="text/html")

    async def more_hits(self, count: int) -> None:
        async with self._hit:
            wanted = self._hits + count
            await self._hit.wait_for(lambda: self._hits >= wanted)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    served = Site()
    async with serve_handler(served.handle) as served.origin:
        yield served


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


async def kill_repeatedly(
    site: Site, kills: int, start: Callable[[], Awaitable[asyncio.subprocess.Process]]
) -> None:
    chance = random.Random(kills)
    for _ in range(kills):
        hits = chance.randint(1, MAX_HITS_BEFORE_A_KILL)
        process = await start()
        await site.more_hits(hits)
        process.kill()
        await process.wait()


async def assert_kept_once(archive: Archive, site: Site) -> None:
    listing = json.loads(await archive.run("list", "--json", "--all"))
    pages = site.urls()
    counts = archive.record_counts()

    assert sorted(entry["url"] for entry in listing) == sorted(pages)
    assert {(entry["state"], entry["snapshot_count"]) for entry in listing} == {("saved", 1)}
    assert {url: counts[url] for url in pages} == dict.fromkeys(pages, 1)
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]
    assert await archive.warcio_check() == 0


async def test_a_repeatedly_killed_crawl_captures_every_url_exactly_once(
    site: Site, archive: Archive
) -> None:
    """The segments alone give back what the crawls and the user added."""
    await archive.run("add", *site.urls()[:5], "--tag", "essays", "--tag", "old")
    await archive.queue(site.urls()[5:])

    await kill_repeatedly(site, 3, lambda: archive.start("crawl"))
    await archive.run("crawl")

    await assert_kept_once(archive, site)
    before = await archive.listing_and_texts()
    assert {tuple(entry["tags"]) for entry in before[0]} == {(), ("essays", "old")}
    remove_index(archive.data)
    await archive.run("reindex")
    assert await archive.listing_and_texts() == before
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]


async def test_a_repeatedly_killed_service_captures_every_url_exactly_once(
    site: Site, archive: Archive
) -> None:
    await archive.queue(site.urls())

    await kill_repeatedly(site, 2, lambda: archive.start("serve", "--port", "0"))
    await archive.run("crawl")

    await assert_kept_once(archive, site)


async def states_of_import(session: aiohttp.ClientSession) -> AsyncIterator[dict[str, object]]:
    """Yield each new state of the first import, until it is read or the service is gone."""
    async with session.get("/api/v1/events?import=1") as stream:
        async for line in stream.content:
            if line.startswith(b'data: {"id"'):
                yield json.loads(line.removeprefix(b"data: "))


async def test_a_repeatedly_killed_import_reports_every_row_exactly_once(
    site: Site, tmp_path: Path
) -> None:
    for links in (2_000, 8_000, 32_000):
        (tmp_path / str(links)).mkdir()
        archive = Archive(tmp_path / str(links))
        if await is_killed_while_it_imports(archive, site, links):
            return await assert_every_row_is_accounted_for(archive, links)
    raise AssertionError("It was read before it could be killed so often.")


async def is_killed_while_it_imports(archive: Archive, site: Site, links: int) -> bool:
    """Kill services that read a file of ``links`` links; return whether it is still unread."""
    rows = [number if number % REPEATED else 0 for number in range(links)]
    text = "\n".join(f"{site.origin}/essay/{number}" for number in rows)
    process, address = await archive.serve(**SLOWLY)
    async with aiohttp.ClientSession(address) as session:
        form = aiohttp.FormData()
        form.add_field("file", BytesIO(text.encode()), filename="links.txt")
        taken = await session.post("/api/v1/imports", data=form)
        assert taken.status == 202
        before = await killed_while_reading(session, process, 0)
    for kill in range(1, KILLS):
        if before >= links:
            return False
        process, address = await archive.serve(**SLOWLY)
        async with aiohttp.ClientSession(address) as session:
            least = before if kill % 2 else -1  # the others right after the start
            before = await killed_while_reading(session, process, least)
    return before < links


async def assert_every_row_is_accounted_for(archive: Archive, links: int) -> None:
    process, address = await archive.serve(**SLOWLY)
    async with aiohttp.ClientSession(address) as session:
        async for status in states_of_import(session):
            if not status["reading"]:
                break
        receipt = await (await session.get("/import/1/receipt.json")).json()
        process.kill()
        await process.wait()

    repeated = links // REPEATED - 1
    counts = [status[name] for name in ("read", "added", "merged", "known", "error")]
    assert counts == [links, links - repeated, repeated, 0, ""]
    assert [each["row"] for each in receipt] == [*range(1, links + 1)]
    outcomes = Counter(each["outcome"] for each in receipt)
    assert outcomes == {"added": links - repeated, "merged": repeated}


async def killed_while_reading(
    session: aiohttp.ClientSession, process: asyncio.subprocess.Process, least: int
) -> int:
    """Kill a service once it has read more than ``least`` links; return how many it has read."""
    async for status in states_of_import(session):
        if status["read"] > least:
            break
    process.kill()
    await process.wait()
    return status["read"]
