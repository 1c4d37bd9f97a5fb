"""Without Chromium everything else works, and a note is shown where it matters."""

from contextlib import AsyncExitStack

import pytest

from archiver.app import open_app
from archiver.config import Settings
from tests.web.conftest import client_of

SHELL = '<title>App</title><body><div id="root"></div><script src="/app.js"></script>'
TICK = 'name="render"'


UNSANDBOXED = """#!/bin/sh
case "$*" in --version) echo Chromium 140.0.0.0; exit;; esac
echo "FATAL:zygote_host_impl_linux.cc No usable sandbox!" >&2
exit 1
"""
"""Program that fails like Chromium as root on a machine without namespaces."""


@pytest.fixture
async def open_archives(tmp_path):
    """An archive with this browser."""
    async with AsyncExitStack() as stack:

        def open_with(browser):
            networks = {"allow_networks": "127.0.0.0/8", "host_delay": 0}
            settings = Settings(data=tmp_path / "data", browser=str(browser), **networks)
            return stack.enter_async_context(open_app(settings))

        yield open_with


@pytest.mark.parametrize(
    ("has_one", "why"),
    [(False, "The browser in the settings, /nowhere"), (True, "sandbox cannot start")],
)
async def test_pages_are_saved_without_a_browser_and_the_problem_is_shown(
    open_archives, live, tmp_path, has_one, why
):
    browser = tmp_path / "chromium"
    browser.write_text(UNSANDBOXED)
    browser.chmod(0o755)
    runtime = await open_archives(browser if has_one else "/nowhere")
    url = live.put("/shell", SHELL)
    async with client_of(runtime) as client:
        await runtime.entries.save([url, live.article("whole")], source="web", render=True)
        await runtime.crawling.work()

        health = await (await client.get("/healthz")).text()
        home = await (await client.get("/")).text()
        key = (await runtime.entries.get(url)).entry.hash_url
        entry = await (await client.get(f"/{key}/")).text()

    assert health == "ok\nno browser: pages that need one are saved without it and marked\n"
    assert "needs a browser" in entry
    assert why in entry
    assert TICK not in home + entry
    assert (await runtime.crawling.counts()).open == 0
    assert "whole" in (await runtime.entries.snapshot(live.url("/whole"))).text
