"""Limits that a rendering reached are shown with the page, and stored in its records."""

import json

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.cli import entries
from archiver.config import Settings
from archiver.crawl import browser_rendering
from archiver.model.rendering import Limit, Rendering
from archiver.services.reindex import reindex
from archiver.web.app import build_app

SHELL = '<title>App</title><body><div id="root"></div><script>root.textContent = "App"</script>'
NO_TIME = str(Limit.TIME.sentence)


@pytest.fixture
async def settings(tmp_path, live, monkeypatch):
    """Of an archive with one page, which the browser had no time for."""
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    monkeypatch.setattr(browser_rendering, "PAGE_SECONDS", 0)
    async with open_app(settings) as runtime:
        await runtime.entries.save([live.put("/shell", SHELL)], source="web")
        await runtime.crawling.work()
    return settings


async def test_a_reached_limit_is_shown_on_pages_and_in_the_api(settings, live):
    async with open_app(settings) as runtime:
        detail = await runtime.entries.snapshot(live.url("/shell"))
        key, at = detail.entry.hash_url, detail.snapshot.timestamp
        async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
            pages = [
                await (await client.get(each)).text() for each in (f"/{key}/", f"/{key}/{at}/")
            ]
            told = await (await client.get(f"/api/v1/entries/{key}")).json()

    assert detail.snapshot.rendering is Rendering.NEEDED
    assert [str(each.message) for each in detail.score.reasons] == [NO_TIME]
    for page in pages:
        assert "the browser could not render it" in page
        assert NO_TIME in page
        assert "saved without it" not in page
    assert [each["limits"] for each in told["snapshots"]] == [["time"]]


async def test_a_reached_limit_is_printed_after_a_reindex(settings, live, capsys):
    url = live.url("/shell")
    await reindex(settings)

    await entries._show(settings, url, None, as_json=False)
    await entries._show(settings, url, None, as_json=True)

    rows, _, document = capsys.readouterr().out.partition("{")
    assert f"limit\t{NO_TIME}" in rows.splitlines()
    assert "needs\t" not in rows
    assert [each["limits"] for each in json.loads("{" + document)["snapshots"]] == [["time"]]
