"""A killed process of a browser leaves no process and no file, and its page is rendered again."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from archiver.db import entries
from archiver.http.urls import hash_url
from archiver.model.rendering import Rendering
from archiver.services.fixity import Fixity
from tests.conftest import LiveWeb, live_web
from tests.crawler import Crawl, rendering_crawl

ROOT = Path(__file__).parents[2]

GONE_SECONDS = 20
"""Limit for all processes to exit; usually less than a second is needed."""


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def ended(pids: Iterable[int], *, within: float | None = GONE_SECONDS) -> None:
    """Wait until these processes have exited, including those that are not our children."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(within):
        for pid in pids:
            with suppress(ProcessLookupError):
                watched, has_ended = os.pidfd_open(pid), asyncio.Event()
                loop.add_reader(watched, has_ended.set)
                try:
                    await has_ended.wait()
                finally:
                    loop.remove_reader(watched)
                    os.close(watched)


@pytest.mark.parametrize("victim", ["us", "supervisor", "browser"])
async def test_all_browser_processes_exit_after_a_kill(victim, tmp_path):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.a_browser", str(tmp_path)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    started = json.loads(await process.stdout.readline())
    pids = [pid for pid, _ in started]
    supervisor = next(pid for pid, words in started if "archiver.browser.supervisor" in words)
    browser = next(pid for pid, words in started if "--remote-debugging-pipe" in words)
    assert len(pids) > 4  # zygotes and renderers too

    os.kill(
        {"us": process.pid, "supervisor": supervisor, "browser": browser}[victim], signal.SIGKILL
    )

    if victim == "supervisor":
        await ended(pids)
    else:  # exits last, which may take long on a busy machine
        await ended([supervisor])
        assert [each for each in started if is_alive(each[0])] == []
        assert [*tmp_path.iterdir()] == []
    if victim != "us":
        process.kill()
    await process.communicate()


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
    results = []
    for supervisor in process.children(recursive=True):
        words = command_line_of(supervisor)
        if "archiver.browser.supervisor" in words and str(profiles) in words[-1]:
            results += [supervisor, *supervisor.children(recursive=True)]
    return results


async def survives(victim: str, crawl: Crawl, data: Path) -> Rendering:
    """Kill a process while it renders a page; return the rendering state of the saved page."""
    async with live_web() as live:
        url = put_site(live)
        await crawl.queue(url)
        running = asyncio.create_task(crawl.run())
        await live.wait_for_request("/words")
        processes = browser_processes(psutil.Process(), data)
        kind = KINDS[victim]
        killed = [each for each in processes if kind in command_line_of(each)]
        assert killed
        for each in killed:
            with suppress(psutil.NoSuchProcess):  # exited with the one before
                each.send_signal(signal.SIGKILL)
        await ended(each.pid for each in (processes if victim == "browser" else killed))
        live.closing.set()
        await running
        async with crawl.context.db.read() as conn:
            _, entry = await entries.by_hash(conn, hash_url(url))
        return entry.rendering


async def test_a_page_is_rendered_again_after_its_browser_was_killed(tmp_path):
    data = tmp_path / "data"
    async with rendering_crawl(data) as crawl:
        for victim in KINDS:
            assert await survives(victim, crawl, data) is Rendering.DONE, victim
        remaining = browser_processes(psutil.Process(), data)
        await crawl.context.renderer.stop()

        assert [*(data / "tmp").iterdir()] == []
        assert not any(is_alive(each.pid) for each in remaining)
        assert [each async for each in Fixity(crawl.context.db, crawl.context.store).verify()] == []
