"""Killed repeatedly at random times, the archive loses and duplicates nothing."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest

from archiver.app import open_app
from archiver.config import Settings
from tests.conftest import LiveWeb
from tests.index_access import remove_index
from tests.processes import Archive, batch_size_variables

PAGES = 24
MAX_HITS_BEFORE_A_KILL = 8
REPEATED = 20
SLOWLY = {"ARCHIVER_HOST_DELAY": "3600", **batch_size_variables(5)}

HEAD = '<link rel="stylesheet" href="/site.css">'
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


async def test_killed_crawls_and_services_capture_every_url_exactly_once(
    live: LiveWeb, archive: Archive
) -> None:
    """A reindex from the segments restores what the crawls and the user added."""
    live.put("/site.css", "article { color: #123 }", kind="text/css")
    live.put("/dot.png", PNG, kind="image/png")
    image = '<img src="/dot.png" alt="">'
    pages = [live.article(f"essay/{n}", head=HEAD, body=image) for n in range(PAGES)]
    await archive.run("add", *pages[:5], "--tag", "essays", "--tag", "old")
    await archive.queue(pages[5:])
    chance = random.Random(3)
    for command in (("crawl",), ("serve", "--port", "0")):
        process = await archive.start(*command)
        await live.wait_for_more(chance.randint(1, MAX_HITS_BEFORE_A_KILL))
        process.kill()
        await process.wait()
    await archive.run("crawl")

    counts = archive.record_counts()
    before = await archive.listing_and_texts()
    assert sorted(entry["url"] for entry in before[0]) == sorted(pages)
    assert {(entry["state"], entry["snapshot_count"]) for entry in before[0]} == {("saved", 1)}
    assert {url: counts[url] for url in pages} == dict.fromkeys(pages, 1)
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]
    assert await archive.warcio_check() == 0
    assert {tuple(entry["tags"]) for entry in before[0]} == {(), ("essays", "old")}
    remove_index(archive.data)
    await archive.run("reindex")
    assert await archive.listing_and_texts() == before
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]


async def states_of_import(session: aiohttp.ClientSession) -> AsyncIterator[dict[str, object]]:
    """Yield each new state of the first import, until it is read or the service is gone."""
    async with session.get("/api/v1/events?import=1") as stream:
        async for line in stream.content:
            if line.startswith(b'data: {"id"'):
                yield json.loads(line.removeprefix(b"data: "))


async def test_a_repeatedly_killed_import_reports_every_row_exactly_once(
    live: LiveWeb, tmp_path: Path
) -> None:
    for links in (2_000, 16_000):
        (tmp_path / str(links)).mkdir()
        archive = Archive(tmp_path / str(links))
        if await is_killed_while_it_imports(archive, live, links):
            return await assert_every_row_is_accounted_for(archive, links)
    raise AssertionError("It was read before it could be killed so often.")


async def is_killed_while_it_imports(archive: Archive, live: LiveWeb, links: int) -> bool:
    """Kill services that read a file of ``links`` links; return whether it is still unread."""
    rows = [number if number % REPEATED else 0 for number in range(links)]
    text = "\n".join(f"{live.origin}/essay/{number}" for number in rows)
    process, address = await archive.serve(**SLOWLY)
    async with aiohttp.ClientSession(address) as session:
        form = aiohttp.FormData()
        form.add_field("file", BytesIO(text.encode()), filename="links.txt")
        answer = await session.post("/api/v1/imports", data=form)
        assert answer.status == 202
        before = await killed_while_reading(session, process, 0)
    if before >= links:
        return False
    process, address = await archive.serve(**SLOWLY)
    async with aiohttp.ClientSession(address) as session:
        return await killed_while_reading(session, process, before) < links


async def assert_every_row_is_accounted_for(archive: Archive, links: int) -> None:
    async with open_app(Settings(data=archive.data)) as app:
        await app.imports.resume()
        async for status in app.change_stream.one_import(1):
            if not status.reading:
                break
        await app.imports.stop()
        report = json.loads(b"".join([piece async for piece in app.import_reports.json(1)]))

    repeated = links // REPEATED - 1
    counts = [status.read, status.added, status.merged, status.known, status.error]
    assert counts == [links, links - repeated, repeated, 0, ""]
    assert [each["row"] for each in report] == [*range(1, links + 1)]
    outcomes = Counter(each["outcome"] for each in report)
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
