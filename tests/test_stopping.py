"""Stopping does not wait for another program that holds the write lock."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.index_access import written
from tests.processes import Archive

PATIENCE = 30
"""Seconds for a stop; otherwise our writers wait twice as long."""


@pytest.fixture
def archive(tmp_path) -> Archive:
    return Archive(tmp_path)


async def stopped(process: asyncio.subprocess.Process) -> int:
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE):
        return await process.wait()


@asynccontextmanager
async def serving(archive: Archive, **variables: str) -> AsyncIterator[tuple]:
    process, address = await archive.serve(**variables)
    async with aiohttp.ClientSession(address) as session:
        yield process, session


async def save(session: aiohttp.ClientSession, *urls: str) -> int:
    async with session.post("/api/v1/entries", json={"urls": urls}) as answer:
        return answer.status


async def save_slowly(session: aiohttp.ClientSession, received: asyncio.Event, url: str) -> int:
    """Save a URL; ``received`` is set when the service handles the request and has its body."""

    async def body() -> AsyncIterator[bytes]:
        yield json.dumps({"urls": [url]}).encode()
        received.set()

    kind = {"Content-Type": "application/json"}
    async with session.post("/api/v1/entries", data=body(), headers=kind, expect100=True) as answer:
        return answer.status


def segment_bytes(data: Path) -> int:
    return sum(each.stat().st_size for each in data.glob("warc/*"))


async def records_appended(data: Path, before: int) -> None:
    """Wait until the recorder has appended records and needs the write lock of the index."""
    while segment_bytes(data) == before:  # noqa: ASYNC110 - another process changes it
        await asyncio.sleep(0.01)


async def test_a_service_of_two_processes_stops_while_another_program_writes(archive, live):
    pages = [live.article(f"page-{number}") for number in range(4)]
    async with serving(archive, ARCHIVER_CRAWL_PROCESSES="2") as (process, session):
        assert await save(session, *pages[:3]) == 202
        with written(archive.data):
            received = asyncio.Event()
            saving = asyncio.create_task(save_slowly(session, received, pages[3]))
            await received.wait()

            assert await stopped(process) == 0

            assert (await asyncio.gather(saving, return_exceptions=True))[0] != 202

    await archive.run("crawl")
    listed = json.loads(await archive.run("list", "--json", "--all"))
    assert {each["url"]: each["state"] for each in listed} == dict.fromkeys(pages[:3], "saved")


async def test_a_crawl_stops_while_another_program_writes(archive, live):
    pages = [live.article(f"page-{number}") for number in range(15)]
    await archive.queue(pages)
    process = await archive.start("crawl")
    await live.wait_for_request("/page-0")
    with written(archive.data):
        await records_appended(archive.data, segment_bytes(archive.data))
        assert await stopped(process) == 128 + signal.SIGTERM

    await archive.run("crawl")
    listed = json.loads(await archive.run("list", "--json", "--all"))
    assert {each["url"]: each["state"] for each in listed} == dict.fromkeys(pages, "saved")
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]


async def test_reading_commands_do_not_wait_for_another_program(archive, live):
    await archive.queue([live.article("page")])
    with written(archive.data):
        async with asyncio.timeout(PATIENCE):
            listed = json.loads(await archive.run("list", "--json"))

    assert [each["url"] for each in listed] == [live.url("/page")]
