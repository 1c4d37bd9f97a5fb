"""Where there is no Chromium everything runs as ever, and it is said wherever it matters."""

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.config import Settings
from archiver.runtime import open_runtime
from archiver.web.app import build_app

SHELL = '<title>App</title><body><div id="root"></div><script src="/app.js"></script>'
TICK = 'name="render"'


@pytest.fixture
async def runtime(tmp_path):
    settings = Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, browser="/nowhere"
    )
    async with open_runtime(settings) as runtime:
        yield runtime


async def test_pages_are_kept_and_health_and_the_pages_say_what_is_lacking(runtime, live):
    url = live.put("/shell", SHELL)
    async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
        await runtime.entries.save([url, live.article("whole")], source="web", render=True)
        await runtime.crawling.work()

        health = await (await client.get("/healthz")).text()
        home = await (await client.get("/")).text()
        key = (await runtime.entries.get(url)).entry.hash_url
        entry = await (await client.get(f"/{key}/")).text()

    assert health == "ok\nno browser: pages that need one are kept as they were sent, and marked\n"
    assert "needs a browser" in entry
    assert "ARCHIVER_BROWSER names /nowhere" in entry
    assert TICK not in home + entry
    assert (await runtime.crawling.counts()).open == 0
    assert "whole" in (await runtime.entries.snapshot(live.url("/whole"))).text
