"""A page is rendered in the end if a process is killed while it is rendered."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import psutil
from aiohttp import web

from archiver.db import entries
from archiver.db.engine import Database
from archiver.http.urls import hash_url
from archiver.model.rendering import Rendering
from tests.conftest import LiveWeb, live_web
from tests.crawl.test_browser_cleanup import ended, is_alive
from tests.crawler import rendering_crawl
from tests.processes import Archive

SHELL = """<title>App</title><div id="root"></div>
<script>
fetch('/words').then((a) => a.text()).then((words) => { root.textContent = words; });
</script>
"""
KINDS = {
    "renderer": "--type=renderer",
    "gpu": "--type=gpu-process",
    "browser": "--remote-debugging-pipe",
}


def put_site(live: LiveWeb) -> str:
    """Add a page whose script waits for its text on the first load."""

    async def words(_: web.Request) -> web.Response:
        if live.requests["/words"] == 1:
            await live.closing.wait()
        return web.Response(text="These were shown. " * 20)

    live.add_handler("/words", words)
    return live.put("/shell", SHELL)


def command_line_of(process: psutil.Process) -> list[str]:
    """Return the command line of a process, or [] if it has exited."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def browser_processes(process: psutil.Process, profiles: Path) -> list[psutil.Process]:
    """Return the processes started by the browsers of one archive."""
    found = []
    for supervisor in process.children(recursive=True):
        words = command_line_of(supervisor)
        if "archiver.browser.supervisor" in words and str(profiles) in words[-1]:
            found += [supervisor, *supervisor.children(recursive=True)]
    return found


async def survives(victim: str, data: Path) -> Rendering:
    """Kill a process during a render; return how the page was archived in the end."""
    async with live_web() as live, rendering_crawl(data) as crawl:
        context, url = crawl.context, put_site(live)
        await crawl.queue(url)
        running = asyncio.create_task(crawl.run())
        await live.wait_for_request("/words")
        found = browser_processes(psutil.Process(), data)
        kind = KINDS[victim]
        killed = [each for each in found if kind in command_line_of(each)]
        assert killed
        for each in killed:
            with suppress(psutil.NoSuchProcess):  # exited with the one before
                each.send_signal(signal.SIGKILL)
        await ended(each.pid for each in (found if victim == "browser" else killed))
        live.closing.set()
        await running
        async with context.db.read() as conn:
            _, entry = await entries.by_hash(conn, hash_url(url))
        await context.renderer.stop()
        assert [*(data / "tmp").iterdir()] == []
        assert not any(is_alive(each.pid) for each in found)
        return entry.rendering


async def test_a_page_is_rendered_again_after_its_browser_was_killed(tmp_path):
    archives = {each: Archive(tmp_path / each) for each in KINDS}
    for each in archives.values():  # migrations run one at a time
        each.data.mkdir(parents=True)
        await (await Database.open(each.data / "archive.sqlite3")).close()

    found = await asyncio.gather(*(survives(kind, each.data) for kind, each in archives.items()))

    assert found == [Rendering.DONE] * len(KINDS)
    await asyncio.gather(*(each.run("verify") for each in archives.values()))
