"""Several processes crawl one queue: each page once, without leftovers."""

import asyncio
import json

import psutil

from archiver.app import open_app
from archiver.config import Settings
from archiver.services import background_tasks
from tests.processes import Archive


async def test_two_processes_capture_each_page_once(tmp_path, live):
    archive = Archive(tmp_path)
    await archive.queue([live.article(f"page{n}") for n in range(16)])

    output = await archive.run("crawl", ARCHIVER_CRAWL_PROCESSES="2")

    assert output.split() == ["saved", "16", "failed", "0"]
    listed = json.loads(await archive.run("list", "--all", "--json"))
    assert {each["snapshot_count"] for each in listed} == {1}
    assert all(live.requests[f"/page{n}"] == 1 for n in range(16))
    assert "problems\t0" in await archive.run("verify")
    assert not list((archive.data / "run").glob("*.lock"))


async def other_helper(than=None):
    """Wait for the helper of this process, or for another one."""
    while True:
        for each in psutil.Process().children():
            if each.pid != than and "archiver.cli.worker" in each.cmdline():
                return each.pid
        await asyncio.sleep(0.01)


async def test_a_dead_helper_of_the_service_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(background_tasks, "REST_SECONDS", 0.01)
    settings = Settings(data=tmp_path / "data", crawl_processes=2)
    async with open_app(settings, serve=True):
        first = await other_helper()
        psutil.Process(first).kill()
        second = await other_helper(than=first)
    assert first != second
    assert not psutil.pid_exists(second)
